// The picture of a comparison: a panel for each figure, a group of bars for each store, a bar for each size.

/** Bars by store: the same sizes in each, ascending. */
export interface Panel {
  readonly title: string;
  /** Missing where a store was not measured. */
  readonly bars: readonly { readonly label: string; readonly values: readonly (number | undefined)[] }[];
}

const LABEL_WIDTH = 215;
const BAR_WIDTH = 340;
const VALUE_WIDTH = 80;
const BAR_HEIGHT = 11;
const GROUP_GAP = 9;
const HEAD_HEIGHT = 34;
const MARGIN = 16;
const LEGEND_HEIGHT = 24;

/** A page for light and dark backgrounds. Bars are logarithmic: stores differ by orders of magnitude. */
export function pictureOf(panels: readonly Panel[], sizes: readonly string[]): string {
  const parts: string[] = [];
  let y = MARGIN;
  for (const [i, size] of sizes.entries())
    parts.push(
      `<rect class="size${i}" x="${LABEL_WIDTH + i * 140}" y="${y}" width="${BAR_HEIGHT}" height="${BAR_HEIGHT}"/>`,
      text(LABEL_WIDTH + i * 140 + BAR_HEIGHT + 6, y + BAR_HEIGHT - 1, size),
    );
  parts.push(text(LABEL_WIDTH + sizes.length * 140, y + BAR_HEIGHT - 1, 'logarithmic scale'));
  y += LEGEND_HEIGHT;
  for (const { title, bars } of panels) {
    parts.push(text(0, y + 16, title, 'title'));
    y += HEAD_HEIGHT;
    const all = bars.flatMap(({ values }) => values).filter((value) => value !== undefined);
    const [low, high] = [Math.min(...all) / 2, Math.max(...all)];
    for (const { label, values } of bars) {
      const height = values.length * BAR_HEIGHT;
      parts.push(text(LABEL_WIDTH - 8, y + height / 2 + 4, label, 'label'));
      for (const [i, value] of values.entries()) {
        if (value === undefined) continue;
        const width = high === low ? BAR_WIDTH : (BAR_WIDTH * Math.log(value / low)) / Math.log(high / low);
        const top = y + i * BAR_HEIGHT;
        parts.push(
          `<rect class="size${i}" x="${LABEL_WIDTH}" y="${top}" width="${width.toFixed(1)}" height="${BAR_HEIGHT - 2}"/>`,
          text(LABEL_WIDTH + width + 6, top + BAR_HEIGHT - 2, shown(value)),
        );
      }
      y += height + GROUP_GAP;
    }
    y += GROUP_GAP;
  }
  const width = LABEL_WIDTH + BAR_WIDTH + VALUE_WIDTH;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" role="img" aria-labelledby="title">`,
    `<title id="title">${panels.map(({ title }) => title).join('; ')}</title>`,
    '<style>',
    'text { font: 12px system-ui, sans-serif; fill: #1f2328 } .title { font-weight: 600 } .label { text-anchor: end }',
    '.size0 { fill: #2f6fdb } .size1 { fill: #8cb4f5 }',
    '@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .size0 { fill: #79a8ff } .size1 { fill: #3b5d9b } }',
    '</style>',
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function text(x: number, y: number, content: string, kind?: string): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text${kind === undefined ? '' : ` class="${kind}"`} x="${x.toFixed(1)}" y="${y.toFixed(1)}">${escaped}</text>`;
}

/** Three digits. */
export function shown(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en');
}
