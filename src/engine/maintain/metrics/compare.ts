// Compares the samples of all partitions with one partition's grains.
import { METRIC_RECALLS_MAX } from '../../base/limits.ts';
import type { MetricCalls, SampledBelief } from '../../calls/metrics.ts';
import { keyedIdentity } from '../../crypto/blind-tokens.ts';
import { DocSet, intersect } from '../../index/docs/docset.ts';
import type { Sliced } from '../../index/files/section.ts';
import { type Doc, type IndexPart, pairKey } from '../../index/parts/part.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { type Binding, isBound } from '../../store/within.ts';
import { newestRecalls } from '../reports/recall-records.ts';
import { seenDocs } from '../reports/users.ts';

type Compare = MetricCalls['compareSamples'];

const NOTHING = new Uint32Array(0);

export function* compareSamples(
  store: Store,
  memory: Memory,
  binding: Binding,
  { identities, beliefs, names }: Compare['input'],
): Sliced<Compare['output']> {
  const parts: Compared[] = [];
  const impersonal = beliefs.some(({ user }) => user === '');
  for (const part of store.parts(memory.number)) {
    parts.push(comparedPart(store, part, binding, impersonal ? yield* personalDocs(part) : undefined));
    yield;
  }
  const same: number[] = [];
  for (const identity of identities) {
    const key = keyedIdentity(memory.identityKey, identity);
    same.push(parts.reduce((sum, { part, isCurrent }) => sum + part.identity(key).filter(isCurrent).length, 0));
    yield;
  }
  const group: number[] = [];
  const alike: number[] = [];
  for (const belief of beliefs) {
    const [all, withObject] = [0, 1].map((at) => parts.reduce((sum, one) => sum + groupIn(one, belief)[at]!, 0));
    group.push(all!);
    alike.push(withObject!);
    yield;
  }
  return { same, group, alike, recalled: yield* recalledOf(store, memory, names) };
}

interface Compared {
  readonly part: IndexPart;
  readonly isCurrent: (doc: Doc) => boolean;
  /** Docs about some person; undefined if no belief asks for the others. */
  readonly personal: DocSet | undefined;
}

function comparedPart(store: Store, part: IndexPart, binding: Binding, personal: DocSet | undefined): Compared {
  const { removed, superseded } = store.index;
  const seen = isBound(binding) ? DocSet.of(part.docCount, seenDocs(part, binding)) : undefined;
  return {
    part,
    isCurrent: (doc) => {
      const ordinal = part.ordinals[doc]!;
      return seen?.has(doc) !== false && !removed.get(ordinal) && !superseded.get(ordinal);
    },
    personal,
  };
}

/** Users whose docs are added before other work gets its turn. */
const SLICE_USERS = 64;

function* personalDocs(part: IndexPart): Sliced<DocSet> {
  const personal = new DocSet(part.docCount);
  let users = 0;
  for (const { docs } of part.facetLists('user')) {
    personal.or(docs());
    users += 1;
    if (users % SLICE_USERS === 0) yield;
  }
  return personal;
}

/** Current beliefs with the same namespace, person, subject and relation; and those of them with the same object. */
function groupIn(
  { part, isCurrent, personal }: Compared,
  { namespace, user, subject, relation, object }: SampledBelief,
): readonly [group: number, alike: number] {
  const listOf = (docs: Uint32Array | undefined): Uint32Array => docs ?? NOTHING;
  const near = intersect([
    listOf(part.facet('pair', pairKey(subject, relation))),
    listOf(part.facet('namespace', namespace)),
    listOf(part.facet('type', 'belief')),
    ...(user === '' ? [] : [listOf(part.facet('user', user))]),
  ]);
  const group = near.filter((doc) => isCurrent(doc) && (user !== '' || personal?.has(doc) !== true));
  if (group.length === 0) return [0, 0];
  return [group.length, intersect([group, listOf(part.facet('object', object))]).length];
}

/** Which of the named grains a recall record lists, of the newest records. Records are in one partition. */
function* recalledOf(store: Store, memory: Memory, names: readonly string[]): Sliced<boolean[]> {
  const found = new Set<string>();
  const wanted = new Set(names);
  let looked = 0;
  for (const record of newestRecalls(store, memory)) {
    yield;
    looked += 1;
    if (found.size === wanted.size || looked > METRIC_RECALLS_MAX) break;
    for (const name of record?.kept.results.grains.texts() ?? []) if (wanted.has(name)) found.add(name);
  }
  return names.map((name) => found.has(name));
}
