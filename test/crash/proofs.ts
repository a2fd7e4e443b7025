// Searches the key files for keys of erased users.
import { join } from 'node:path';
import { KeyStore } from '../../src/engine/keys/key-store.ts';
import type { MasterKey } from '../../src/engine/keys/master-key.ts';
import type { Model } from './model.ts';

/** Erased users whose key has no tombstone, in words. */
export function lostProofs(keys: string, shards: number, master: MasterKey, model: Model): string[] {
  const destroyed = new Set<string>();
  for (let shard = 0; shard < shards; shard++) {
    const store = KeyStore.open(join(keys, `shard-${shard}`), master);
    for (const { fingerprint } of store.tombstones()) destroyed.add(fingerprint);
    store.close();
  }
  return unprovenErasures(destroyed, model);
}

/** Erased users whose key is not among the destroyed ones, by fingerprint, in words. */
export function unprovenErasures(destroyed: ReadonlySet<string>, model: Model): string[] {
  const erased = model.memories.flatMap((memory) => memory.users).filter((user) => user.proof !== undefined);
  return erased
    .filter(({ proof }) => !destroyed.has(proof!))
    .map(({ name, proof }) => `${name} was erased, and key ${proof} has no tombstone`);
}
