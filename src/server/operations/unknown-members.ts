// Finds members and query parameters that a request's row does not know. Silently dropping one changes the request: a
// recall with `userid` would search everyone's grains. The answer names each with the nearest known name; calls that
// remove or govern data refuse the request.
import { EngineError } from '../../engine/base/errors.ts';
import { COMMON_NAMES, contractNames } from '../../engine/grain/api/names.ts';
import { GRAIN_TYPE_NAMES } from '../../engine/grain/grain.ts';
import { editDistance } from '../../engine/index/text/edit-distance.ts';
import { isMembers, type Members } from './names.ts';

export interface UnknownMember {
  /** As the caller wrote it: `params.limt`, `grains[3].fild`. */
  readonly path: string;
  readonly kind: 'member' | 'parameter' | 'part' | 'extra field';
  /** The nearest known name, if one is close enough. */
  readonly nearest: string | undefined;
}

/** Unknown members named in an answer; it only counts the rest. */
const TOLD_MAX = 20;
const PATH_CHARS_MAX = 80;

/** Appends the members of `value` that the schema does not define to `into`. */
export type FindUnknown = (value: unknown, into: UnknownMember[]) => void;

/**
 * Compiles the search from a schema with outside names; undefined for a fully open schema. `otherNames` are known in
 * addition to the schema's members. An explicit null counts as absent.
 */
export function compileUnknown(schema: Members, otherNames: readonly string[] = []): FindUnknown | undefined {
  const { items, properties } = schema;
  if (isMembers(items)) {
    const ofItem = compileUnknown(items);
    return ofItem === undefined ? undefined : (value, into) => eachOf(value, ofItem, into);
  }
  if (!isMembers(properties)) return undefined;
  const children = new Map<string, FindUnknown | undefined>();
  for (const [name, child] of Object.entries(properties))
    children.set(name, isMembers(child) ? compileUnknown(child) : undefined);
  for (const name of otherNames) children.set(name, undefined);
  const isOpen = (schema['additionalProperties'] ?? false) !== false;
  const known = [...children.keys()];
  return (value, into) => {
    if (!isMembers(value)) return;
    for (const name in value) {
      const child = children.get(name);
      if (child !== undefined) within(name, into, () => child(value[name], into));
      else if (!isOpen && !children.has(name) && value[name] !== null)
        into.push(unknownMember(name, known, into.length));
    }
  };
}

/** Runs `ofItem` on each item of a list; ignores other values. */
export function eachOf(value: unknown, ofItem: FindUnknown, into: UnknownMember[]): void {
  if (!Array.isArray(value)) return;
  for (let index = 0; index < value.length; index++) {
    const before = into.length;
    ofItem(value[index], into);
    if (into.length > before) prefix(into, before, `[${index}]`);
  }
}

/** Runs `find` and prefixes the paths that it found with `name`. */
export function within(name: string, into: UnknownMember[], find: () => void): void {
  const before = into.length;
  find();
  if (into.length > before) prefix(into, before, name);
}

function prefix(into: UnknownMember[], from: number, name: string): void {
  for (let at = from; at < into.length; at += 1) {
    const member = into[at]!;
    into[at] = { ...member, path: member.path.startsWith('[') ? `${name}${member.path}` : `${name}.${member.path}` };
  }
}

/** `found` counts the earlier ones; members past TOLD_MAX are not named, so their nearest name is not computed. */
export function unknownMember(name: string, known: readonly string[], found = 0): UnknownMember {
  return { path: name, kind: 'member', nearest: found < TOLD_MAX ? nearestOf(name, known) : undefined };
}

/** Appends the query parameters that are not `known` to `into`. */
export function unknownParameters(
  query: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  into: UnknownMember[],
): void {
  const names = [...known];
  for (const name in query)
    if (!known.has(name)) into.push({ ...unknownMember(name, names, into.length), kind: 'parameter' });
}

// Extra fields

