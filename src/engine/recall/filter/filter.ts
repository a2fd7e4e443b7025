// Applies a request's structural conditions to a part. Facets and addresses give a list of docs. The other conditions
// (verification, expiry, numbers) give a test. Legs apply both while they search, so that `limit` means `limit`
// results.
import { assert, unreachable } from '../../base/assert.ts';
import { toNfc } from '../../base/nfc.ts';
import type { CallContext } from '../../calls/context.ts';
import type { GrainFilter, GrainPlace, NumberTest } from '../../calls/grain.ts';
import { slugOfNamespace } from '../../govern/harness-namespace.ts';
import { DocSet, intersect, union } from '../../index/docs/docset.ts';
import { type Doc, type Facet, fieldKey, type IndexPart, type NumberField, pairKey } from '../../index/parts/part.ts';
import type { Store } from '../../store/store.ts';
import { shownIn } from './hidden.ts';
import { containsTests, type NameTest, namedDocs } from './named.ts';
import { docsForUser } from './owned.ts';
import { isInScope } from './scope.ts';

export interface PartFilter {
  /** Docs that match the facets and addresses, and other conditions where few docs do, ascending; undefined for all docs. */
  readonly docs: Uint32Array | undefined;
  /** True if the doc passes all other conditions. */
  readonly test: (doc: Doc) => boolean;
  /** Set if every doc of the part passes `test`, so that nobody need ask. */
  readonly passesAll?: true | undefined;
}

const NOTHING = new Uint32Array(0);
/** Hex digits of an address in `addressHeads`. */
const HEAD_DIGITS = 8;

const TRIPLE: ReadonlySet<Facet> = new Set(['subject', 'relation', 'object']);

/**
 * The filter of one part. It also applies the caller's binding, hides what a policy hides, and leaves out removed and,
 * unless wanted, superseded grains. `terms` are the `field:term` conditions of a query.
 */
export function filterPart(
  store: Store,
  part: IndexPart,
  filter: GrainFilter,
  context: CallContext,
  terms: readonly NameTest[] = [],
): PartFilter {
  const listed = facetDocs(part, filter, context, terms);
  const named = filter.addresses === undefined ? listed : addressDocs(store, part, filter.addresses, listed);
  const docs = filter.addressPrefix === undefined ? named : prefixDocs(store, part, filter.addressPrefix, named);
  if (docs?.length === 0) return { docs, test: all([]), passesAll: true };
  const { sets, tests } = docTests(store, part, filter, context, terms);
  const few = sets.length === 0 ? undefined : fewIn(part, docs, sets);
  if (few === undefined) tests.push(...sets.map(({ set, isOut }) => (isOut ? outOf(set) : within(set))));
  return { docs: few ?? docs, test: all(tests), passesAll: tests.length === 0 || undefined };
}

/** A condition that holds inside a set of docs, or outside it. */
interface SetTest {
  readonly set: DocSet;
  readonly isOut: boolean;
}

function within(set: DocSet): (doc: Doc) => boolean {
  return (doc) => set.has(doc);
}

function outOf(set: DocSet): (doc: Doc) => boolean {
  return (doc) => !set.has(doc);
}

/** A part has one doc in so many, or fewer, where a list of them is better than tests. */
const FEW = 8;

/** Looking a doc up in a list takes as long as testing so many of the list's docs. */
const DOCS_A_LOOKUP = 32;

/**
 * The docs in `docs` (undefined: all) that pass the sets, ascending; undefined if neither the docs nor those that pass
 * are few.
 */
function fewIn(part: IndexPart, docs: Uint32Array | undefined, sets: readonly SetTest[]): Uint32Array | undefined {
  const { docCount } = part;
  const passing = DocSet.full(docCount);
  for (const { set, isOut } of sets) isOut ? passing.andNot(set) : passing.and(set);
  if (docs !== undefined && docs.length * FEW <= docCount) return passing.among(docs);
  const count = passing.count();
  if (count * FEW > docCount) return undefined;
  if (docs === undefined) return passing.toArray();
  return count * DOCS_A_LOOKUP < docs.length ? intersect([docs, passing.toArray()]) : passing.among(docs);
}

/** The docs with these addresses; only those in `listed`, if given. */
function addressDocs(
  store: Store,
  part: IndexPart,
  addresses: readonly string[],
  listed: Uint32Array | undefined,
): Uint32Array {
  const { ordinals } = part;
  const named = new Set<Doc>();
  // The index has only the first digits of an address: compare the rest.
  for (const address of addresses)
    for (const doc of part.address(address)) if (store.addressAt(ordinals[doc]!) === address) named.add(doc);
  const docs = Uint32Array.from(named).sort();
  return listed === undefined ? docs : intersect([docs, listed]);
}

