// Kinds of rule values, and their order of strictness. A kind has a loosest value and a way to join two values that is
// never looser than either: the larger one of a total order, or the join of a lattice.
import { POLICY_FACT_CHARS_MAX, POLICY_LIST_MAX, POLICY_TEXT_CHARS_MAX } from '../../base/limits.ts';

export type PolicyValue =
  | null
  | boolean
  | number
  | string
  | readonly PolicyValue[]
  | { readonly [key: string]: PolicyValue };

/** The relation of `to` to `from`; `mixed`: tighter in one respect, looser in another. */
export type Direction = 'same' | 'tighter' | 'looser' | 'mixed' | 'neutral';

export interface Kind {
  /** The problem with a value from outside; undefined when it is valid. */
  readonly problem: (value: PolicyValue) => string | undefined;
  /** The stricter of two values, or one that is at least as strict as both; undefined: they cannot be joined. */
  readonly join: (a: PolicyValue, b: PolicyValue) => PolicyValue | undefined;
  readonly direction: (from: PolicyValue, to: PolicyValue) => Direction;
}

const SECONDS_MAX = 9_999_999_999;

function same(a: PolicyValue, b: PolicyValue): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** A kind with a total order: `rank` grows with strictness. */
function ordered(rank: (value: PolicyValue) => number, problem: Kind['problem']): Kind {
  return {
    problem,
    join: (a, b) => (rank(b) > rank(a) ? b : a),
    direction: (from, to) => {
      const [before, after] = [rank(from), rank(to)];
      return before === after ? 'same' : after > before ? 'tighter' : 'looser';
    },
  };
}

/** One of these words. Later words are stricter. */
export function oneOf(...words: readonly string[]): Kind {
  return ordered(
    (value) => words.indexOf(String(value)),
    (value) => (typeof value === 'string' && words.includes(value) ? undefined : `is none of ${words.join(', ')}`),
  );
}

const isBoolean = (value: PolicyValue): string | undefined =>
  typeof value === 'boolean' ? undefined : 'is not true or false';

/** A boolean for which true is stricter. */
export const demand: Kind = ordered((value) => Number(value === true), isBoolean);
/** A boolean for which false is stricter. */
export const permission: Kind = ordered((value) => Number(value === false), isBoolean);
/** A permission that has a meaning only together with another rule: null is unset, and true is looser than false. */
export const exemption: Kind = ordered(
  (value) => (value === null ? 0 : value === true ? 1 : 2),
  (value) => (value === null ? undefined : isBoolean(value)),
);

const count = (value: PolicyValue): string | undefined =>
  value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= SECONDS_MAX)
    ? undefined
    : 'is not a positive integer or null';

/** A time to live or a cap: smaller is stricter, null is none. */
export const atMost: Kind = ordered((value) => (typeof value === 'number' ? -value : Number.NEGATIVE_INFINITY), count);
/** A minimum: larger is stricter, null is none. */
export const atLeast: Kind = ordered((value) => (typeof value === 'number' ? value : 0), count);

const texts = (value: PolicyValue): string | undefined => {
  if (!Array.isArray(value)) return 'is not a list of strings';
  if (value.length > POLICY_LIST_MAX) return `holds more than ${POLICY_LIST_MAX}`;
  return value.every((item) => typeof item === 'string' && item !== '' && item.length <= POLICY_TEXT_CHARS_MAX)
    ? undefined
    : `holds a member that is not a string of 1 to ${POLICY_TEXT_CHARS_MAX} characters`;
};

const itemsOf = (value: PolicyValue): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
const union = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])].sort();
const covers = (whole: readonly string[], part: readonly string[]): boolean =>
  part.every((item) => whole.includes(item));

function bySize(more: boolean, less: boolean): Direction {
  return more && less ? 'same' : more ? 'tighter' : less ? 'looser' : 'mixed';
}

/** A list of forbidden, protected or matched items: more is stricter. `allowed`: the permitted words. */
export function more(allowed?: readonly string[]): Kind {
  return {
    problem: (value) =>
      texts(value) ??
      (allowed === undefined || covers(allowed, itemsOf(value)) ? undefined : `may only contain ${allowed.join(', ')}`),
    join: (a, b) => union(itemsOf(a), itemsOf(b)),
    direction: (from, to) => bySize(covers(itemsOf(to), itemsOf(from)), covers(itemsOf(from), itemsOf(to))),
  };
}

