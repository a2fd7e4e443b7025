// Whether a data directory lies on a file system that other machines share. LMDB reads its file through a memory map,
// which machines do not see alike, and locks reach other machines only where the server of the file system passes them on.
import { statfsSync } from 'node:fs';

/** Linux's numbers of file systems (statfs, f_type). */
const NETWORK_TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
]);

/** Its name, or undefined for a disk of this machine and for what is not known. */
export function networkDiskOf(directory: string, look: (path: string) => { readonly type: number } = statfsSync) {
  if (process.platform !== 'linux') return undefined;
  return NETWORK_TYPES.get(look(directory).type >>> 0);
}
