// The answers of several partitions, give me the one answer. Pure. Lists are in partition order.
import { hash } from 'node:crypto';
import { assert } from '../../engine/base/assert.ts';
import type {
  AuditCheck,
  EmbedderStamp,
  ErasureProof,
  MemoryStatistics,
  Output,
  RemovalPreview,
  TextStatistics,
} from '../protocol.ts';

/** Sums of the members that all these have as numbers. */
export function sumOf<K extends string>(parts: readonly Readonly<Record<K, number>>[], key: K): number {
  return parts.reduce((sum, part) => sum + part[key], 0);
}

/** Sums by key, over records that may lack some. */
export function sumByKey(parts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums = new Map<string, number>();
  for (const part of parts) {
    for (const [key, value] of Object.entries(part)) sums.set(key, (sums.get(key) ?? 0) + value);
  }
  // fromEntries makes own properties of any key, `__proto__` too.
  return Object.fromEntries(sums);
}

/**
 * The fingerprint of several destroyed keys: the first 16 hex of SHA-256 over their fingerprints, concatenated. A
 * single one is itself; partitions without a key have ''.
 */
export function mergeFingerprints(fingerprints: readonly string[]): string {
  const own = fingerprints.filter((fingerprint) => fingerprint !== '');
  if (own.length <= 1) return own[0] ?? '';
  return hash('sha256', own.join(''), 'hex').slice(0, 16);
}

/**
 * The proof of an erasure over all partitions. Its time is when the last of the destroyed keys was destroyed:
 * partitions that never had a key answer with the present time and are left out. So a repeat, which finds the
 * tombstones, tells the original time, also when the first answers fell into different seconds.
 */
export function mergeProofs(proofs: readonly ErasureProof[]): ErasureProof {
  const first = proofs[0];
  assert(first !== undefined, 'a memory has a partition');
  const withKey = proofs.filter(({ keyFingerprint }) => keyFingerprint !== '');
  const timed = withKey.length > 0 ? withKey : proofs;
  const entry = proofs.find(({ auditEntryHash }) => auditEntryHash !== undefined)?.auditEntryHash;
  return {
    userId: first.userId,
    count: sumOf(proofs, 'count'),
    keyFingerprint: mergeFingerprints(proofs.map(({ keyFingerprint }) => keyFingerprint)),
    timestamp: Math.max(...timed.map(({ timestamp }) => timestamp)),
    ...(entry === undefined ? {} : { auditEntryHash: entry }),
  };
}

/** What would go from all of them together. */
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
  return {
    count: sumOf(parts, 'count'),
    byType,
    ...(oldest.length === 0 ? {} : { oldestMs: Math.min(...oldest) }),
    ...(newest.length === 0 ? {} : { newestMs: Math.max(...newest) }),
    // What one partition has not may be in another.
    ...(hashes === undefined ? {} : { hashes, notFound: foundNowhere(parts, hashes) }),
    ...(first?.path === undefined ? {} : { path: first.path }),
    ...(first?.scopes === undefined
      ? {}
      : { scopes: [...scopes.keys()].sort().map((path) => ({ path, count: scopes.get(path) ?? 0 })) }),
  };
}

function foundNowhere(parts: readonly RemovalPreview[], found: readonly string[]): string[] {
  const gone = new Set(found);
  return [...new Set(parts.flatMap(({ notFound }) => notFound ?? []))].filter((hash) => !gone.has(hash));
}

/** By path. A scope that has a key in several partitions has the fingerprint of all of them. */
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
      return { path, count: sumOf(ofPath, 'count'), keyFingerprint, isRepeat };
    }),
  };
}

/** Sums. A user whose grains lie in several partitions (by their sessions) is in the sum of each: see countDistinct. */
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

/** Sums of members that every partition tells, or none. */
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

/** Bytes of a user's hash: what `users` gives. */
const HASH_BYTES = 6;

/** How many different hashes of 6 bytes these lists hold together. */
export function countDistinct(lists: readonly Uint8Array[]): number {
  const hashes = new Float64Array(lists.reduce((sum, list) => sum + list.length / HASH_BYTES, 0));
  let at = 0;
  for (const list of lists) {
    const bytes = Buffer.from(list.buffer, list.byteOffset, list.length);
    // A double holds them exactly. Among a million users two meet once in 560 counts.
    for (let offset = 0; offset < bytes.length; offset += HASH_BYTES)
      hashes[at++] = bytes.readUIntBE(offset, HASH_BYTES);
  }
  hashes.sort();
  return hashes.reduce((count, value, index) => (index > 0 && value === hashes[index - 1] ? count : count + 1), 0);
}

type History = Output<'statisticsHistory'>;
type HistoryPoint = History['points'][number];

/** Sums at every time that any partition has a point for; one without counts as it last was. */
export function mergeHistories(parts: readonly History[]): History {
  const times = [...new Set(parts.flatMap(({ points }) => points.map(({ timestamp }) => timestamp)))];
  times.sort((a, b) => a - b);
  const points = times.map((timestamp) => {
    const levels = parts
      .map((part) => part.points.findLast((point) => point.timestamp <= timestamp))
      .filter((point): point is HistoryPoint => point !== undefined);
    return {
      timestamp,
      totalGrains: sumOf(levels, 'totalGrains'),
      diskSpaceBytes: sumOf(levels, 'diskSpaceBytes'),
      typeCounts: sumByKey(levels.map(({ typeCounts }) => typeCounts)),
    };
  });
  return { points };
}

/** Valid when every chain is; otherwise with the first bad entry of the first partition whose chain is broken. */
export function mergeAuditChecks(checks: readonly AuditCheck[]): AuditCheck {
  const bad = checks.find(({ valid }) => !valid);
  return {
    valid: bad === undefined,
    checked: sumOf(checks, 'checked'),
    partition: bad?.partition ?? 0,
    ...(bad?.firstBadSeq === undefined ? {} : { firstBadSeq: bad.firstBadSeq }),
  };
}

/** What BM25 wants to know of a query's words, over all partitions. */
export function mergeTextStatistics(parts: readonly TextStatistics[]): TextStatistics {
  const pairs = parts.flatMap(({ pairFrequency }) => (pairFrequency === undefined ? [] : [pairFrequency]));
  return {
    docs: sumOf(parts, 'docs'),
    totalLength: sumOf(parts, 'totalLength'),
    documentFrequency: sumByKey(parts.map(({ documentFrequency }) => documentFrequency)),
    ...(pairs.length === 0 ? {} : { pairFrequency: sumByKey(pairs) }),
  };
}

/** Partitions that serve vectors of several embedders name each of them once. */
export function mergeVectorStates(answers: readonly Output<'vectorState'>[]): Output<'vectorState'> {
  const serving = new Map<string, EmbedderStamp>();
  for (const stamp of answers.flatMap((answer) => answer.serving))
    serving.set(`${stamp.name}/${stamp.dimensions}`, stamp);
  const isLoading = answers.some(({ loading }) => loading === true);
  return {
    serving: [...serving.values()],
    lag: sumOf(answers, 'lag'),
    ...(isLoading ? { loading: true as const } : {}),
  };
}
