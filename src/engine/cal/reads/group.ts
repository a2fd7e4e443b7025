// Groups grains by the values of a field. Counts them by index lists if an index has all values of the field, otherwise
// opens the matching grains.

import { steadyMs } from '../../base/clock.ts';
import { CAL_HELD_BYTES_MAX } from '../../base/limits.ts';
import type { GroupView, PartitionReads, Stopped } from '../../calls/cal.ts';
import type { CallContext } from '../../calls/context.ts';
import { AnswerRoom } from '../../grain/api/answer-room.ts';
import { tripleForm } from '../../grain/api/text.ts';
import { DocSet } from '../../index/docs/docset.ts';
import type { Sliced } from '../../index/files/section.ts';
import { type Facet, fieldKey, type IndexPart, NOT_TEXT, type Ordinal, VERIFICATIONS } from '../../index/parts/part.ts';
import { facetToken } from '../../store/index-keys.ts';
import { isListed } from '../../store/indexed-fields.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { bindingOf, isBound } from '../../store/within.ts';
import { fieldValue } from '../output/fields.ts';
import { calGrain } from '../run/grain-of.ts';
import { BY_HASH, compareCodePoints } from '../run/order.ts';
import { groupKey } from '../run/repeats.ts';
import { FirstPlaces } from './first.ts';
import { openEach, STEP_GRAINS } from './open-each.ts';
import { allPlaces, countAll, type Search, viewAt } from './places.ts';
import { firstOf, type Sorted } from './select.ts';
import { searchFor, TOO_MANY } from './tested.ts';

type Input = PartitionReads['group']['input'];
type Output = PartitionReads['group']['output'];

/**
 * The groups of a field's values in code point order, each with its first `shown` grains by address. Grains without the
 * field are in no group, but count in `total`.
 */
export function* groupGrains(store: Store, memory: Memory, context: CallContext, input: Input): Sliced<Output> {
  const asked = searchFor(store, memory, context, input);
  if (asked === undefined) return { groups: [], total: 0, ...TOO_MANY };
  const { search, tests } = asked;
  const lists = tests.length > 0 || areFew(search, input.field) ? undefined : listsOf(search, input.field);
  return lists === undefined
    ? yield* groupsByOpening(search, { ...input, tests })
    : yield* groupsByLists(search, input, lists);
}

/** Lists that are read in the time that a grain is opened. */
const LISTS_A_GRAIN = 16;
/** Grains that are opened for a bound caller, however many lists there are. */
const FEW_GRAINS = 1_024;

/** True if the matching grains are opened sooner than the lists of all values are read, of which there may be a million. */
function areFew(search: Search, field: string): boolean {
  if (!isSide(field)) return false;
  const count = countAll(search);
  // Answers name the grains that were opened, which must not tell a bound caller how many values others have.
  if (isBound(bindingOf(search.memory, search.context))) return count <= FEW_GRAINS;
  const lists = search.parts.reduce((sum, part) => sum + part.facetCardinality(field), 0);
  return count * LISTS_A_GRAIN < lists;
}

interface Group {
  count: number;
  /** Candidates for the first grains by address, at most `2 * shown`. */
  first: Sorted[];
}

function* groupsByOpening(search: Search, input: Input): Sliced<Output> {
  const { field, shown } = input;
  const groups = new Map<string, Group>();
  let total = 0;
  const opened = yield* openEach(search, allPlaces(search), input, (grain, ordinal) => {
    total += 1;
    const value = fieldValue(grain, field);
    if (value === undefined) return undefined;
    const key = groupKey(field, value);
    const entry: Sorted = { hash: grain.hash, key: undefined, ordinal };
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, { count: 1, first: [entry] });
      return undefined;
    }
    group.count += 1;
    group.first.push(entry);
    if (group.first.length >= 2 * shown) group.first = firstOf(group.first, BY_HASH, shown);
    return undefined;
  });
  if (opened.stopped !== undefined) return { groups: [], total, ...opened };
  const sorted = [...groups].map(([key, { count, first }]) => ({
    key,
    count,
    ordinals: firstOf(first, BY_HASH, shown).map(({ ordinal }) => ordinal),
  }));
  return { total, ...opened, ...(yield* shownGroups(search, sorted, input)) };
}

interface Counted {
  readonly key: string;
  readonly count: number;
  readonly ordinals: readonly Ordinal[];
}

/**
 * The groups in code point order of their keys. Includes grains while there is room, first by number, then by bytes.
 */
