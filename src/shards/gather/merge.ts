// Pure functions that merge the answers of several partitions into one. Lists are in partition order.
import { hash } from 'node:crypto';
import { assert } from '../../engine/base/assert.ts';
import { defined } from '../../engine/base/defined.ts';
import type {
  AuditCheck,
  EmbedderStamp,
  ErasureProof,
  MemoryStatistics,
  Output,
  RemovalPreview,
  SessionStatistics,
  TextStatistics,
} from '../protocol.ts';

/** Sum of the numeric member `key`. */
export function sumOf<K extends string>(parts: readonly Readonly<Record<K, number>>[], key: K): number {
  return parts.reduce((sum, part) => sum + part[key], 0);
}

/** Sums by key. A record without a key counts as 0 for it. */
export function sumByKey(parts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums = new Map<string, number>();
  for (const part of parts) {
    for (const [key, value] of Object.entries(part)) sums.set(key, (sums.get(key) ?? 0) + value);
  }
  // fromEntries defines an own property for every key, including `__proto__`.
  return Object.fromEntries(sums);
}

/**
 * The fingerprint of several destroyed keys: the first 16 hex digits of the SHA-256 of their concatenated fingerprints.
 * A single fingerprint stays as it is. '' from a partition without a key is ignored.
 */
export function mergeFingerprints(fingerprints: readonly string[]): string {
  const own = fingerprints.filter((fingerprint) => fingerprint !== '');
  if (own.length <= 1) return own[0] ?? '';
  return hash('sha256', own.join(''), 'hex').slice(0, 16);
}

/**
 * The proof of an erasure over all partitions. Its timestamp is the destruction of the last key. Partitions that never
 * had a key answer with the present time and are ignored. A repeat, which finds the tombstones, thus returns the
 * original timestamp, even if the first answers fell into different seconds.
 */
export function mergeProofs(proofs: readonly ErasureProof[]): ErasureProof {
  const first = proofs[0];
  assert(first !== undefined, 'a memory has a partition');
  const withKey = proofs.filter(({ keyFingerprint }) => keyFingerprint !== '');
  const timed = withKey.length > 0 ? withKey : proofs;
  const entry = proofs.find(({ auditEntryHash }) => auditEntryHash !== undefined)?.auditEntryHash;
  return defined({
    userId: first.userId,
    count: sumOf(proofs, 'count'),
    keyFingerprint: mergeFingerprints(proofs.map(({ keyFingerprint }) => keyFingerprint)),
    timestamp: Math.max(...timed.map(({ timestamp }) => timestamp)),
    auditEntryHash: entry,
  });
}

/** The preview of a removal over all partitions. */
export function mergePreviews(parts: readonly RemovalPreview[]): RemovalPreview {
  const byType: Record<string, number> = {};
  const scopes = new Map<string, number>();
  for (const part of parts) {
    for (const [type, count] of Object.entries(part.byType)) byType[type] = (byType[type] ?? 0) + count;
    for (const { path, count } of part.scopes ?? []) scopes.set(path, (scopes.get(path) ?? 0) + count);
  }
  const oldest = parts.flatMap(({ oldestMs }) => oldestMs ?? []);
  const newest = parts.flatMap(({ newestMs }) => newestMs ?? []);
  const [first] = parts;
  const hashes = first?.hashes === undefined ? undefined : [...new Set(parts.flatMap((part) => part.hashes ?? []))];
  return defined({
    count: sumOf(parts, 'count'),
    byType,
    oldestMs: oldest.length === 0 ? undefined : Math.min(...oldest),
    newestMs: newest.length === 0 ? undefined : Math.max(...newest),
    hashes,
    // A hash is missing only if no partition has it.
    notFound: hashes && foundNowhere(parts, hashes),
    path: first?.path,
    scopes: first?.scopes && [...scopes.keys()].sort().map((path) => ({ path, count: scopes.get(path) ?? 0 })),
  });
}

function foundNowhere(parts: readonly RemovalPreview[], found: readonly string[]): string[] {
  const gone = new Set(found);
  return [...new Set(parts.flatMap(({ notFound }) => notFound ?? []))].filter((hash) => !gone.has(hash));
}

/** Proofs by path. A scope with keys in several partitions gets the merged fingerprint of all of them. */
export function mergeScopeProofs(parts: readonly Output<'eraseScope'>[]): Output<'eraseScope'> {
  const [first] = parts;
  assert(first !== undefined, 'a memory has a partition');
  const proofs = parts.flatMap((part) => part.proofs);
  const paths = [...new Set(proofs.map(({ path }) => path))].sort();
  const proving = parts.filter((part) => part.proofs.length > 0);
  return {
    path: first.path,
    timestamp: Math.max(...(proving.length > 0 ? proving : parts).map(({ timestamp }) => timestamp)),
    proofs: paths.map((path) => {
      const ofPath = proofs.filter((proof) => proof.path === path);
      const keyFingerprint = mergeFingerprints(ofPath.map((proof) => proof.keyFingerprint));
      const isRepeat = ofPath.every((proof) => proof.isRepeat);
      const ofPartitions = ofPath.map((proof) => proof.keyFingerprint);
      return { path, count: sumOf(ofPath, 'count'), keyFingerprint, isRepeat, ofPartitions };
    }),
  };
}

/**
 * Sums of all partitions. A user with grains in several partitions (placed by session) is counted in each: use
 * countDistinct for the exact number.
 */
