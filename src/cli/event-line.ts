// One event as a line for a terminal.
import { type JsonObject, objectOf } from '../engine/grain/api/json-value.ts';
import { clipped, counted, utc } from './output.ts';

/** Terminals of fewer columns get times without the year and shorter hashes. */
const WIDE = 100;
const KIND_WIDTH = 20;
const WORDS_MIN = 12;

/** At most `columns` wide, or a little more in a very narrow terminal. */
export function eventLine(event: JsonObject, columns: number): string {
  const text = (name: string): string => String(event[name] ?? '');
  const isWide = columns >= WIDE;
  const at = utc(Math.floor(Number(event['timestamp_ms']) / 1000)).slice(isWide ? 0 : '2026-'.length);
  const number = event['partition'] === undefined ? text('sequence') : `${text('partition')}:${text('sequence')}`;
  const hash = text('hash')
    .slice(0, isWide ? 12 : 8)
    .padEnd(isWide ? 12 : 8);
  const head = `${at}  ${number.padStart(isWide ? 7 : 5)}  ${text('event_type').padEnd(KIND_WIDTH)}  ${hash}`;
  return `${head}  ${clipped(wordsOf(event), Math.max(WORDS_MIN, columns - head.length - 2))}`.trimEnd();
}

function wordsOf(event: JsonObject): string {
  const said = ['subject', 'relation', 'object'].flatMap((name) => event[name] ?? []).map(String);
  const words = said.length > 0 ? [said.join(' ')] : [event['grain_type']].flatMap((type) => type ?? []).map(String);
  const { from, to, ...details } = objectOf(event['details']);
  if (from !== undefined || to !== undefined) words.push(`${String(from ?? '')} → ${String(to ?? '')}`);
  if (event['user_id'] !== undefined) words.push(`user ${String(event['user_id'])}`);
  if (event['count'] !== undefined) words.push(counted(Number(event['count']), 'grain'));
  for (const [name, value] of Object.entries(details)) words.push(`${name} ${String(value)}`);
  return words.join(', ');
}
