// Dates of spreadsheets: numbers whose cell style shows them as dates.
import type { DocumentLimits } from '../limits.ts';
import { attribute, readXml, type XmlAttributes } from './xml.ts';

/** Built-in formats that show dates or times. */
const BUILT_IN = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47]);
const DAY_MS = 86_400_000;
/** Day 0. Days before March 1900 are off by one, as in every spreadsheet. */
const DAY_0_MS = Date.UTC(1899, 11, 30);
const DAY_0_1904_MS = Date.UTC(1904, 0, 1);

/** The cell styles that show dates. */
export function dateFormats(styles: Uint8Array | undefined, limits: DocumentLimits): Set<number> {
  const own = new Set<number>();
  const found = new Set<number>();
  let isCells = false;
  let style = 0;
  const open = (name: string, attributes: XmlAttributes): void => {
    if (name === 'numFmt') {
      if (showsDate(attribute(attributes, 'formatCode') ?? '')) own.add(Number(attribute(attributes, 'numFmtId')));
    } else if (name === 'cellXfs') isCells = true;
    else if (name === 'xf' && isCells) {
      const format = Number(attribute(attributes, 'numFmtId'));
      if (BUILT_IN.has(format) || own.has(format)) found.add(style);
      style += 1;
    }
  };
  const close = (name: string): void => {
    if (name === 'cellXfs') isCells = false;
  };
  readXml(styles, { open, close }, limits);
  return found;
}

/** True for a format with days, months or years outside of quoted text and colours. */
function showsDate(format: string): boolean {
  const bare = format.replace(/"[^"]*"|\[[^\]]*\]|\\.|_.|\*./g, '');
  return /[dy]|m{3,}|h{1,2}:/i.test(bare) && !/[#0?]/.test(bare.replace(/\.0+/g, ''));
}

/** The day, with its time unless that is midnight. */
export function dateOf(value: string, from1904: boolean): string {
  const days = Number(value);
  if (value === '' || !Number.isFinite(days) || Math.abs(days) > 3_000_000) return value;
  const date = new Date((from1904 ? DAY_0_1904_MS : DAY_0_MS) + Math.round(days * DAY_MS));
  const text = date.toISOString();
  if (days >= 0 && days < 1) return text.slice(11, 16);
  return Number.isInteger(days) ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`;
}
