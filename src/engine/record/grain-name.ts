// Names of grains in the log, for every place where the name may outlive the grain: audit entries, recall records,
// version links, the grain's own record. The plain hash would let anyone with a copy of the log guess an erased text by
// hashing candidates and comparing. So the hash is enciphered (crypto/trail-cipher.ts) under a key derived from the keys
// of the grain. While those keys exist, the name can be deciphered to the hash. Once one of them is destroyed, the name is
// 32 random bytes.
//
//   name    keys u8 | user key u32 | scope key u32 | partition u8 | enciphered hash 32
//           keys: bits for the optional members that follow: 1 the user's key, 2 the scope's, 4 a partition.
//           Without a user's key, the hash is enciphered under the memory's own trail key, which no rotation changes.
//           Names that another partition stores hold the grain's partition, since key ids belong to its shard.
//
// In texts a name is written in hex. It has 66 to 84 digits, never 64, so its length distinguishes it from a hash.
import { assert } from '../base/assert.ts';
import { defined } from '../base/defined.ts';

const USER = 1;
const SCOPE = 2;
const PARTITION = 4;
const ALL = USER | SCOPE | PARTITION;
const HASH_BYTES = 32;
const HASH_DIGITS = 64;

/** Ids of the keys that a name is enciphered under; 0 for none. */
export interface NameKeys {
  readonly user: number;
  readonly scope: number;
}

export interface GrainName {
  readonly keys: NameKeys;
  /** Absent in a name that its own partition stores. */
  readonly partition?: number;
  /** 32 bytes. */
  readonly enciphered: Uint8Array;
}

/** The name of a grain that was gone before it could be named. */
export const NO_NAME = '00'.repeat(1 + HASH_BYTES);

/** The most bytes of a name. */
export const NAME_BYTES_MAX = 10 + HASH_BYTES;

/** The name as hex. */
export function grainName({ keys, partition, enciphered }: GrainName): string {
  assert(enciphered.length === HASH_BYTES, 'a name holds a whole hash');
  const bytes = Buffer.allocUnsafe(NAME_BYTES_MAX);
  return bytes.toString('hex', 0, writeName(bytes, 0, { keys, partition, source: enciphered, from: 0 }));
}

/** A name whose enciphered hash begins at `from` in `source`. */
export interface PlacedName {
  readonly keys: NameKeys;
  readonly partition?: number | undefined;
  readonly source: Uint8Array;
  readonly from: number;
}

/** Writes a name at `start`. Returns its end. */
export function writeName(to: Buffer, start: number, { keys, partition, source, from }: PlacedName): number {
  const { user, scope } = keys;
  to[start] = (user === 0 ? 0 : USER) | (scope === 0 ? 0 : SCOPE) | (partition === undefined ? 0 : PARTITION);
  let at = start + 1;
  if (user !== 0) at = to.writeUInt32BE(user, at);
  if (scope !== 0) at = to.writeUInt32BE(scope, at);
  if (partition !== undefined) at = to.writeUInt8(partition, at);
  // A view of so few bytes costs more than the loop.
  for (let i = 0; i < HASH_BYTES; i++) to[at + i] = source[from + i]!;
  return at + HASH_BYTES;
}

/** The part before the enciphered hash in the name of a grain under these keys, as hex. */
export function namePrefix(keys: NameKeys): string {
  return grainName({ keys, enciphered: NO_HASH }).slice(0, -2 * HASH_BYTES);
}

const NO_HASH = new Uint8Array(HASH_BYTES);

/** Parses a name; undefined for text that is not a name, NO_NAME included. */
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
  return defined({
    keys: { user, scope },
    partition,
    enciphered: bytes.subarray(at),
  });
}

/** The length in bytes of the name that begins at `at`; undefined when none can begin there. */
export function nameBytesAt(bytes: ArrayLike<number>, at: number): number | undefined {
  const keys = bytes[at];
  if (keys === undefined || (keys & ~ALL) !== 0) return undefined;
  return 1 + (keys & USER ? 4 : 0) + (keys & SCOPE ? 4 : 0) + (keys & PARTITION ? 1 : 0) + HASH_BYTES;
}

/** The name in the form that other partitions store. */
export function nameIn(partition: number, name: string): string {
  const parsed = parseName(name);
  return parsed === undefined ? name : grainName({ ...parsed, partition });
}

/** The name in the form that its own partition stores. */
export function nameAtHome(name: string): string {
  const parsed = parseName(name);
  return parsed === undefined ? name : grainName({ keys: parsed.keys, enciphered: parsed.enciphered });
}

/** True for a plain hash, which older builds wrote in place of a name. */
export function isPlainHash(name: string): boolean {
  return name.length === HASH_DIGITS;
}
