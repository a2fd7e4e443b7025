// Icons of the navigation and of buttons, 16 by 16, drawn in the colour of the text.
const PATHS = {
  overview: 'M2 2h5v6H2zM9 2h5v3H9zM9 7h5v7H9zM2 10h5v4H2z',
  memories:
    'M8 1.5c3.6 0 6 1 6 2.5s-2.4 2.5-6 2.5S2 5.500 2 4s2.400-2.500 6-2.500zM2 4v4c0 1.500 2.400 2.500 6 2.500s6-1 6-2.500V4M2 8v4c0 1.500 2.400 2.500 6 2.500s6-1 6-2.500V8',
  grains: 'M2 3.500h12M2 8h12M2 12.500h12',
  recall: 'M7 2a5 5 0 1 0 0 10A5 5 0 0 0 7 2zM10.700 10.700 14.500 14.500',
  sessions: 'M2 3h12v8H7l-3.500 3V11H2z',
  goals:
    'M8 1.500a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13zM8 4.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM8 7.500v1',
  graph:
    'M4 4l8 2M4 4l3 8M12 6l-5 6M4 2.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3zM12 4.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3zM7 10.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3z',
  cal: 'M5 4 1.500 8 5 12M11 4l3.500 4L11 12M9.200 2.500 6.800 13.500',
  people: 'M8 2a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM2.500 14c0-3 2.300-4.500 5.500-4.500s5.500 1.500 5.500 4.500',
  policy: 'M8 1.500 13.500 4v4c0 3.500-2.300 5.500-5.500 6.500C4.800 13.500 2.500 11.500 2.500 8V4z',
  compliance: 'M3 2h10v12H3zM5.500 8l1.800 1.800L10.800 6',
  audit: 'M3 1.500h7L13 4.500v10H3zM5.500 7h5M5.500 9.500h5M5.500 12h3',
  keys: 'M5 6a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM7.500 7.500 14 1.500M11 4.500l2 2',
  metrics: 'M1.500 14V2M1.500 14H14.500M4 11l3-4 2.500 2L14 3.500',
  close: 'M3.500 3.500l9 9M12.500 3.500l-9 9',
  menu: 'M2 4h12M2 8h12M2 12h12',
  light:
    'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v1.500M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1',
  dark: 'M13.500 9.500A6 6 0 0 1 6.500 2.500a6 6 0 1 0 7 7z',
  system: 'M2 3h12v8H2zM5.500 14h5M8 11v3',
  leave: 'M6 2H2.500v12H6M6.500 8H14M11 5l3 3-3 3',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3',
  down: 'M3.500 6 8 10.500 12.500 6',
  again: 'M13.500 8A5.500 5.500 0 1 1 11.500 3.700M11.500 1v3h-3',
} as const;

export type IconName = keyof typeof PATHS;

/** An icon says nothing by itself: the text beside it, or the label of its button, does. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
