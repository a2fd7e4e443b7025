// Reads one object of the JSON form. Each key is read by name, and a key that was not read is refused at the end.
import { CalError } from '../errors.ts';
import { literal } from '../lexer.ts';
import { didYouMean } from '../parser/spelling.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';

export class JsonNode {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #asked = new Set<string>();
  /** Number of brackets around this in the text form. */
  readonly depth: number;
  /** For messages. */
  readonly path: string;

  /** Throws E002 if `value` is no object. */
  constructor(value: unknown, path: string, depth = 0) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused(path, 'an object');
    this.#value = value as Readonly<Record<string, unknown>>; // An object's members are unknown.
    this.path = path;
    this.depth = depth;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#value, key);
  }

  /** The member; undefined if absent. Marks the key as read. */
  take(key: string): unknown {
    this.#asked.add(key);
    return this.peek(key);
  }

  /** Like `take`, without marking the key as read. */
  peek(key: string): unknown {
    return this.has(key) ? this.#value[key] : undefined;
  }

  string(key: string): string | undefined {
    const value = this.take(key);
    return value === undefined ? undefined : asString(value, this.at(key));
  }

  /** The member as a string. Throws E002 if absent. */
  required(key: string): string {
    const value = this.string(key);
    if (value === undefined) throw refused(this.at(key), 'a string');
    return value;
  }

  integer(key: string): number | undefined {
    const value = this.take(key);
    return value === undefined ? undefined : asInteger(value, this.at(key));
  }

  boolean(key: string): boolean {
    const value = this.take(key);
    if (value !== undefined && typeof value !== 'boolean') throw refused(this.at(key), 'true or false');
    return value === true;
  }

  /** The member, an object, as a node one bracket deeper; undefined if absent. */
  node(key: string): JsonNode | undefined {
    const value = this.take(key);
    return value === undefined ? undefined : this.inside(value, key);
  }

  /** A node one bracket deeper. Throws E007 if that is too deep. */
  inside(value: unknown, key: string): JsonNode {
    if (this.depth >= CAL_LIMITS.nestingMax)
      throw new CalError('CAL-E007', `${this.at(key)} is nested more than ${CAL_LIMITS.nestingMax} deep`);
    return new JsonNode(value, this.at(key), this.depth + 1);
  }

  /** The elements of a list; empty if absent. */
  list(key: string): readonly unknown[] {
    const value = this.take(key);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw refused(this.at(key), 'a list');
    return value;
  }

  /** Throws E002 for a key that was not read. */
  end(): void {
    for (const key of Object.keys(this.#value)) {
      if (this.#asked.has(key)) continue;
      const suggestion = didYouMean(key, this.#asked);
      throw new CalError('CAL-E002', `unknown key ${JSON.stringify(key.slice(0, 40))} in ${this.path}`, {
        expected: [...this.#asked],
        suggestion,
      });
    }
  }

  at(key: string): string {
    return `${this.path}.${key}`;
  }
}

/** The E002 error for a member that is not `expected`. */
export function refused(path: string, expected: string, valid?: readonly string[]): CalError {
  return new CalError('CAL-E002', `${path} is not ${expected}`, { expected: valid ?? [expected] });
}

export function asString(value: unknown, path: string): string {
  if (typeof value !== 'string') throw refused(path, 'a string');
  return literal(value);
}

export function asInteger(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw refused(path, 'a whole number');
  return asNumber(value, path);
}

/** The number; -0 becomes 0. Throws E006 for an infinite number. */
export function asNumber(value: unknown, path: string): number {
  if (typeof value !== 'number') throw refused(path, 'a number');
  if (!Number.isFinite(value)) throw new CalError('CAL-E006', `${path} is not a finite number`);
  return value === 0 ? 0 : value;
}

/** The element of `words` that equals `value` in lower case. Throws E002 if there is none. */
export function asWord<T extends string>(value: unknown, words: readonly T[], path: string): T {
  const lower = typeof value === 'string' ? value.toLowerCase() : undefined;
  const found = words.find((word) => word === lower);
  if (found !== undefined) return found;
  const suggestion = lower === undefined ? undefined : didYouMean(lower, words);
  throw new CalError('CAL-E002', `${path} is not one of the allowed words`, {
    expected: words,
    suggestion,
  });
}