const CONTRACT_NAMES: ReadonlySet<string> = new Set(GRAIN_TYPE_NAMES.flatMap((type) => [...contractNames(type)]));
const COMMON = [...COMMON_NAMES].map((name) => ({ name, plain: plainOf(name), letters: lettersOf(plainOf(name)) }));

/**
 * Finds extra fields of a grain that look like a misspelt common field. The contract keeps them; the answer warns about
 * them. A field name of any grain type does not count as misspelt.
 */
export function slippedFields(fields: Readonly<Record<string, unknown>>, into: UnknownMember[]): void {
  for (const name in fields) {
    if (CONTRACT_NAMES.has(name) || fields[name] === null) continue;
    const nearest = slipOf(name);
    if (nearest !== undefined) into.push({ path: name, kind: 'extra field', nearest });
  }
}

/** Skips the edit distance when the letters already differ too much: a grain may have ten thousand extra fields. */
function slipOf(name: string): string | undefined {
  if (name.length > PATH_CHARS_MAX) return undefined;
  const plain = plainOf(name);
  const letters = lettersOf(plain);
  for (const common of COMMON) {
    const allowed = slipsIn(common.plain);
    if (Math.abs(common.plain.length - plain.length) > allowed) continue;
    if (bitsOf(common.letters ^ letters) > 2 * allowed) continue;
    if (editDistance(plain, common.plain, allowed) <= allowed) return common.name;
  }
  return undefined;
}

/** The name without case, underscores and hyphens, which do not distinguish names. */
function plainOf(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase();
}

function lettersOf(plain: string): number {
  let letters = 0;
  for (let at = 0; at < plain.length; at += 1) letters |= 1 << (plain.charCodeAt(at) & 31);
  return letters;
}

function bitsOf(letters: number): number {
  let count = 0;
  for (let rest = letters; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** Edits allowed: two in a name of usual length, one in a short name. */
function slipsIn(plain: string): number {
  return plain.length <= 4 ? 1 : 2;
}

function nearestOf(name: string, known: readonly string[]): string | undefined {
  if (name.length > PATH_CHARS_MAX) return undefined;
  const plain = plainOf(name);
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const other = plainOf(candidate);
    const allowed = slipsIn(plain.length < other.length ? plain : other);
    const distance = editDistance(plain, other, allowed);
    if (distance <= allowed && distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

// Warnings and refusals

function sentence({ path, kind, nearest }: UnknownMember): string {
  const shown = `\`${shortened(path)}\``;
  const hint = nearest === undefined ? '' : `: did you mean \`${nearest}\`?`;
  if (kind === 'extra field') return `${shown} was kept as an extra field${hint}`;
  if (kind === 'part') return `the part ${shown} of the form was ignored: options go into the query`;
  return `unknown ${kind} ${shown} was ignored${hint}`;
}

function shortened(path: string): string {
  const text = path.toWellFormed();
  return text.length <= PATH_CHARS_MAX ? text : `${text.slice(0, PATH_CHARS_MAX)}…`;
}

/** One warning for each of the first TOLD_MAX members, and one that counts the rest. */
export function unknownWarnings(unknown: readonly UnknownMember[]): string[] {
  const sentences = unknown.slice(0, TOLD_MAX).map(sentence);
  const more = unknown.length - sentences.length;
  return more === 0 ? sentences : [...sentences, `${more} more unknown members were ignored`];
}

/** The VAL-E001 error for a request with unknown members; `unknown` is not empty. */
export function unknownRefusal(unknown: readonly UnknownMember[]): EngineError {
  const details = unknown.slice(0, TOLD_MAX).map(({ path, kind, nearest }) => ({
    field: shortened(path),
    issue: `unknown ${kind === 'extra field' ? 'member' : kind}${nearest === undefined ? '' : `: did you mean ${nearest}?`}`,
  }));
  const first = details[0];
  const others = unknown.length === 1 ? '' : ` (and ${unknown.length - 1} more)`;
  return new EngineError('VAL-E001', `\`${first?.field}\` is an ${first?.issue}${others}`, { details });
}
