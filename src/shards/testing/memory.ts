// A memory for the tests of this folder.
import type { MemorySettings } from '../protocol.ts';

export const SETTINGS: MemorySettings = {
  number: 1,
  id: 'notes',
  partitions: 1,
  language: 'en',
  dedup: 'exact',
  dedupThreshold: 1,
  createdAtMs: 1_700_000_000_000,
};
