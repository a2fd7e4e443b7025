// The keys of users and scopes during a group: found in the memory, in the group's own changes, or created with the group.
import { seal } from '../crypto/envelope.ts';
import type { Sequence } from '../log/log.ts';
import type { EngineRecord } from '../record/record.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';

/** Where named keys are cached and found. */
const KEY_NAMES = {
  user: { cache: 'userKeys', keyed: 'userKey' },
  scope: { cache: 'scopeKeys', keyed: 'scopeKey' },
} as const;

/** The named keys that a group creates, by their names. */
interface PlannedKeys {
  readonly userKeys: Map<string, number>;
  readonly scopeKeys: Map<string, number>;
}

/** The parts of a group that named keys need. */
interface KeyedGroup {
  readonly store: Pick<Store, 'index' | 'keys' | 'namedKeys'>;
  readonly nowMs: number;
  overlay(memory: Memory): PlannedKeys;
  peek(memory: Memory): PlannedKeys | undefined;
  record(record: EngineRecord): Sequence;
  keyAllocated(): void;
  onPublish(step: () => void): void;
}

/** The id of the user's live key, if any, the group's included. */
export function liveKeyOf(group: KeyedGroup, memory: Memory, userId: string): number | undefined {
  const { store } = group;
  const known = group.peek(memory)?.userKeys.get(userId) ?? memory.userKeys.get(userId);
  if (known !== undefined) return known;
  const committed = store.namedKeys.user(memory, userId);
  return committed?.live === true && !store.keys.isGone(committed.key) ? committed.key : undefined;
}

/** The id of the live key of a user or scope, created with the group if there is none. */
export function keyNamed(group: KeyedGroup, memory: Memory, keyKind: 'user' | 'scope', name: string): number {
  const { store } = group;
  const kind = KEY_NAMES[keyKind];
  const planned = group.overlay(memory)[kind.cache];
  const cache = memory[kind.cache];
  const known = planned.get(name) ?? cache.get(name);
  if (known !== undefined) return known;
  const committed = keyKind === 'user' ? store.namedKeys.user(memory, name) : store.namedKeys.scope(memory, name);
  if (committed?.live === true) {
    cache.set(name, committed.key);
    return committed.key;
  }
  const { id, key } = store.keys.allocate(keyKind);
  group.keyAllocated();
  const token = keyKind === 'user' ? memory.userToken(name) : memory.scopeToken(name);
  const sequence = group.record({
    kind: 'key',
    memory: memory.number,
    key: id,
    keyKind,
    action: 'made',
    atMs: group.nowMs,
    token: Buffer.from(token, 'hex'),
    fingerprint: Buffer.alloc(8),
    sealedName: seal(key, Buffer.from(name), Buffer.from(`key-name:${id}`)),
  });
  planned.set(name, id);
  group.onPublish(() => {
    store.index.publishKeyed(memory.number, kind.keyed, token, sequence);
    cache.set(name, id);
  });
  return id;
}
