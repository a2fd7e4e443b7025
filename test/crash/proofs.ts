// Searches the key files for keys of erased users.
import { join } from 'node:path';
import { KeyStore } from '../../src/engine/keys/key-store.ts';
import type { MasterKey } from '../../src/engine/keys/master-key.ts';
import type { Knowledge } from './knowledge.ts';

/** Erased users whose key has no tombstone, in words. */
export function lostProofs(keys: string, shards: number, master: MasterKey, knowledge: Knowledge): string[] {
  const destroyed = new Set<string>();
  for (let shard = 0; shard < shards; shard++) {
    const store = KeyStore.open(join(keys, `shard-${shard}`), master);
    for (const { fingerprint } of store.tombstones()) destroyed.add(fingerprint);
    store.close();
  }
  return unprovenErasures(destroyed, knowledge);
}

/** Erased users whose key is not among the destroyed ones, by fingerprint, in words. */
export function unprovenErasures(destroyed: ReadonlySet<string>, knowledge: Knowledge): string[] {
  return knowledge.memories.flatMap(({ model, users }) =>
    users.flatMap(({ name }) => {
      const proof = model.isErased(name) ? model.fingerprintOf(name) : undefined;
      if (proof === undefined || destroyed.has(proof)) return [];
      return [`${name} was erased, and key ${proof} has no tombstone`];
    }),
  );
}
