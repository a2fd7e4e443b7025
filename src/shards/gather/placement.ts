// Maps a grain to a partition and a partition to a shard. Frozen: data on disk was placed by these functions, so their
// results must never change (test/golden/placement.json holds samples). The data directory records the number of
// shards, the memory's settings the number of partitions.
//
//   hash(x)            the first four bytes of SHA-256(x), as a big-endian number
//   shard of (m, p)    (hash(m as u32, big-endian) + p) mod S
//   partition          hash(UTF-8 of the grain's placement key) mod P
//   placement key      the canonical JSON of one of
//                        ["session", session_id]
//                        ["user", user_id]
//                        ["triple", namespace, subject, relation]
//                        ["grain", type, fields without created_at, nulls and the default namespace]
//                      the first whose parts are all there; an empty string counts as absent; all text in NFC, as the
//                      grain will have it, and subject and relation trimmed, as the triple index compares them
//
// `fields` are as the caller writes them, so a status or another name of a field makes another key (decision 208).
import { hash } from 'node:crypto';
import { assert } from '../../engine/base/assert.ts';
import { SHARDS_MAX } from '../../engine/base/limits.ts';
import { toNfc } from '../../engine/base/nfc.ts';
import type { JsonObject } from '../protocol.ts';

/** The parts of a grain that decide its partition. */
export interface Placed {
  readonly grainType: string;
  readonly fields: JsonObject;
}

/** The namespace and user that the caller is bound or narrowed to. The engine writes them into grains that do not set them. */
export interface Narrowing {
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
}

const NAMESPACE_DEFAULT = 'default';

/** Index of the shard that holds this partition of the memory with this number. */
export function shardOf(memory: number, partition: number, shards: number): number {
  assert(memory >>> 0 === memory, 'a memory number is a u32');
  assert(shards >= 1 && shards <= SHARDS_MAX, 'the number of shards is in range');
  assert(partition >= 0 && partition < shards, 'a partition is in range');
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(memory);
  return (hash32(bytes) + partition) % shards;
}

/** The partition, below `partitions`, that stores this idempotency key. */
export function keyPartition(key: string, partitions: number): number {
  return hash32(key) % partitions;
}

/** The partition, below `partitions`, of a new grain. A new version stays in the partition of its chain instead. */
export function partitionFor(grain: Placed, partitions: number, narrowing: Narrowing = {}): number {
  assert(partitions >= 1 && partitions <= SHARDS_MAX, 'the number of partitions is in range');
  return partitions === 1 ? 0 : hash32(toNfc(placementKey(grain, narrowing))) % partitions;
}

function placementKey({ grainType, fields }: Placed, narrowing: Narrowing): string {
  const session = text(fields['session_id']);
  if (session !== undefined) return canonicalJson(['session', session]);
  const user = text(fields['user_id']) ?? text(narrowing.userId);
  if (user !== undefined) return canonicalJson(['user', user]);
  const subject = text(trimmed(fields['subject']));
  const relation = text(trimmed(fields['relation']));
  const namespace = text(fields['namespace']) ?? text(narrowing.namespace) ?? NAMESPACE_DEFAULT;
  if (subject !== undefined && relation !== undefined) return canonicalJson(['triple', namespace, subject, relation]);
  // Drop differences that the grain's identity ignores: duplicates must reach the same partition.
  const identity: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== null) identity[name] = value;
  identity['namespace'] = namespace === NAMESPACE_DEFAULT ? undefined : namespace;
  identity['created_at'] = undefined;
  return canonicalJson(['grain', grainType, identity]);
}

function trimmed(value: unknown): unknown {
  return typeof value === 'string' ? value.trim() : value;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** JSON with object keys in code unit order, without undefined members. A bigint is written as its digits, a byte array as hex. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('hex'));
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}

function hash32(input: string | Uint8Array): number {
  return Number.parseInt(hash('sha256', input, 'hex').slice(0, 8), 16);
}
