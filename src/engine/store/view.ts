// A stored grain in the form that answers show.
import type { CallContext } from '../calls/context.ts';
import type { GrainView } from '../calls/grain.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import { toApi } from '../grain/api/output.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { StatusRecord } from '../record/record.ts';
import type { Memory } from './memory.ts';
import type { Store } from './store.ts';
import type { StoredGrain } from './stored-grain.ts';

/** The grain with default `fields` and its version links. Without a caller, no binding limits the links. */
export function viewGrain(
  store: Store,
  memory: Memory,
  stored: StoredGrain,
  caller: Pick<CallContext, 'namespace' | 'userId'> = {},
): GrainView {
  const { grain, ordinal } = stored;
  const isSuperseded = store.index.superseded.get(ordinal);
  const successor = isSuperseded ? successorAddress(store, memory, ordinal, caller) : undefined;
  const before = predecessorAddress(store, memory, stored);
  const predecessor = before?.isErased === true ? undefined : before?.hash;
  const fields = shownFields(store, stored, { predecessor: before?.hash, successor });
  const createdAtMs = Number(grain.fields['created_at']);
  const userId = grain.fields['user_id'];
  const namespace = grain.fields['namespace'];
  // Members that most grains lack are added one by one: `defined` would copy the view of each hit.
  const view: { -readonly [K in keyof GrainView]: GrainView[K] } = {
    hash: stored.address,
    grainType: grain.type,
    fields,
    createdAt: Math.floor(createdAtMs / 1000),
    createdAtMs,
    namespace: typeof namespace === 'string' ? namespace : '',
    sizeBytes: stored.blob.length,
  };
  if (typeof userId === 'string') view.userId = userId;
  if (successor !== undefined) view.supersededBy = successor;
  else if (isSuperseded) view.isSuperseded = true;
  if (predecessor !== undefined) view.supersedes = predecessor;
  return view;
}

/**
 * The link to the next version that was not erased. The hash of an erased one could confirm a guess of what it said: it differs
 * from the version that took its place by a name alone.
 */
export function shownSuccessor(store: Store, { number }: Memory, ordinal: Ordinal): StatusRecord | undefined {
  let link = store.status.supersession(number, ordinal);
  while (link !== undefined && store.index.erased.get(link.newOrdinal))
    link = store.status.supersession(number, link.newOrdinal);
  return link;
}

/** The address of the next version, unless it was erased or lies outside the caller's binding. */
export function successorAddress(
  store: Store,
  memory: Memory,
  ordinal: Ordinal,
  caller: Pick<CallContext, 'namespace' | 'userId'>,
): string | undefined {
  const link = shownSuccessor(store, memory, ordinal);
  if (link === undefined) return undefined;
  const { namespace, userId } = caller;
  if (namespace !== undefined || userId !== undefined) {
    const fields = store.readGrain(memory, link.newOrdinal)?.grain.fields;
    if (fields === undefined) return undefined;
    if (namespace !== undefined && fields['namespace'] !== namespace) return undefined;
    if (userId !== undefined && fields['user_id'] !== userId) return undefined;
  }
  return memory.trail.addressNamed(link.newName);
}

/** A new version names its predecessor in derived_from. Answers show it as `supersedes` instead. */
function shownFields(
  store: Store,
  stored: StoredGrain,
  { predecessor, successor }: { readonly predecessor: string | undefined; readonly successor: string | undefined },
): JsonObject {
  const fields = toApi(stored.grain, { predecessor });
  const verification = store.status.verification(stored.ordinal);
  if (verification !== '') fields['verification_status'] = verification;
  if (successor !== undefined) fields['superseded_by'] = successor;
  return fields;
}

/**
 * The hash among the sources that is the predecessor's. Answers do not show the hash of an erased one, which could confirm a
 * guess of the name that it had: the rest of its text is often that of the next version. The bytes of that version have it
 * still, because its own hash is of them (docs/erasure.md).
 */
function predecessorAddress(
  store: Store,
  memory: Memory,
  stored: StoredGrain,
): { readonly hash: string; readonly isErased?: true } | undefined {
  // A new version has its predecessor as the last of its sources.
  const sources = stored.grain.fields['derived_from'];
  const last = Array.isArray(sources) ? sources[sources.length - 1] : undefined;
  if (typeof last !== 'string') return undefined;
  const link = store.status.predecessor(memory.number, stored.ordinal);
  if (link === undefined) return undefined;
  // An upsert that replaced another grain has only sources of its own.
  const there = store.addressAt(link.oldOrdinal);
  if (there !== undefined) return { hash: there };
  const isErased = store.index.erased.get(link.oldOrdinal);
  // A removed predecessor leaves only its hash among the sources, unless an erasure removed that too. Then the last
  // source is another grain.
  const before = store.status.predecessor(memory.number, link.oldOrdinal);
  if (before !== undefined && memory.trail.addressNamed(before.newName) !== last) return undefined;
  if (before === undefined && isRedacted(stored.grain.fields)) return undefined;
  if (!isErased) return { hash: last };
  // A version that an erasure wrote names other sources only, and those that are here are seen to be none of the erased.
  return store.findOrdinal(memory.number, last) === undefined ? { hash: last, isErased } : undefined;
}

/** True for a version in which an erasure replaced a person's name by a fingerprint. */
function isRedacted({ subject, object }: StoredGrain['grain']['fields']): boolean {
  return [subject, object].some((side) => typeof side === 'string' && REDACTED.test(side));
}

const REDACTED = /^erased:[0-9a-f]{16}$/;
