// Light or dark: as the system has it, unless the reader chose one in this browser.
import { computed, effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const STORED = 'granary-theme';

export const theme = signal<Theme>(storedTheme());

const dark = matchMedia('(prefers-color-scheme: dark)');
const isSystemDark = signal(dark.matches);
dark.addEventListener('change', ({ matches }) => {
  isSystemDark.value = matches;
});

/** The theme that is shown: what is drawn with colours of its own is drawn again when it changes. */
export const shade = computed(() => {
  if (theme.value !== 'system') return theme.value;
  return isSystemDark.value ? 'dark' : 'light';
});

/** Storage may be forbidden. */
function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(STORED);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system';
  }
}

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  try {
    if (theme.value === 'system') localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, theme.value);
  } catch {
    // The choice holds until the page is left.
  }
});
