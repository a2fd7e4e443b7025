// How the log names a grain wherever the name may outlive the grain: audit entries, records of recalls, links between
// versions, the grain's own record. The hash itself would let anybody who holds a copy of the log guess an erased text: hash
// what it may have said, and compare. So the hash is enciphered (crypto/trail-cipher.ts) under a key that is derived from the
// keys that the grain lies under. While those exist the name tells the hash; once one is destroyed it is 32 random bytes.
//
//   name    keys u8 | user key u32 | scope key u32 | partition u8 | enciphered hash 32
//           keys says which of the three in the middle are there: 1 the user's key, 2 the scope's, 4 a partition.
//           Without a user's key the hash lies under the memory's own trail key, which no rotation changes.
//           A partition stands in names that another partition keeps: ids of keys are those of its shard.
//
// In texts a name is written as hex: 66 to 84 digits, never 64, so it is told from a hash by its length.
import { assert } from '../base/assert.ts';

const USER = 1;
const SCOPE = 2;
const PARTITION = 4;
const ALL = USER | SCOPE | PARTITION;
const HASH_BYTES = 32;
const HASH_DIGITS = 64;

/** Ids of the keys that a name lies under; 0 for none. */
export interface NameKeys {
  readonly user: number;
  readonly scope: number;
}

export interface GrainName {
  readonly keys: NameKeys;
  /** Absent in a name that its own partition keeps. */
  readonly partition?: number;
  /** 32 bytes. */
  readonly enciphered: Uint8Array;
}

/** Of a grain that was gone before it could be named. */
export const NO_NAME = '00'.repeat(1 + HASH_BYTES);

/** The name as hex. */
export function grainName({ keys: { user, scope }, partition, enciphered }: GrainName): string {
  assert(enciphered.length === HASH_BYTES, 'a name holds a whole hash');
  const bytes = Buffer.allocUnsafe(10 + HASH_BYTES);
  bytes[0] = (user === 0 ? 0 : USER) | (scope === 0 ? 0 : SCOPE) | (partition === undefined ? 0 : PARTITION);
  let at = 1;
  if (user !== 0) at = bytes.writeUInt32BE(user, at);
  if (scope !== 0) at = bytes.writeUInt32BE(scope, at);
  if (partition !== undefined) at = bytes.writeUInt8(partition, at);
  bytes.set(enciphered, at);
  return bytes.toString('hex', 0, at + HASH_BYTES);
}

/** What a name says; undefined for what is none, NO_NAME included. */
export function parseName(name: string): GrainName | undefined {
  const bytes = Buffer.from(name, 'hex');
  if (bytes.length * 2 !== name.length || nameBytesAt(bytes, 0) !== bytes.length || name === NO_NAME) return undefined;
  const keys = bytes[0]!;
  let at = 1;
  const id = (flag: number): number => {
    if ((keys & flag) === 0) return 0;
    at += 4;
    return bytes.readUInt32BE(at - 4);
  };
  const user = id(USER);
  const scope = id(SCOPE);
  const partition = (keys & PARTITION) === 0 ? undefined : bytes[at++]!;
  return {
    keys: { user, scope },
    ...(partition === undefined ? {} : { partition }),
    enciphered: bytes.subarray(at),
  };
}

/** How many bytes the name that begins at `at` has; undefined when none can begin there. */
export function nameBytesAt(bytes: ArrayLike<number>, at: number): number | undefined {
  const keys = bytes[at];
  if (keys === undefined || (keys & ~ALL) !== 0) return undefined;
  return 1 + (keys & USER ? 4 : 0) + (keys & SCOPE ? 4 : 0) + (keys & PARTITION ? 1 : 0) + HASH_BYTES;
}

/** The same name, as partitions other than its own keep it. */
export function nameIn(partition: number, name: string): string {
  const parsed = parseName(name);
  return parsed === undefined ? name : grainName({ ...parsed, partition });
}

/** The same name, as its own partition keeps it. */
export function nameAtHome(name: string): string {
  const parsed = parseName(name);
  return parsed === undefined ? name : grainName({ keys: parsed.keys, enciphered: parsed.enciphered });
}

/** True for a hash as older builds wrote it in a name's place. */
export function isPlainHash(name: string): boolean {
  return name.length === HASH_DIGITS;
}