/** Categories that count: a list of these words, or `*` for all, which is the strictest. */
export function categories(allowed: readonly string[]): Kind {
  const list = more(allowed);
  const all = (value: PolicyValue): PolicyValue => (value === '*' ? [...allowed].sort() : value);
  return {
    problem: (value) => (value === '*' ? undefined : list.problem(value)),
    join: (a, b) => (a === '*' || b === '*' ? '*' : list.join(a, b)),
    direction: (from, to) => list.direction(all(from), all(to)),
  };
}

/**
 * Places where data may be: fewer is stricter, and an empty list permits any. Lists without a common member cannot be
 * joined.
 */
export const places: Kind = {
  problem: texts,
  join: (a, b) => {
    const [first, second] = [itemsOf(a), itemsOf(b)];
    if (first.length === 0) return [...second].sort();
    if (second.length === 0) return [...first].sort();
    const common = first.filter((item) => second.includes(item)).sort();
    return common.length === 0 ? undefined : common;
  },
  direction: (from, to) => {
    const [first, second] = [itemsOf(from), itemsOf(to)];
    const narrower = first.length === 0 || (second.length > 0 && covers(first, second));
    const wider = second.length === 0 || (first.length > 0 && covers(second, first));
    return bySize(narrower, wider);
  },
};

const entriesOf = (value: PolicyValue): readonly (readonly [string, PolicyValue])[] =>
  isObject(value) ? Object.entries(value) : [];

/** A limit for each name: smaller is stricter, and a name without an entry has no limit. */
export const atMostByName: Kind = {
  problem: (value) => {
    if (!isObject(value)) return 'is not an object of integers';
    const entries = Object.entries(value);
    if (entries.length > POLICY_LIST_MAX) return `holds more than ${POLICY_LIST_MAX}`;
    const bad = entries.find(
      ([name, days]) => name.length > POLICY_TEXT_CHARS_MAX || days === null || count(days) !== undefined,
    );
    return bad === undefined ? undefined : `${bad[0].slice(0, POLICY_TEXT_CHARS_MAX)} is not a positive integer`;
  },
  join: (a, b) => {
    const joined = new Map(entriesOf(a));
    for (const [name, days] of entriesOf(b)) joined.set(name, atMost.join(joined.get(name) ?? null, days) ?? null);
    return Object.fromEntries([...joined].sort(([x], [y]) => (x < y ? -1 : 1)));
  },
  direction: (from, to) => {
    const [first, second] = [new Map(entriesOf(from)), new Map(entriesOf(to))];
    let [tighter, looser] = [false, false];
    for (const name of union([...first.keys()], [...second.keys()])) {
      const step = atMost.direction(first.get(name) ?? null, second.get(name) ?? null);
      tighter ||= step === 'tighter';
      looser ||= step === 'looser';
    }
    return tighter && looser ? 'mixed' : tighter ? 'tighter' : looser ? 'looser' : 'same';
  },
};

/** A fact rather than a demand: an acknowledgement, an address. It has no strictness, and presets set none. */
export function fact(problem: Kind['problem']): Kind {
  return {
    problem,
    join: (a, b) => (a === null ? b : b === null ? a : canonicalJson(a) >= canonicalJson(b) ? a : b),
    direction: (from, to) => (same(from, to) ? 'same' : 'neutral'),
  };
}

export const factBoolean: Kind = fact(isBoolean);
export const factTexts: Kind = fact(texts);
export const factObject: Kind = fact((value) => {
  if (value !== null && !isObject(value)) return 'is not an object or null';
  if (!isPlain(value, FACT_DEPTH_MAX))
    return `is nested deeper than ${FACT_DEPTH_MAX} or holds a number that is too large`;
  return canonicalJson(value).length > POLICY_FACT_CHARS_MAX ? 'is too large' : undefined;
});

const FACT_DEPTH_MAX = 16;

/** Integers that a request's JSON carries as `bigint` are not accepted. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'bigint') return false;
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner: unknown) => isPlain(inner, depth - 1));
}

export function isObject(value: PolicyValue): value is { readonly [key: string]: PolicyValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Canonical JSON of a value: members of every object sorted by name in UTF-16 order, no white space, and numbers and
 * strings as `JSON.stringify` writes them (RFC 8785 for the values of a policy).
 */
export function canonicalJson(value: PolicyValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name]!)}`).join(',')}}`;
}
