// Detects a data directory on a network file system. LMDB reads its file through a memory map, which is not coherent
// between machines, and locks may not reach other machines.
import { statfsSync } from 'node:fs';

/** Linux's file system numbers (statfs, f_type). */
const NETWORK_TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
]);

/** Name of the network file system; undefined for a local or unknown one. */
export function networkDiskOf(directory: string, look: (path: string) => { readonly type: number } = statfsSync) {
  if (process.platform !== 'linux') return undefined;
  return NETWORK_TYPES.get(look(directory).type >>> 0);
}
