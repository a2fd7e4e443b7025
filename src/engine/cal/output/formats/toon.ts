// The TOON format: one table for each type, with comma-separated values.
import { pluralOf, typeOfSingular } from '../../vocabulary/grain-types.ts';
import { attributeName, formOf } from '../forms.ts';
import type { CalGrain } from '../grain.ts';
import { decimal } from '../humanize.ts';
import { type Level, type Project, project } from '../projection.ts';
import { type Element, type Format, type Group, type Manner, type Setting, type Tally, viewOf } from './format.ts';

const NOT_IN_SUMMARIES: ReadonlySet<string> = new Set(['confidence', 'state', 'phase', 'type']);
const FULL_COLUMNS = ['source', 'observed'];

export function toonFormat(setting: Setting): Format {
  const isAssembly = setting.shape === 'assemble';
  return {
    showsUse: isAssembly,
    element(grain, manner) {
      const cells = columnsOf(grain.grainType, setting.level, manner.project).map(cellsOf(grain, manner, setting));
      return `${isAssembly ? '  ' : ''}${cells.join(',')}\n`;
    },
    document(groups, tally) {
      const head = isAssembly ? metadata(setting, tally) : '';
      const tables = tablesOf(groups).map((table) => tableText(table, setting));
      // D-32: no blank line between the tables of an assembly.
      return (head + tables.join(isAssembly ? '' : '\n')).replace(/\n$/, '');
    },
  };
}

function columnsOf(grainType: string, level: Level, parts: Project | undefined): readonly string[] {
  if (parts !== undefined)
    return [...(parts.content.length > 0 ? ['content'] : []), ...parts.attributes.map(attributeName)];
  const { columns } = formOf(grainType);
  if (level === 'summary') return columns.filter((column) => !NOT_IN_SUMMARIES.has(column));
  return level === 'full' ? [...columns, ...FULL_COLUMNS] : columns;
}

/** A function from column to written value. A grain reduced to a summary keeps all columns and leaves some empty. */
function cellsOf(grain: CalGrain, manner: Manner, setting: Setting): (column: string) => string {
  const level = setting.level === 'full' ? 'full' : 'standard';
  const { text, attributes } = project(grain, viewOf(setting, { ...manner, level }));
  const isSqueezed = manner.level === 'summary' && manner.project === undefined;
  return (column) => {
    if (column === 'content') return toonValue(text);
    // A missing value is an empty text (D-33).
    if (isSqueezed && (NOT_IN_SUMMARIES.has(column) || FULL_COLUMNS.includes(column))) return '""';
    return toonValue(attributes.find(({ name }) => name === column)?.value ?? '');
  };
}

interface Table {
  readonly grainType: string;
  readonly project: Project | undefined;
  readonly rows: Element[];
}

/** A table for each type and projection, in the order of first occurrence. */
function tablesOf(groups: readonly Group[]): Table[] {
  const tables: Table[] = [];
  for (const { elements } of groups) {
    for (const element of elements) {
      const { grainType } = element.grain;
      const { project: parts } = element.manner;
      const table = tables.find((one) => one.grainType === grainType && one.project === parts);
      if (table !== undefined) table.rows.push(element);
      else tables.push({ grainType, project: parts, rows: [element] });
    }
  }
  return tables;
}

function tableText({ grainType, project: parts, rows }: Table, { level }: Setting): string {
  const type = typeOfSingular(grainType);
  const plural = type === undefined ? 'grains' : pluralOf(type);
  const head = `${plural}[${rows.length}]{${columnsOf(grainType, level, parts).join(',')}}:\n`;
  return head + rows.map(({ text }) => text ?? '').join('');
}

function metadata({ name, intent }: Setting, tally: Tally | undefined): string {
  let head = '';
  if (name !== undefined) head += `context: ${toonValue(name)}\n`;
  if (intent !== undefined) head += `intent: ${toonValue(intent)}\n`;
  if (tally !== undefined) head += `${tally.unit}: ${tally.used}/${tally.total}\n`;
  return head;
}

// Values that need quotes: those with syntax characters, with blanks at an end, and those that look like words or numbers
// of TOON. Every value is tested, so these are several simple patterns.
const SYNTAX = /[,:"\\[\]{}\n\r\t]/;
const OUTER_BLANK = /^\s|\s$/;
const NUMBER = /^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
const WORDS: ReadonlySet<string> = new Set(['', 'true', 'false', 'null']);
// TOON can escape only three control characters.
const UNUSUAL = /[^ -~]/;
const OTHER_CONTROLS = /[[\p{Cc}\u2028\u2029]--[\n\r\t]]+/gv;
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** A value of a TOON row, on one line. Quoted if a reader would take it for something else. */
export function toonValue(value: string | number): string {
  if (typeof value === 'number') return Number.isFinite(value) ? decimal(value) : 'null';
  const text = UNUSUAL.test(value) ? value.toWellFormed().replace(OTHER_CONTROLS, ' ') : value;
  if (SYNTAX.test(text)) return `"${text.replace(/[\\"\n\r\t]/g, (found) => ESCAPES[found]!)}"`;
  const isRead = WORDS.has(text.toLowerCase()) || text.startsWith('-') || OUTER_BLANK.test(text) || NUMBER.test(text);
  return isRead ? `"${text}"` : text;
}