/** The first 32 bits of an address, which the index has too; -1 for a text that is shorter. */
export function headOf(hash: string): number {
  return hash.length < HEAD_DIGITS ? -1 : Number.parseInt(hash.slice(0, HEAD_DIGITS), 16);
}

/** Where the docs after this one begin. For a grain that cannot be read, the index knows the first digits of its address. */
export function placeOf(store: Store, { createdAtMs, ordinals, addressHeads }: IndexPart, doc: Doc): GrainPlace {
  const hash = store.addressOfLive(ordinals[doc]!);
  return {
    createdAtMs: createdAtMs[doc]!,
    hash: hash === '' ? addressHeads[doc]!.toString(16).padStart(HEAD_DIGITS, '0') : hash,
  };
}

/** The docs whose address starts with `prefix` (at least 8 hex digits); only those in `listed`, if given. */
function prefixDocs(store: Store, part: IndexPart, prefix: string, listed: Uint32Array | undefined): Uint32Array {
  assert(/^[0-9a-f]{8,64}$/.test(prefix), 'a prefix has 8 to 64 hex digits');
  const head = headOf(prefix);
  const { addressHeads, ordinals } = part;
  const found: Doc[] = [];
  for (let doc = 0; doc < part.docCount; doc++)
    if (addressHeads[doc] === head && store.addressAt(ordinals[doc]!)?.startsWith(prefix) === true) found.push(doc);
  const docs = Uint32Array.from(found);
  return listed === undefined ? docs : intersect([docs, listed]);
}

/**
 * The docs of a part that the caller may see, before any condition of the query: not removed, not expired, not hidden
 * by a policy, current unless old versions are wanted, and within the caller's binding.
 */
export function visibleIn(
  store: Store,
  part: IndexPart,
  filter: GrainFilter,
  context: CallContext,
): (doc: Doc) => boolean {
  const { namespace, userId } = context;
  const versions: GrainFilter = filter.includeSuperseded === true ? { includeSuperseded: true } : {};
  // `versions` asks for no sets.
  const test = all(docTests(store, part, versions, context, []).tests);
  if (namespace === undefined && userId === undefined) return test;
  const set = DocSet.of(part.docCount, docsWithin(part, context) ?? NOTHING);
  return (doc) => set.has(doc) && test(doc);
}

/**
 * The docs within the caller's binding, old and removed ones included, ascending; undefined if the caller has no
 * binding.
 */
export function docsWithin(
  part: IndexPart,
  context: Pick<CallContext, 'namespace' | 'userId'>,
): Uint32Array | undefined {
  return facetDocs(part, {}, context, []);
}

function facetDocs(
  part: IndexPart,
  filter: GrainFilter,
  context: Pick<CallContext, 'namespace' | 'userId'>,
  terms: readonly NameTest[],
): Uint32Array | undefined {
  const lists: Uint32Array[] = [];
  const want = (facet: Facet, value: string | undefined): void => {
    if (value !== undefined) lists.push(part.facet(facet, value) ?? NOTHING);
  };
  const { subject, relation, object, entity } = filter;
  if (subject !== undefined && relation !== undefined) want('pair', pairKey(exact(subject), exact(relation)));
  else {
    want('subject', subject === undefined ? undefined : exact(subject));
    want('relation', relation === undefined ? undefined : exact(relation));
  }
  want('object', object === undefined ? undefined : exact(object));
  if (entity !== undefined) {
    const value = exact(entity);
    lists.push(union(part.facet('subject', value) ?? NOTHING, part.facet('object', value) ?? NOTHING));
  }
  if (filter.grainTypes !== undefined)
    lists.push(filter.grainTypes.map((type) => part.facet('type', type) ?? NOTHING).reduce(union, NOTHING));
  want('namespace', filter.namespace);
  if (context.namespace !== filter.namespace) want('namespace', context.namespace);
  const { scope } = filter;
  if (scope !== undefined) lists.push(namespaceDocs(part, (namespace) => isInScope(scope, namespace)));
  if (filter.harnessDefinition === true)
    lists.push(namespaceDocs(part, (namespace) => slugOfNamespace(namespace) !== undefined));
  want('user', filter.userId);
  if (context.userId !== filter.userId) want('user', context.userId);
  if (filter.sessionId !== undefined) {
    const inSession = part.facet('session', filter.sessionId) ?? NOTHING;
    lists.push(union(inSession, part.facet('namespace', filter.sessionId) ?? NOTHING));
  }
  for (const { facet, values } of filter.anyOf ?? [])
    lists.push(
      unionOf(
        part,
        values.map((value) => part.facet(facet, TRIPLE.has(facet) ? exact(value) : value) ?? NOTHING),
      ),
    );
  for (const { field, values } of filter.otherThan ?? []) lists.push(otherDocs(part, field, values));
  for (const tag of filter.tags ?? []) want('tag', tag);
  for (const test of [...containsTests(filter), ...terms])
    if (!test.negated) lists.push(namedDocs(part, test).toArray());
  return lists.length === 0 ? undefined : intersect(lists);
}

