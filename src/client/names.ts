// Values between the client and the wire: camelCase becomes snake_case, a Date becomes seconds, and back. A grain's own
// fields and other open data keep their names; only dates in them are sent as seconds.
import { KINDS } from './gen/operations.ts';

type Kind = (typeof KINDS)[string];

/** Where a value stands: the operation with `<` (input) or `>` (output), and the member that holds it. */
interface Place {
  readonly root: string;
  readonly parent: string;
}

export function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toCamel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function kindOf({ root, parent }: Place, name: string): Kind {
  for (const key of [`${root}${parent}.${name}`, `${parent}.${name}`, name])
    if (Object.hasOwn(KINDS, key)) return KINDS[key]!;
  return 'plain';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function seconds(date: Date): number {
  const ms = date.getTime();
  if (Number.isNaN(ms)) throw new TypeError('invalid date');
  return Math.floor(ms / 1000);
}

/** The input of an operation under the names of the wire. */
export function toWire(operation: string, input: object): Record<string, unknown> {
  return outward(input, { root: `${operation}<`, parent: '' }) as Record<string, unknown>; // an object stays one
}

/** The answer of an operation under the names of the client. */
export function fromWire(operation: string, answer: unknown): unknown {
  return inward(answer, { root: `${operation}>`, parent: '' });
}

function outward(value: unknown, place: Place): unknown {
  if (value instanceof Date) return seconds(value);
  if (Array.isArray(value)) return value.map((item) => outward(item, place));
  if (!isObject(value)) return value;
  return mapped(value, toSnake, (name, member) => {
    const wire = toSnake(name);
    const kind = kindOf(place, wire);
    const within = { ...place, parent: wire };
    if (kind === 'open') return dated(member);
    if (kind === 'record' && isObject(member))
      return mapped(
        member,
        (key) => key,
        (_, one) => outward(one, within),
      );
    return outward(member, within);
  });
}

/** Open data with its dates as seconds. */
export function dated(value: unknown): unknown {
  if (value instanceof Date) return seconds(value);
  if (Array.isArray(value)) return value.map(dated);
  return isObject(value)
    ? mapped(
        value,
        (name) => name,
        (_, member) => dated(member),
      )
    : value;
}

function inward(value: unknown, place: Place): unknown {
  if (Array.isArray(value)) return value.map((item) => inward(item, place));
  if (!isObject(value)) return value;
  return mapped(value, toCamel, (name, member) => {
    const kind = kindOf(place, name);
    const within = { ...place, parent: name };
    if (kind === 'open') return member;
    if (kind === 'time' && typeof member === 'number') return new Date(member * 1000);
    if (kind === 'record' && isObject(member))
      return mapped(
        member,
        (key) => key,
        (_, one) => inward(one, within),
      );
    return inward(member, within);
  });
}

/** A new object; fromEntries makes an own member of every name, `__proto__` included. */
function mapped(
  value: Readonly<Record<string, unknown>>,
  rename: (name: string) => string,
  change: (name: string, member: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [rename(name), change(name, member)]),
  );
}
