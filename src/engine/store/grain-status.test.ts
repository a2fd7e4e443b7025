import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Keyed } from '../index/parts/part.ts';
import { grainName } from '../record/grain-name.ts';
import type { FurtherSourceRecord, StatusRecord, VerificationState } from '../record/record.ts';
import { encodeRecord } from '../record/record-codec.ts';
import { GrainStatus } from './grain-status.ts';

const MEMORY = 1;
const NAME = grainName({ keys: { user: 0, scope: 0 }, enciphered: new Uint8Array(32).fill(7) });

/** A log, and parts from the oldest to the newest that list some of its records under an ordinal. */
class Records {
  readonly log: { read(sequence: number): Uint8Array | undefined };
  readonly #written = new Map<number, Buffer>();
  readonly unreadable = new Set<number>();
  readonly superseded = new Set<number>();
  readonly removed = new Set<number>();
  readonly verifications = new Map<number, Exclude<VerificationState, ''>>();
  readonly #parts: Map<string, number[]>[] = [];

  constructor() {
    this.log = {
      read: (sequence) => {
        if (this.unreadable.has(sequence)) throw new Error(`record ${sequence} is damaged`);
        return this.#written.get(sequence);
      },
    };
  }

  /** Starts the next part. */
  part(): this {
    this.#parts.push(new Map());
    return this;
  }

  /** Writes a record, and lists it in the newest part under each of the keys. */
  write(record: StatusRecord | FurtherSourceRecord, ...keys: readonly (readonly [Keyed, number])[]): number {
    const sequence = 100 + this.#written.size;
    this.#written.set(sequence, encodeRecord(record));
    const part = this.#parts.at(-1);
    assert.ok(part);
    for (const [kind, ordinal] of keys) {
      const name = `${kind} ${ordinal}`;
      part.set(name, [...(part.get(name) ?? []), sequence]);
    }
    return sequence;
  }

  link(oldOrdinal: number, newOrdinal: number): StatusRecord {
    const link = { ...FLAG, oldOrdinal, newOrdinal, verification: '', newName: NAME } as const;
    this.write(link, ['status', oldOrdinal], ['predecessor', newOrdinal]);
    this.superseded.add(oldOrdinal);
    return link;
  }

  status(): GrainStatus {
    const { log, superseded, removed, verifications } = this;
    const bitmap = (set: Set<number>) => ({ get: (ordinal: number) => set.has(ordinal) });
    return new GrainStatus({
      log,
      index: {
        superseded: bitmap(superseded),
        removed: bitmap(removed),
        verificationOf: (ordinal) => verifications.get(ordinal),
      },
      parts: (memory) =>
        memory === MEMORY
          ? this.#parts.map((part) => ({ keyed: (kind, key) => part.get(`${kind} ${key}`) ?? [] }))
          : [],
      readRecord: (sequence) => (this.unreadable.has(sequence) ? undefined : log.read(sequence)),
    });
  }
}

const FLAG: StatusRecord = {
  kind: 'status',
  memory: MEMORY,
  oldOrdinal: 1,
  newOrdinal: 0,
  atMs: 1_700_000_000_000,
  verification: 'verified',
  newName: '',
};

const source = (ordinal: number): FurtherSourceRecord => ({
  kind: 'furtherSource',
  memory: MEMORY,
  ordinal,
  atMs: 1_700_000_000_000,
  name: NAME,
});

test('a version link is found from both ends, in whichever part it is', () => {
  const records = new Records().part();
  const first = records.link(1, 2);
  records.part();
  const second = records.link(2, 3);
  const status = records.status();
  assert.deepEqual(status.supersession(MEMORY, 1), first);
  assert.deepEqual(status.supersession(MEMORY, 2), second);
  assert.equal(status.supersession(MEMORY, 3), undefined);
  assert.equal(status.predecessor(MEMORY, 1), undefined);
  assert.deepEqual(status.predecessor(MEMORY, 2), first);
  assert.deepEqual(status.predecessor(MEMORY, 3), second);
  assert.equal(status.supersession(2, 1), undefined, 'another memory has other parts');
});

test('a verification flag that came later hides no version link', () => {
  const records = new Records().part();
  const link = records.link(1, 2);
  records.write(FLAG, ['status', 1]);
  records.part().write({ ...FLAG, verification: 'contested' }, ['status', 1]);
  assert.deepEqual(records.status().supersession(MEMORY, 1), link);
});

test('of several links the newest counts, and of a grain that is current again none', () => {
  const records = new Records().part();
  records.link(1, 2);
  const newest = records.link(1, 3);
  const status = records.status();
  assert.deepEqual(status.supersession(MEMORY, 1), newest);
  records.superseded.delete(1);
  assert.equal(status.supersession(MEMORY, 1), undefined);
});

test('a version link that cannot be read is an error, not an answer', () => {
  const records = new Records().part();
  records.link(1, 2);
  records.unreadable.add(100);
  assert.throws(() => records.status().supersession(MEMORY, 1), /record 100 is damaged/);
  assert.throws(() => records.status().predecessor(MEMORY, 2), /record 100 is damaged/);
});

test('the verification is the one of the index, and empty until it has one', () => {
  const records = new Records().part();
  records.verifications.set(1, 'retracted');
  assert.equal(records.status().verification(1), 'retracted');
  assert.equal(records.status().verification(2), '');
});

test('further sources come in the order of arrival, without removed and unreadable ones', () => {
  const records = new Records().part();
  const first = records.write(source(1), ['furtherSource', 1]);
  const removed = records.write(source(1), ['furtherSource', 1]);
  records.write(source(2), ['furtherSource', 2]);
  records.part();
  const unreadable = records.write(source(1), ['furtherSource', 1]);
  const last = records.write(source(1), ['furtherSource', 1]);
  records.removed.add(removed);
  records.unreadable.add(unreadable);
  assert.deepEqual(records.status().furtherSources(MEMORY, 1), [
    { sequence: first, name: NAME },
    { sequence: last, name: NAME },
  ]);
});