/** From this number of lists on, a bitmap is cheaper than merging. */
const LISTS_AS_BITS = 8;

function unionOf({ docCount }: IndexPart, lists: readonly Uint32Array[]): Uint32Array {
  if (lists.length < LISTS_AS_BITS) return lists.reduce(union, NOTHING);
  const set = new DocSet(docCount);
  for (const docs of lists) set.or(docs);
  return set.toArray();
}

/** Docs that have the field, with none of these values. */
function otherDocs(part: IndexPart, field: string, values: readonly string[]): Uint32Array {
  const none = new Set(values);
  const others = part.fieldValues(field).filter((value) => !none.has(value));
  return unionOf(
    part,
    others.map((value) => part.facet('field', fieldKey(field, value)) ?? NOTHING),
  );
}

function namespaceDocs(part: IndexPart, isWanted: (namespace: string) => boolean): Uint32Array {
  const lists: Uint32Array[] = [];
  for (const [namespace] of part.facetValues('namespace'))
    if (isWanted(namespace)) lists.push(part.facet('namespace', namespace) ?? NOTHING);
  return unionOf(part, lists);
}

/** Conditions that some doc of the part may fail. Conditions that hold for the whole part are decided here, once. */
function docTests(
  store: Store,
  part: IndexPart,
  filter: GrainFilter,
  context: CallContext,
  terms: readonly NameTest[],
): { readonly sets: readonly SetTest[]; readonly tests: ((doc: Doc) => boolean)[] } {
  const { removed, superseded } = store.index;
  const { ordinals, docCount } = part;
  const tests: ((doc: Doc) => boolean)[] = [];
  if (docCount === 0) return { sets: [], tests };
  const holds = (marks: typeof removed): boolean => marks.count > 0 && marks.any(ordinals[0]!, ordinals[docCount - 1]!);
  if (holds(removed)) tests.push((doc) => !removed.get(ordinals[doc]!));
  if (filter.includeSuperseded !== true && holds(superseded)) tests.push((doc) => !superseded.get(ordinals[doc]!));
  tests.push(...shownIn(store, part, context));
  if (filter.verification !== undefined) {
    const words = filter.verification.map((word) => store.index.verification[word]);
    tests.push((doc) => words.some((word) => word.get(ordinals[doc]!)));
  }
  tests.push(...columnTests(part, filter));
  return { sets: setTests(store, part, filter, context, terms), tests };
}

/** Conditions that exclude docs, or that need a bitmap or several lists. */
function setTests(
  store: Store,
  part: IndexPart,
  filter: GrainFilter,
  context: CallContext,
  terms: readonly NameTest[],
): SetTest[] {
  const { docCount } = part;
  const sets: SetTest[] = [];
  for (const tag of filter.excludeTags ?? []) {
    const docs = part.facet('tag', toNfc(tag));
    if (docs !== undefined) sets.push({ set: DocSet.of(docCount, docs), isOut: true });
  }
  for (const term of terms) if (term.negated) sets.push({ set: namedDocs(part, term), isOut: true });
  if (filter.forUser !== undefined) {
    sets.push({ set: docsForUser(part, filter.forUser), isOut: false });
  }
  for (const some of filter.either ?? []) {
    const set = new DocSet(docCount);
    for (const one of some) addMatching(set, store, part, one, context);
    sets.push({ set, isOut: false });
  }
  for (const one of filter.except ?? [])
    sets.push({ set: addMatching(new DocSet(docCount), store, part, one, context), isOut: true });
  return sets;
}

