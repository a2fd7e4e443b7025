// The bytes of a recall record, before they are sealed.
import { Packr } from 'msgpackr';
import { assert } from '../../base/assert.ts';
import { nameBytesAt } from '../../record/grain-name.ts';
import { EXCLUSION_REASONS } from './exclusions.ts';
import { type KeptNames, type KeptRecall, QUERY_MODES } from './provenance.ts';

const packr = new Packr({ useRecords: false });
const HASH_BYTES = 32;

/**
 * The form on disk; a list of names is one run of bytes. `v` is absent in records of older builds, which list hashes.
 */
interface Packed {
  readonly v?: 2;
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
    v: 2,
    c: kept.candidateCount,
    e: nameRun(kept.excluded),
    x: Uint8Array.from(kept.excluded, ({ reason }) => EXCLUSION_REASONS.indexOf(reason)),
    k: kept.excludedCounts,
    m: QUERY_MODES.indexOf(kept.mode),
    n: kept.namespace,
    o: kept.nonce,
    p: kept.principal,
    q: kept.query,
    i: kept.requestId,
    r: nameRun(kept.results),
    f: kept.resultCount,
    s: kept.results.map(({ score }) => score),
    t: kept.timestamp,
  };
  return packr.pack(packed);
}

/** Decodes the result of `encodeRecall`. The authentication of the seal guarantees its shape. */
export function decodeRecall(bytes: Uint8Array): KeptRecall {
  const packed = packr.unpack(bytes) as Packed;
  const mode = QUERY_MODES[packed.m];
  assert(mode !== undefined, 'a record has a known mode');
  const namesOf = packed.v === 2 ? namesIn : hashesIn;
  return {
    candidateCount: packed.c,
    excluded: namesOf(packed.e).map((grain, i) => ({ grain, reason: EXCLUSION_REASONS[packed.x[i]!]! })),
    excludedCounts: packed.k,
    mode,
    namespace: packed.n,
    nonce: packed.o,
    principal: packed.p,
    query: packed.q,
    requestId: packed.i,
    results: namesOf(packed.r).map((grain, i) => ({ grain, score: packed.s[i] ?? [] })),
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

function nameRun(items: readonly { readonly grain: string }[]): Buffer {
  let names = '';
  for (const { grain } of items) names += grain;
  return Buffer.from(names, 'hex');
}

function namesIn(run: Uint8Array): string[] {
  const bytes = Buffer.from(run.buffer, run.byteOffset, run.length);
  const names: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = nameBytesAt(bytes, at);
    assert(length !== undefined, 'a run is of names');
    names.push(bytes.toString('hex', at, at + length));
    at += length;
  }
  return names;
}

function hashesIn(run: Uint8Array): string[] {
  const bytes = Buffer.from(run.buffer, run.byteOffset, run.length);
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, i) =>
    bytes.toString('hex', i * HASH_BYTES, (i + 1) * HASH_BYTES),
  );
}
