// The users of a memory by name, for counting them and for listing those with a consent.
import { hash } from 'node:crypto';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import { open, sealKey } from '../../crypto/envelope.ts';
import { consentPage } from '../../govern/view.ts';
import { intersect } from '../../index/docs/docset.ts';
import type { IndexPart } from '../../index/parts/part.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { viewedSet } from '../../store/viewed-docs.ts';
import { type Binding, bindingOf, isBound } from '../../store/within.ts';

/** Bytes of the SHA-256 of a user id: enough to distinguish users within this process. */
export const USER_HASH_BYTES = 6;
const NOTHING = new Uint32Array(0);

/** The docs of a part that a bound caller sees, ascending. */
export function seenDocs(part: IndexPart, { namespace, userId, view }: Binding): Uint32Array {
  const lists: Uint32Array[] = [];
  if (namespace !== undefined) lists.push(part.facet('namespace', namespace) ?? NOTHING);
  if (userId !== undefined) lists.push(part.facet('user', userId) ?? NOTHING);
  const viewed = view === undefined ? undefined : viewedSet(part, view);
  if (viewed !== undefined && lists.length === 0) return viewed.toArray();
  const docs = intersect(lists);
  return viewed === undefined ? docs : viewed.among(docs);
}

/** Counts users with a live key and, for a bound caller, a grain that it sees. */
export function countUsers(store: Store, memory: Memory, binding: Binding): number {
  if (!isBound(binding)) return store.namedKeys.userCount(memory);
  let count = 0;
  for (const name of seenUsers(store, memory, binding)) if (name !== undefined) count += 1;
  return count;
}

/** The concatenated hashes of those users. Yields after each record that it reads. */
export function* userHashes(store: Store, memory: Memory, binding: Binding): Generator<void, Buffer, void> {
  const hashes: Buffer[] = [];
  for (const name of seenUsers(store, memory, binding)) {
    if (name !== undefined) hashes.push(hash('sha256', name, 'buffer').subarray(0, USER_HASH_BYTES));
    yield;
  }
  return Buffer.concat(hashes);
}

/** Undefined means a record without a user, so that a long walk can be interrupted. */
function* seenUsers(store: Store, memory: Memory, binding: Binding): Generator<string | undefined, void, void> {
  for (const name of userNames(store, memory)) {
    const isSeen = name !== undefined && (!isBound(binding) || hasSeenGrain(store, memory, name, binding));
    yield isSeen ? name : undefined;
  }
}

/** A page of the users with a consent; for a bound caller, of those of whom it sees a grain. Yields while it looks for them. */
export function* consentedUsers(
  store: Store,
  memory: Memory,
  context: CallContext,
  { all, ...asked }: MemoryCalls['consentPage']['input'],
): Generator<void, MemoryCalls['consentPage']['output'], void> {
  const { governed, settings } = memory;
  const page = all === true ? { ...asked, ...ALL } : asked;
  const binding = bindingOf(memory, context);
  if (!isBound(binding)) {
    const found = yield* consentPage(governed, page, undefined);
    return { ...found, mark: governed.consentsMark };
  }
  if (settings.partitions > 1 && all !== true) return { users: [], total: 0, more: false };
  return yield* consentPage(governed, page, (name) => hasSeenGrain(store, memory, name, binding));
}

const ALL = { order: 'asc', offset: 0, limit: Number.MAX_SAFE_INTEGER, after: undefined } as const;

/** True when the caller sees a grain of that user. */
export function hasSeenGrain(store: Store, memory: Memory, name: string, binding: Binding): boolean {
  if (binding.userId !== undefined && binding.userId !== name) return false;
  return store
    .parts(memory.number)
    .some((part) =>
      seenDocs(part, { ...binding, userId: name }).some((doc) => !store.index.removed.get(part.ordinals[doc]!)),
    );
}

/** The names of users with a live key. Undefined means a record without one. */
export function* userNames(store: Store, memory: Memory): Generator<string | undefined, void, void> {
  const seen = new Set<number>();
  for (const sequence of store.allKeyed(memory.number, 'userKey')) {
    const bytes = store.log.read(sequence);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    if (record?.kind === 'key' && record.action === 'made' && !seen.has(record.key) && isLive(store, record.key)) {
      seen.add(record.key);
      const key = store.keys.get(record.key);
      const name = open(sealKey(key), record.sealedName, Buffer.from(`key-name:${record.key}`));
      key.fill(0);
      yield name.toString('utf8');
    } else yield undefined;
  }
}

function isLive(store: Store, key: number): boolean {
  return store.keys.state(key) === 'live';
}
