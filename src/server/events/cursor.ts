// The place of a reader in a memory's events: for each partition, the number of the last event before it. As text it is
// these numbers, joined by dots; once the deployment was restored from a backup, the epoch of the numbers and a hyphen
// stand before them. A bound caller gets it sealed, since the numbers would tell how much others change.
import { EngineError } from '../../engine/base/errors.ts';
import type { CursorSeal } from '../operations/cursor-seal.ts';
import { EPOCH, epochOf, type Restore } from './restores.ts';

export type EventCursor = readonly number[];

/** Digits that a JSON number holds exactly. */
const NUMBERS = /^\d{1,15}(?:\.\d{1,15})*$/;

/** A cursor as a client sent it. */
export interface AskedCursor {
  /** Empty: from before the first restore. */
  readonly epoch: string;
  readonly numbers: EventCursor;
}

/** How the cursors of one memory and one kind of caller are written. */
export interface CursorForm {
  readonly memory: number;
  readonly partitions: number;
  /** Set for a bound caller. */
  readonly seal: CursorSeal | undefined;
  /** The restores of the deployment, oldest first. */
  readonly restores: readonly Restore[];
}

export function cursorText(cursor: EventCursor, { memory, seal, restores }: CursorForm): string {
  const epoch = epochOf(restores);
  const text = epoch === '' ? cursor.join('.') : `${epoch}-${cursor.join('.')}`;
  return seal === undefined ? text : seal.writeText(text, scopeOf(memory));
}

/** The later of the cursor `text` and `seen`, partition by partition. */
export function laterText(text: string, seen: EventCursor, form: CursorForm): string {
  const { numbers } = readCursor(text, 'id', form);
  return cursorText(
    numbers.map((number, partition) => Math.max(number, seen[partition]!)),
    form,
  );
}

/** In JSON, a cursor that is a number. */
export function cursorJson(cursor: EventCursor, form: CursorForm): string | number {
  return jsonOfText(cursorText(cursor, form));
}

/** The same for a cursor's text. */
export function jsonOfText(text: string): string | number {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** Reads a cursor; `0` is the beginning for every caller. Throws VAL-E001, which names `field`. */
export function readCursor(text: string, field: string, form: CursorForm): AskedCursor {
  const { memory, partitions, seal, restores } = form;
  if (text === '0') return { epoch: epochOf(restores), numbers: new Array<number>(partitions).fill(0) };
  const opened = seal === undefined ? text : openText(text, field, memory, seal);
  const hyphen = opened.indexOf('-');
  const epoch = opened.slice(0, Math.max(hyphen, 0));
  const digits = opened.slice(hyphen + 1);
  if ((hyphen >= 0 && !EPOCH.test(epoch)) || !NUMBERS.test(digits))
    throw refusal(field, 'not a cursor of this service');
  const numbers = digits.split('.').map(Number);
  if (numbers.length !== partitions)
    throw refusal(
      field,
      `a cursor of this memory is ${partitions === 1 ? 'one number' : `${partitions} numbers, joined by dots`}`,
    );
  return { epoch, numbers };
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