export function mergeStatistics(parts: readonly MemoryStatistics[]): MemoryStatistics {
  return {
    totalGrains: sumOf(parts, 'totalGrains'),
    diskSpaceBytes: sumOf(parts, 'diskSpaceBytes'),
    typeCounts: sumByKey(parts.map(({ typeCounts }) => typeCounts)),
    namespaces: [...new Set(parts.flatMap(({ namespaces }) => namespaces))].sort(),
    userCount: sumOf(parts, 'userCount'),
    supersededGrains: sumOf(parts, 'supersededGrains'),
    triples: sumOf(parts, 'triples'),
    ...sumOfKnown(parts, ['auditEntries', 'pendingWrites', 'vectors', 'purgePending', 'indexLag']),
  };
}

/** The sum of a member, if every partition gives it. */
function sumOfKnown<K extends keyof MemoryStatistics>(
  parts: readonly MemoryStatistics[],
  names: readonly K[],
): { readonly [N in K]?: number } {
  const sums: { [N in K]?: number } = {};
  for (const name of names) {
    const values = parts.map((part) => part[name]);
    if (values.every((value) => typeof value === 'number'))
      sums[name] = values.reduce<number>((sum, value) => sum + value, 0);
  }
  return sums;
}

/** Bytes of each user hash in the output of `users`. */
const HASH_BYTES = 6;

/** Number of distinct 6-byte hashes in these lists. */
export function countDistinct(lists: readonly Uint8Array[]): number {
  const hashes = new Float64Array(lists.reduce((sum, list) => sum + list.length / HASH_BYTES, 0));
  let at = 0;
  for (const list of lists) {
    const bytes = Buffer.from(list.buffer, list.byteOffset, list.length);
    // A double holds 48 bits exactly. With a million users, one count in 560 has a collision.
    for (let offset = 0; offset < bytes.length; offset += HASH_BYTES)
      hashes[at++] = bytes.readUIntBE(offset, HASH_BYTES);
  }
  hashes.sort();
  return hashes.reduce((count, value, index) => (index > 0 && value === hashes[index - 1] ? count : count + 1), 0);
}

const DAY_SECONDS = 86_400;

type History = Output<'statisticsHistory'>;
type HistoryPoint = History['points'][number];

/**
 * Sums for every time at which some partition has a point. A partition without one counts with its previous point, which may lie
 * before all of these times. Partitions that have one for each day give one for each day together.
 */
export function mergeHistories(parts: readonly History[]): History {
  const times = [...new Set(parts.flatMap(({ points }) => points.map(({ timestamp }) => timestamp)))];
  times.sort((a, b) => a - b);
  const points = times.map((timestamp) => {
    const levels = parts
      .map(({ points, before }) => points.findLast((point) => point.timestamp <= timestamp) ?? before)
      .filter((point): point is HistoryPoint => point !== undefined);
    return {
      timestamp,
      totalGrains: sumOf(levels, 'totalGrains'),
      diskSpaceBytes: sumOf(levels, 'diskSpaceBytes'),
      typeCounts: sumByKey(levels.map(({ typeCounts }) => typeCounts)),
    };
  });
  if (parts[0]?.isByDay !== true) return { points };
  const byDay = new Map(points.map((point) => [Math.floor(point.timestamp / DAY_SECONDS), point]));
  return { points: [...byDay.values()] };
}

/** Valid if every chain is valid. Otherwise names the first bad entry of the first broken chain, in partition order. */
export function mergeAuditChecks(checks: readonly AuditCheck[]): AuditCheck {
  const bad = checks.find(({ valid }) => !valid);
  return defined({
    valid: bad === undefined,
    checked: sumOf(checks, 'checked'),
    partition: bad?.partition ?? 0,
    firstBadSeq: bad?.firstBadSeq,
  });
}

/** The statistics of a query's words that BM25 needs, over all partitions. */
export function mergeTextStatistics(parts: readonly TextStatistics[]): TextStatistics {
  const pairs = parts.flatMap(({ pairFrequency }) => (pairFrequency === undefined ? [] : [pairFrequency]));
  return defined({
    docs: sumOf(parts, 'docs'),
    totalLength: sumOf(parts, 'totalLength'),
    documentFrequency: sumByKey(parts.map(({ documentFrequency }) => documentFrequency)),
    pairFrequency: pairs.length === 0 ? undefined : sumByKey(pairs),
    pooled: mergeSessionStatistics(parts.flatMap(({ pooled }) => (pooled === undefined ? [] : [pooled]))),
  });
}

/** A session is in one partition, so the counts add up. */
function mergeSessionStatistics(parts: readonly SessionStatistics[]): SessionStatistics | undefined {
  if (parts.length === 0) return undefined;
  return {
    sessions: sumOf(parts, 'sessions'),
    totalLength: sumOf(parts, 'totalLength'),
    sessionFrequency: sumByKey(parts.map(({ sessionFrequency }) => sessionFrequency)),
  };
}

/** Names each embedder once, even if several partitions serve its vectors. */
export function mergeVectorStates(answers: readonly Output<'vectorState'>[]): Output<'vectorState'> {
  const serving = new Map<string, EmbedderStamp>();
  for (const stamp of answers.flatMap((answer) => answer.serving))
    serving.set(`${stamp.name}/${stamp.dimensions}`, stamp);
  const isLoading = answers.some(({ loading }) => loading === true);
  return defined({
    serving: [...serving.values()],
    lag: sumOf(answers, 'lag'),
    loading: isLoading || undefined,
  });
}
