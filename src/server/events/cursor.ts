// The place of a reader in a memory's events: for each partition, the number of the last event before it. As text it is
// these numbers, joined by dots. A bound caller gets it sealed, since the numbers would tell how much others change.
import { EngineError } from '../../engine/base/errors.ts';
import type { CursorSeal } from '../operations/cursor-seal.ts';

export type EventCursor = readonly number[];

/** Digits that a JSON number holds exactly. */
const NUMBERS = /^\d{1,15}(?:\.\d{1,15})*$/;

/** How the cursors of one memory and one kind of caller are written. */
export interface CursorForm {
  readonly memory: number;
  readonly partitions: number;
  /** Set for a bound caller. */
  readonly seal: CursorSeal | undefined;
}

export function cursorText(cursor: EventCursor, { memory, seal }: CursorForm): string {
  const text = cursor.join('.');
  return seal === undefined ? text : seal.writeText(text, scopeOf(memory));
}

/** The later of the cursor `text` and `seen`, partition by partition. */
export function laterText(text: string, seen: EventCursor, form: CursorForm): string {
  const cursor = readCursor(text, 'id', form);
  return cursorText(
    cursor.map((number, partition) => Math.max(number, seen[partition]!)),
    form,
  );
}

/** In JSON, the cursor of a memory with one partition is a number. */
export function cursorJson(cursor: EventCursor, form: CursorForm): string | number {
  const [only] = cursor;
  return form.seal === undefined && cursor.length === 1 && only !== undefined ? only : cursorText(cursor, form);
}

/** Reads a cursor; `0` is the beginning for every caller. Throws VAL-E001, which names `field`. */
export function readCursor(text: string, field: string, { memory, partitions, seal }: CursorForm): EventCursor {
  if (text === '0') return new Array<number>(partitions).fill(0);
  const numbers = seal === undefined ? text : openText(text, field, memory, seal);
  if (!NUMBERS.test(numbers)) throw refusal(field, 'not a cursor of this service');
  const cursor = numbers.split('.').map(Number);
  if (cursor.length !== partitions)
    throw refusal(
      field,
      `a cursor of this memory is ${partitions === 1 ? 'one number' : `${partitions} numbers, joined by dots`}`,
    );
  return cursor;
}

function openText(text: string, field: string, memory: number, seal: CursorSeal): string {
  const opened = seal.readText(text, scopeOf(memory));
  if (opened === undefined) throw refusal(field, 'not a cursor of this memory for a bound caller');
  return opened;
}

function scopeOf(memory: number): string {
  return `events of memory ${memory}`;
}

function refusal(field: string, issue: string): EngineError {
  return new EngineError('VAL-E001', `bad \`${field}\`: ${issue}`, { details: [{ field, issue }] });
}