function* shownGroups(
  search: Search,
  groups: readonly Counted[],
  { field, shownMax, untilMs }: Input,
): Sliced<{ readonly groups: GroupView[] } & Partial<Stopped>> {
  let room = shownMax;
  let opened = 0;
  let nextStep = STEP_GRAINS;
  const answer: GroupView[] = [];
  const bytes = new AnswerRoom(CAL_HELD_BYTES_MAX);
  for (const { key, count, ordinals } of groups.toSorted((a, b) => compareCodePoints(a.key, b.key))) {
    const some = ordinals.slice(0, room);
    room -= some.length;
    // The index still has names of people whose keys are destroyed. So a name is returned only if a grain with it
    // opens.
    const isProofWanted = some.length === 0 && isSide(field);
    const read = isProofWanted ? ordinals.slice(0, 1) : some;
    const views = read.flatMap((ordinal) => viewAt(search, ordinal) ?? []);
    opened += read.length;
    if (isSide(field) && read.length > 0 && views.length === 0) continue;
    // The grains exceed what an answer holds. The answer is cut anyway, with a warning, so later groups get none.
    const kept = isProofWanted ? [] : views.filter((view) => bytes.takesBytes(view.sizeBytes));
    if (!isProofWanted && kept.length < views.length) room = 0;
    answer.push({ key, count, grains: kept });
    if (opened < nextStep) continue;
    nextStep = opened + STEP_GRAINS;
    yield;
    if (steadyMs(search.store.clock) > untilMs) return { groups: [], scanned: opened, stopped: 'time' };
  }
  return { groups: answer };
}

/**
 * The docs of a value in a part. It has the value's text, its token or both. Tokens are equal in all parts of a memory.
 */
interface ValueList {
  readonly docs: () => Uint32Array;
  readonly text?: string | undefined;
  readonly token?: string | undefined;
}
type ListsOf = (part: IndexPart) => Iterable<ValueList>;

/** The lists of the field's values for each part; undefined if no index has all values of the field. */
function listsOf({ store, memory, parts, filter }: Search, field: string): ListsOf | undefined {
  if (field === 'verification_status') return (part) => verificationLists(store, part);
  const isText = parts.every((part) => !part.fieldValues(field).includes(NOT_TEXT));
  if (!isText) return undefined;
  if (isListed(field))
    return (part) =>
      part
        .fieldValues(field)
        .map((text) => ({ text, docs: () => part.facet('field', fieldKey(field, text)) ?? NOTHING }));
  if (field === 'type' || field === 'session_id')
    return (part) => namedLists(part, field === 'type' ? field : 'session');
  if (field === 'user_id') return (part) => tokenLists(memory, part, 'user');
  // For other types the index holds another value here, or lacks most grains.
  const isOfBeliefs = filter.grainTypes?.length === 1 && filter.grainTypes[0] === 'belief';
  if (isOfBeliefs && isSide(field)) return (part) => sideLists(part, field);
  return undefined;
}

const NOTHING = new Uint32Array(0);

function isSide(field: string): field is 'subject' | 'relation' | 'object' {
  return field === 'subject' || field === 'relation' || field === 'object';
}

function* sideLists(part: IndexPart, side: 'subject' | 'relation' | 'object'): IterableIterator<ValueList> {
  // Every grain with a triple is also listed under the empty relation.
  const isKept = part.facetCardinality(side) <= LISTS_KEPT_MAX;
  for (const [text, docs] of part.docsByValue(side))
    if (text !== '') yield { text, docs: isKept ? () => part.facet(side, text) ?? NOTHING : docs };
}

/** Up to this many values of a side, the lists are long, so they are read in a way that lets the part cache them. */
const LISTS_KEPT_MAX = 256;

function* namedLists(part: IndexPart, facet: 'type' | 'session'): IterableIterator<ValueList> {
  for (const [text] of part.facetValues(facet)) yield { text, docs: () => part.facet(facet, text) ?? NOTHING };
}

function* tokenLists(memory: Memory, part: IndexPart, facet: Facet): IterableIterator<ValueList> {
  for (const list of part.facetLists(facet)) {
    yield 'text' in list ? { ...list, token: facetToken(memory, facet, list.text) } : list;
  }
}

function* verificationLists(store: Store, part: IndexPart): IterableIterator<ValueList> {
  for (const text of VERIFICATIONS) {
    const word = store.index.verification[text];
    const docs: number[] = [];
    if (word.count > 0) for (let doc = 0; doc < part.docCount; doc++) if (word.get(part.ordinals[doc]!)) docs.push(doc);
    yield { text, docs: () => Uint32Array.from(docs) };
  }
}

interface Listed {
  text: string | undefined;
  count: number;
  readonly first: FirstPlaces;
}

/** The matching docs, by value. */
interface Tally {
  readonly total: number;
  readonly groups: readonly (Omit<Listed, 'first'> & { readonly ordinals: readonly Ordinal[] })[];
  /** Matching docs in no list: their value is no text or is missing. Only for subject, relation and object. */
  readonly rest: readonly Ordinal[];
}

/**
 * Counts the matching docs of each list. Runs before the first yield, because the lists may change afterwards. Undefined if
 * it finds more groups than the read may open grains of.
 */
