// The names of a shard's state entries in its log. They are on disk.

/** State entry: the id that the next key gets. */
export const NEXT_KEY_STATE = 'next-key';

/** State entry: a replaced index key, to be destroyed once no block of the memory is sealed under it. */
export function purgeState(memory: number, key: number): string {
  return `purge/${memory}/${key}`;
}

/** State entry: a replaced blob key of the memory, under which old grains are still sealed. */
export function oldBlobKeyState(memory: number, key: number): string {
  return `blob-key/${memory}/${key}`;
}

/** State entry: no record of the memory holds a plain hash any more, as older builds wrote them. */
export function namedState(memory: number): string {
  return `named/${memory}`;
}

export const DAMAGE_PREFIX = 'unsound/';

/** State entry: the reason why a memory's index must be rebuilt. */
export function damageState(memory: number): string {
  return `${DAMAGE_PREFIX}${memory}`;
}
