// A report as one HTML file: no script, no request, and a layout for the screen and for A4 or Letter paper.
import type { ReportData } from '../../operations/subject-requests/schema.ts';
import { type Block, reportDocument } from './document.ts';
import { visible } from './plain.ts';
import type { ReportLanguage } from './texts.ts';

const STYLE = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 48rem; background: #fff; color: #1a1a1a;
  font: 15px/1.5 "Helvetica Neue", Arial, "Noto Sans", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
header { border-bottom: 2px solid #1a1a1a; padding-bottom: .75rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0; }
header p { margin: .25rem 0 0; color: #444; }
h2 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; break-after: avoid; }
p { margin: .5rem 0; }
.note { color: #555; font-size: .9em; break-after: avoid; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; }
th, td { text-align: start; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid #d5d5d5; }
thead th { border-bottom: 1px solid #1a1a1a; font-size: .85em; }
tr { break-inside: avoid; }
.pairs th { width: 30%; font-weight: normal; color: #555; }
.pairs td { white-space: pre-line; }
.number:not(:last-child) { padding-inline-end: 2rem; }
.number { text-align: end; font-variant-numeric: tabular-nums; }
.total td { font-weight: bold; border-bottom: none; }
.code, pre { font: .8em/1.45 "DejaVu Sans Mono", Consolas, monospace; }
pre { white-space: pre-wrap; background: #f4f4f4; padding: .75rem; margin: .5rem 0; }
@page { size: auto; margin: 18mm 16mm 20mm; @bottom-right { content: counter(page) " / " counter(pages); font: 8pt Arial, sans-serif; color: #555; } }
@media print {
  body { padding: 0; max-width: none; font-size: 10pt; }
  h1 { font-size: 17pt; }
  h2 { font-size: 12pt; }
  pre { background: none; border: 1px solid #d5d5d5; }
}`;

/** The file's text. Every value is escaped, and stands isolated so that its direction does not turn its surroundings. */
export function reportHtml(data: ReportData, language: ReportLanguage): string {
  const { title, subtitle, madeAt, blocks } = reportDocument(data, language);
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(`${title}: ${subtitle}`)}</title>
<style>${STYLE}
</style>
</head>
<body>
<header>
<h1>${escaped(title)}</h1>
<p>${escaped(subtitle)}</p>
<p>${escaped(madeAt)}</p>
</header>
<main>
${blocks.map(blockHtml).join('\n')}
</main>
</body>
</html>
`;
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h2>${escaped(block.text)}</h2>`;
    case 'paragraph':
      return `<p${block.isNote === true ? ' class="note"' : ''}>${isolated(block.text)}</p>`;
    case 'code':
      return `<pre dir="ltr">${escaped(block.text)}</pre>`;
    case 'pairs':
      return `<table class="pairs"><tbody>
${block.rows.map(([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${isolated(value)}</td></tr>`).join('\n')}
</tbody></table>`;
    case 'table':
      return tableHtml(block);
  }
}

function tableHtml({ columns, rows, hasTotal }: Extract<Block, { readonly kind: 'table' }>): string {
  const classes = columns.map(({ isNumber, isCode }) =>
    isNumber === true ? ' class="number"' : isCode === true ? ' class="code"' : '',
  );
  const head = columns.map(
    ({ title }, at) => `<th scope="col"${classes[at] === ' class="number"' ? classes[at] : ''}>${escaped(title)}</th>`,
  );
  const body = rows.map((row, at) => {
    const cells = row.map((cell, column) => `<td${classes[column] ?? ''}>${isolated(cell)}</td>`);
    return `<tr${hasTotal === true && at === rows.length - 1 ? ' class="total"' : ''}>${cells.join('')}</tr>`;
  });
  return `<table><thead><tr>${head.join('')}</tr></thead><tbody>
${body.join('\n')}
</tbody></table>`;
}

function isolated(text: string): string {
  return `<bdi>${escaped(text)}</bdi>`;
}

function escaped(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