/** Conditions on times and numbers. */
function columnTests(part: IndexPart, filter: GrainFilter): ((doc: Doc) => boolean)[] {
  const tests: ((doc: Doc) => boolean)[] = [];
  const { createdFromMs, createdToMs } = filter;
  if (createdFromMs !== undefined) tests.push((doc) => part.createdAtMs[doc]! >= createdFromMs);
  if (createdToMs !== undefined) tests.push((doc) => part.createdAtMs[doc]! <= createdToMs);
  if (filter.timeFromMs !== undefined || filter.timeToMs !== undefined) {
    const low = filter.timeFromMs ?? Number.NEGATIVE_INFINITY;
    const high = filter.timeToMs ?? Number.POSITIVE_INFINITY;
    const time = timesOf(part);
    tests.push((doc) => time(doc) >= low && time(doc) <= high);
  }
  atLeast('confidence', filter.confidenceMin);
  atLeast('importance', filter.importanceMin);
  for (const { field, op, value } of filter.numbers ?? []) {
    const values = part.numbers(field);
    const lets = comparisonWith(op, value);
    const letsAbsent = field === 'confidence' && lets(1);
    tests.push((doc) => {
      const stated = values === undefined ? Number.NaN : values[doc]!;
      return Number.isNaN(stated) ? letsAbsent : lets(stated);
    });
  }
  // The start of validity must lie in the range. A grain without one fails.
  if (filter.validFromMs !== undefined || filter.validToMs !== undefined) {
    const from = part.numbers('validFromMs');
    const low = filter.validFromMs ?? Number.NEGATIVE_INFINITY;
    const high = filter.validToMs ?? Number.POSITIVE_INFINITY;
    tests.push((doc) => from !== undefined && from[doc]! >= low && from[doc]! <= high);
  }
  if (filter.eitherTime !== undefined) {
    const { createdAtMs } = part;
    const from = part.numbers('validFromMs');
    const { fromMs: low = Number.NEGATIVE_INFINITY, toMs: high = Number.POSITIVE_INFINITY } = filter.eitherTime;
    const lies = (ms: number): boolean => ms >= low && ms <= high;
    tests.push((doc) => lies(createdAtMs[doc]!) || (from !== undefined && lies(from[doc]!)));
  }
  return tests;

  function atLeast(field: NumberField, minimum: number | undefined): void {
    if (minimum === undefined) return;
    const values = part.numbers(field);
    // A missing confidence counts as 1.0 (the answer default); a missing importance fails.
    const absent = field === 'confidence';
    tests.push((doc) => {
      const value = values === undefined ? Number.NaN : values[doc]!;
      return Number.isNaN(value) ? absent && minimum <= 1 : value >= minimum;
    });
  }
}

/**
 * Adds the docs that match a nested filter, including removed and old ones: the outer filter checks visibility. Returns
 * the set.
 */
function addMatching(set: DocSet, store: Store, part: IndexPart, filter: GrainFilter, context: CallContext): DocSet {
  const { docs, test, passesAll } = filterPart(store, part, { ...filter, includeSuperseded: true }, context);
  if (docs !== undefined && passesAll === true) return set.or(docs);
  for (let at = 0, count = docs?.length ?? part.docCount; at < count; at++) {
    const doc = docs === undefined ? at : docs[at]!;
    if (test(doc)) set.add(doc);
  }
  return set;
}

/** Selects the comparison once instead of for every doc. */
function comparisonWith(op: NumberTest['op'], value: number): (stated: number) => boolean {
  switch (op) {
    case '=':
      return (stated) => stated === value;
    case '!=':
      return (stated) => stated !== value;
    case '>=':
      return (stated) => stated >= value;
    case '<=':
      return (stated) => stated <= value;
    case '>':
      return (stated) => stated > value;
    case '<':
      return (stated) => stated < value;
    default:
      return unreachable(op);
  }
}

/** A doc's own time in epoch ms: its `timestamp_ms`, otherwise its creation time. */
export function timesOf(part: IndexPart): (doc: Doc) => number {
  const { createdAtMs } = part;
  const stated = part.numbers('timestampMs');
  if (stated === undefined) return (doc) => createdAtMs[doc]!;
  return (doc) => (Number.isNaN(stated[doc]!) ? createdAtMs[doc]! : stated[doc]!);
}

function all(tests: readonly ((doc: Doc) => boolean)[]): (doc: Doc) => boolean {
  const [first, second] = tests;
  if (first === undefined) return () => true;
  if (second === undefined) return first;
  if (tests.length === 2) return (doc) => first(doc) && second(doc);
  return (doc) => tests.every((test) => test(doc));
}

/** Structural values match exactly after NFC and trim (service contract 4.2). */
function exact(value: string): string {
  return toNfc(value).trim();
}
