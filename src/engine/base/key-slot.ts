// The state of a key's slot, its first byte, for folders that keep slots and know nothing else of them.

/** The slot holds a tombstone: its key was destroyed. */
export const SLOT_DESTROYED = 2;

export function isTombstone(slot: Uint8Array): boolean {
  return slot[0] === SLOT_DESTROYED;
}
