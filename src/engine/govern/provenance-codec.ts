// The bytes of a recall's record, before they are sealed.
import { Packr } from 'msgpackr';
import { assert } from '../assert.ts';
import { EXCLUSION_REASONS } from './exclusions.ts';
import { type KeptNames, type KeptRecall, QUERY_MODES } from './provenance.ts';

const packr = new Packr({ useRecords: false });
const HASH_BYTES = 32;

/** On disk; lists of hashes as one run of bytes. */
interface Packed {
  readonly c: number;
  readonly e: Uint8Array;
  readonly x: Uint8Array;
  readonly k: KeptRecall['excludedCounts'];
  readonly m: number;
  readonly n: string;
  readonly o: number;
  readonly p: string;
  readonly q: KeptRecall['query'];
  readonly i: string;
  readonly r: Uint8Array;
  readonly f: number;
  readonly s: readonly (readonly number[])[];
  readonly t: number;
}

export function encodeRecall(kept: KeptRecall): Buffer {
  const packed: Packed = {
    c: kept.candidateCount,
    e: hashBytes(kept.excluded),
    x: Uint8Array.from(kept.excluded, ({ reason }) => EXCLUSION_REASONS.indexOf(reason)),
    k: kept.excludedCounts,
    m: QUERY_MODES.indexOf(kept.mode),
    n: kept.namespace,
    o: kept.nonce,
    p: kept.principal,
    q: kept.query,
    i: kept.requestId,
    r: hashBytes(kept.results),
    f: kept.resultCount,
    s: kept.results.map(({ score }) => score),
    t: kept.timestamp,
  };
  return packr.pack(packed);
}

/** What `encodeRecall` made: the seal's authentication is the check of its shape. */
export function decodeRecall(bytes: Uint8Array): KeptRecall {
  const packed = packr.unpack(bytes) as Packed;
  const mode = QUERY_MODES[packed.m];
  assert(mode !== undefined, 'a record has a known mode');
  return {
    candidateCount: packed.c,
    excluded: hashesOf(packed.e).map((hash, i) => ({ hash, reason: EXCLUSION_REASONS[packed.x[i]!]! })),
    excludedCounts: packed.k,
    mode,
    namespace: packed.n,
    nonce: packed.o,
    principal: packed.p,
    query: packed.q,
    requestId: packed.i,
    results: hashesOf(packed.r).map((hash, i) => ({ hash, score: packed.s[i] ?? [] })),
    resultCount: packed.f,
    timestamp: packed.t,
  };
}

export function encodeNames(names: KeptNames): Buffer {
  return Buffer.from(JSON.stringify(names));
}

export function decodeNames(bytes: Uint8Array): KeptNames {
  return JSON.parse(Buffer.from(bytes).toString()) as KeptNames; // as `encodeNames` made it
}

function hashBytes(items: readonly { readonly hash: string }[]): Buffer {
  let hashes = '';
  for (const { hash } of items) hashes += hash;
  return Buffer.from(hashes, 'hex');
}

function hashesOf(run: Uint8Array): string[] {
  const bytes = Buffer.from(run.buffer, run.byteOffset, run.length);
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, i) =>
    bytes.toString('hex', i * HASH_BYTES, (i + 1) * HASH_BYTES),
  );
}
