// Verifies a shard from end to end: every record's checksum, every blob against its address, the index against the log
// (each grain is found by its address), every block of every segment and of vectors, the audit chains, the keys. Seals,
// merges and erasures go on meanwhile.

import { EngineError } from '../../base/errors.ts';
import type { VerifyFinding, VerifyReport } from '../../calls/shard.ts';
import { lowerBound } from '../../index/text/tail.ts';
import type { VectorReport } from '../../index/vectors/vector-upkeep.ts';
import { CorruptRecord } from '../../log/log.ts';
import type { EngineRecord, GrainRecord } from '../../record/record.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import type { Store } from '../../store/store.ts';
import type { Housekeeper } from '../housekeeping/housekeeper.ts';
import { underLiveKey } from '../housekeeping/replay.ts';
import { inSlices } from '../housekeeping/slices.ts';
import { verifyAudit } from './verify-audit.ts';

/** Findings that a report lists. More are only counted. */
const FINDINGS_MAX = 1_000;

interface VerifyServices {
  readonly store: Store;
  readonly housekeeper: Housekeeper;
  readonly shard: number;
}

/** The last verification of each shard: they take turns, because each one takes slices of the worker's time. */
const last = new WeakMap<Store, Promise<unknown>>();

export async function verify(services: VerifyServices): Promise<VerifyReport> {
  const before = last.get(services.store);
  const turn = (before ?? Promise.resolve()).then(() => verifyNow(services));
  last.set(
    services.store,
    turn.catch(() => undefined),
  );
  return turn;
}

async function verifyNow({ store, housekeeper, shard }: VerifyServices): Promise<VerifyReport> {
  const findings: VerifyFinding[] = [];
  const found = (kind: VerifyFinding['kind'], where: string, problem: string): void => {
    if (findings.length < FINDINGS_MAX) findings.push({ shard, kind, where, problem });
  };
  // Checked first: a store whose own files are damaged cannot be read reliably.
  const beneath = store.log.checkFiles === undefined ? undefined : await inSlices(store.log.checkFiles());
  if (beneath !== undefined) {
    found('record', 'log', beneath);
    return { records: 0, grains: 0, blocks: 0, auditEntries: 0, findings };
  }
  // Segments come first: damaged blocks are dropped from their file when a read meets them.
  for (const problem of store.index.problems) found('segment', 'index', problem);
  const blocks = await inSlices(store.index.verify());
  for (const { where, problem } of blocks.findings) found('segment', where, problem);
  const vectors = await verifyVectors(store, housekeeper);
  for (const { where, problem } of vectors.findings) found('vectors', where, problem);
  const { records, grains } = await inSlices(verifyLog(store, found));
  let auditEntries = 0;
  for (const memory of [...store.memoryNumbers()]) {
    try {
      const { valid, checked, firstBadSeq } = await verifyAudit(store, memory, 0);
      auditEntries += checked;
      if (!valid) found('audit', `memory ${memory} seq ${firstBadSeq}`, 'the audit chain breaks here');
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      found('audit', `memory ${memory}`, `the audit chain cannot be followed: ${error.message}`);
    }
  }
  for (const { bucket, id, problem } of store.keys.verify())
    found('key', id === undefined ? `bucket ${bucket}` : `key ${id}`, problem);
  return { records, grains, blocks: blocks.blocks + vectors.blocks, auditEntries, findings };
}

/** One work on the vectors runs at a time. */
async function verifyVectors(store: Store, housekeeper: Housekeeper): Promise<VectorReport> {
  await housekeeper.pause();
  try {
    return await inSlices(store.vectors.verify((memory, ordinal) => wasGrain(store, memory, ordinal)));
  } finally {
    housekeeper.resume();
  }
}

/** Vectors of removed grains stay in their files until those are rewritten. */
function wasGrain(store: Store, memory: number, ordinal: number): boolean {
  return store.index.removed.get(ordinal) || (store.holds(memory) && holdsOrdinal(store, memory, ordinal));
}

function holdsOrdinal(store: Store, memory: number, ordinal: number): boolean {
  try {
    return store.parts(memory).some(({ ordinals, docCount }) => {
      const doc = lowerBound(ordinals, ordinal, 0, docCount);
      return doc < docCount && ordinals[doc] === ordinal;
    });
  } catch (error) {
    // A damaged index is reported separately. The facts that it cannot tell are no finding about vectors.
    if (error instanceof EngineError) return true;
    throw error;
  }
}

type Found = (kind: VerifyFinding['kind'], where: string, problem: string) => void;

function* verifyLog(store: Store, found: Found): Generator<void, { records: number; grains: number }, void> {
  const damaged = new Set<number>();
  let records = 0;
  let grains = 0;
  for (const item of store.log.scan(1, store.index.publishedSequence + 1)) {
    records += 1;
    if (item instanceof CorruptRecord) found('record', `sequence ${item.sequence}`, item.message);
    else {
      const record = decode(item.bytes, item.sequence, found);
      if (record?.kind === 'grain' && store.holds(record.memory)) {
        grains += 1;
        verifyGrain(store, item.sequence, record, { found, damaged });
      }
    }
    yield;
  }
  return { records, grains };
}

function decode(bytes: Uint8Array, sequence: number, found: Found): EngineRecord | undefined {
  try {
    return decodeRecord(bytes);
  } catch (error) {
    found('record', `sequence ${sequence}`, messageOf(error));
    return undefined;
  }
}

/**
 * `damaged`: memories with an index block that does not open. The check of the segments reports the block, not each
 * grain.
 */
function verifyGrain(
  store: Store,
  sequence: number,
  scanned: GrainRecord,
  { found, damaged }: { readonly found: Found; readonly damaged: Set<number> },
): void {
  let record: GrainRecord | undefined;
  try {
    record = underLiveKey(store, sequence, scanned);
  } catch (error) {
    found('record', `sequence ${sequence}`, messageOf(error));
  }
  if (record === undefined) return;
  const address = store.addressOf(record);
  const where = address === undefined ? `sequence ${sequence}` : `sequence ${sequence} hash ${address}`;
  const missing = [record.key, record.scopeKey].find((key) => key !== 0 && store.keys.state(key) === 'missing');
  if (missing !== undefined) {
    found('key', where, `key ${missing} is missing without a tombstone`);
    return;
  }
  try {
    // Opening it also checks its address.
    store.openBlob(store.memory(record.memory), record);
  } catch (error) {
    found('blob', where, messageOf(error));
    return;
  }
  if (store.index.removed.get(sequence) || damaged.has(record.memory)) return;
  try {
    if (address !== undefined && store.findOrdinal(record.memory, address) !== sequence)
      found('index', where, 'the address index does not find this grain');
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    damaged.add(record.memory);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
