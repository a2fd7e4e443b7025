// How grains look wherever they are shown: their type, time and hash.
import type { GrainType, Output } from 'granary-client';

export type Grain = Output<'get'>;

/** The type of a grain, as a coloured word. */
export function TypeName({ type }: { readonly type: GrainType | string }) {
  return (
    <span class="type" data-type={type}>
      {type}
    </span>
  );
}

/** The first digits of a hash; the whole one as its title. */
export function HashText({ hash }: { readonly hash: string }) {
  return (
    <code class="hash" title={hash}>
      {hash.slice(0, 12)}
    </code>
  );
}

const DAY_MS = 86_400_000;

const SHORT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const LONG = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** A time, short; the exact one as its title. */
export function Time({ at }: { readonly at: Date }) {
  const isRecent = Math.abs(Date.now() - at.getTime()) < 300 * DAY_MS;
  return (
    <time dateTime={isoOf(at)} title={textOf(EXACT, at)}>
      {textOf(isRecent ? SHORT : LONG, at)}
    </time>
  );
}

/** A time, to the second. */
export function ExactTime({ at }: { readonly at: Date }) {
  return <time dateTime={isoOf(at)}>{textOf(EXACT, at)}</time>;
}

/** A time beyond those that a date can hold is not shown: one such field must not take the page away. */
function textOf(format: Intl.DateTimeFormat, at: Date): string {
  return Number.isNaN(at.getTime()) ? '–' : format.format(at);
}

function isoOf(at: Date): string {
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

export function count(number: number): string {
  return number.toLocaleString('en');
}

/** A number with its noun: `1 grain`, `1,200 entries`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}

/** A type that is missing here does not compile. */
const EVERY_TYPE: Readonly<Record<GrainType, true>> = {
  belief: true,
  event: true,
  state: true,
  workflow: true,
  action: true,
  observation: true,
  goal: true,
  reasoning: true,
  consensus: true,
  consent: true,
};

/** Every type of grain, as the filters list them. */
export const GRAIN_TYPES: readonly string[] = Object.keys(EVERY_TYPE);
