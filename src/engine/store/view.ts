// A stored grain in the form that answers show.
import type { GrainView } from '../calls/grain.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import { toApi } from '../grain/api/output.ts';
import type { Memory } from './memory.ts';
import type { Store } from './store.ts';
import type { StoredGrain } from './stored-grain.ts';

/** The grain with default `fields` and its version links. */
export function viewGrain(store: Store, memory: Memory, stored: StoredGrain): GrainView {
  const { grain, ordinal } = stored;
  const link = store.status.supersession(memory.number, ordinal);
  const successor = link === undefined ? undefined : memory.trail.addressNamed(link.newName);
  const predecessor = predecessorAddress(store, memory, stored);
  const fields = shownFields(store, stored, { predecessor, successor });
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
  if (predecessor !== undefined) view.supersedes = predecessor;
  return view;
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

function predecessorAddress(store: Store, memory: Memory, stored: StoredGrain): string | undefined {
  // A new version has its predecessor as the last of its sources.
  const sources = stored.grain.fields['derived_from'];
  const last = Array.isArray(sources) ? sources[sources.length - 1] : undefined;
  if (typeof last !== 'string') return undefined;
  const link = store.status.predecessor(memory.number, stored.ordinal);
  if (link === undefined) return undefined;
  // An upsert that replaced another grain has only sources of its own.
  const there = store.addressAt(link.oldOrdinal);
  if (there !== undefined) return there;
  // A removed predecessor leaves only its hash among the sources, unless an erasure removed that too. Then the last
  // source is another grain.
  const before = store.status.predecessor(memory.number, link.oldOrdinal);
  if (before !== undefined) return memory.trail.addressNamed(before.newName) === last ? last : undefined;
  return isRedacted(stored.grain.fields) ? undefined : last;
}

/** True for a version in which an erasure replaced a person's name by a fingerprint. */
function isRedacted({ subject, object }: StoredGrain['grain']['fields']): boolean {
  return [subject, object].some((side) => typeof side === 'string' && REDACTED.test(side));
}

const REDACTED = /^erased:[0-9a-f]{16}$/;