function tallied(search: Search, { field, shown, scanMax }: Input, listsIn: ListsOf): Tally | undefined {
  const { store, parts, filters } = search;
  const groups = new Map<string, Listed>();
  const rest: Ordinal[] = [];
  let total = 0;
  for (const [at, part] of parts.entries()) {
    const { docs, test } = filters[at]!;
    const passing = new DocSet(part.docCount);
    for (let i = 0, count = docs?.length ?? part.docCount; i < count; i++) {
      const doc = docs === undefined ? i : docs[i]!;
      if (test(doc)) passing.add(doc);
    }
    total += passing.count();
    const unlisted = isSide(field) ? DocSet.of(part.docCount, passing.toArray()) : undefined;
    const { addressHeads } = part;
    for (const { docs: listed, text, token } of listsIn(part)) {
      const values = listed();
      let group: Listed | undefined;
      for (let i = 0; i < values.length; i++) {
        const doc = values[i]!;
        if (!passing.has(doc)) continue;
        group ??= groupIn(groups, token ?? text!, text, shown);
        if (opensEach(field, shown) && groups.size > scanMax) return undefined;
        group.count += 1;
        const head = addressHeads[doc]!;
        if (!group.first.isBehind(0, 0, head)) group.first.add({ part: at, doc, first: 0, second: 0, head });
      }
      unlisted?.andNot(values);
    }
    if (unlisted !== undefined) for (const doc of unlisted.toArray()) rest.push(part.ordinals[doc]!);
  }
  return {
    total,
    rest,
    groups: [...groups.values()].map(({ text, count, first }) => ({
      text,
      count,
      ordinals: first.inOrder(store, parts).map(({ part, doc }) => parts[part]!.ordinals[doc]!),
    })),
  };
}

function groupIn(groups: Map<string, Listed>, key: string, text: string | undefined, shown: number): Listed {
  const known = groups.get(key);
  if (known !== undefined) {
    known.text ??= text;
    return known;
  }
  // Keep at least one doc, to learn the value's name from it.
  const made: Listed = { text, count: 0, first: new FirstPlaces(Math.max(1, shown)) };
  groups.set(key, made);
  return made;
}

/** True if a grain of each group is opened, although the lists have the names of the groups. */
function opensEach(field: string, shown: number): boolean {
  return isSide(field) && shown > 0;
}

interface Entered extends Counted {
  count: number;
  ordinals: Ordinal[];
}

function* groupsByLists(search: Search, input: Input, listsIn: ListsOf): Sliced<Output> {
  const { field, shown, scanMax, untilMs } = input;
  const tally = tallied(search, input, listsIn);
  if (tally === undefined) return { groups: [], total: 0, scanned: 0, stopped: 'scan' };
  const { total, groups, rest } = tally;
  const mayOpen = opensEach(field, shown) ? groups.length : groups.filter(({ text }) => text === undefined).length;
  if (mayOpen + rest.length > scanMax) return { groups: [], total, scanned: 0, stopped: 'scan' };
  const counted = new Map<string, Entered>();
  /** Groups from several lists. Each list is in address order, but their concatenation is not. */
  const mixed = new Set<Entered>();
  let opened = 0;
  const enter = (key: string, one: Omit<Entered, 'key'>): void => {
    const known = counted.get(key);
    if (known === undefined) counted.set(key, { key, ...one });
    else {
      known.count += one.count;
      known.ordinals.push(...one.ordinals);
      mixed.add(known);
    }
  };
  const stops = function* (): Sliced<Stopped['stopped']> {
    if (opened++ % STEP_GRAINS !== 0) return undefined;
    if (opened > 1) yield;
    return steadyMs(search.store.clock) > untilMs ? 'time' : undefined;
  };
  for (const { text, count, ordinals } of groups) {
    const one = { count, ordinals: ordinals.slice(0, shown) };
    if (text !== undefined) {
      enter(isSide(field) ? tripleForm(text) : text, one);
      continue;
    }
    if ((yield* stops()) !== undefined) return { groups: [], total, scanned: opened, stopped: 'time' };
    const key = keyAt(search, ordinals[0]!, field);
    if (key !== undefined) enter(key, one);
  }
  for (const ordinal of rest) {
    if ((yield* stops()) !== undefined) return { groups: [], total, scanned: opened, stopped: 'time' };
    const key = keyAt(search, ordinal, field);
    if (key !== undefined) enter(key, { count: 1, ordinals: [ordinal] });
  }
  for (const one of mixed) one.ordinals = byAddress(search, one.ordinals).slice(0, shown);
  return { total, scanned: opened, ...(yield* shownGroups(search, [...counted.values()], input)) };
}

function keyAt(search: Search, ordinal: Ordinal, field: string): string | undefined {
  const view = viewAt(search, ordinal);
  const value = view === undefined ? undefined : fieldValue(calGrain(view, 1), field);
  return value === undefined ? undefined : groupKey(field, value);
}

function byAddress({ store }: Search, ordinals: readonly Ordinal[]): Ordinal[] {
  const addresses = new Map(ordinals.map((ordinal) => [ordinal, store.addressAt(ordinal) ?? '']));
  return ordinals.toSorted((a, b) => (addresses.get(a)! < addresses.get(b)! ? -1 : 1));
}
