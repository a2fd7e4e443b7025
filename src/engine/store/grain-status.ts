// The records of a shard that say what became of a grain: its version links, its verification, its further sources.
import type { Bitmap } from '../index/parts/bitmaps.ts';
import type { IndexPart, Keyed, Ordinal } from '../index/parts/part.ts';
import type { ShardIndex } from '../index/shard-index.ts';
import type { Log, Sequence } from '../log/log.ts';
import type { StatusRecord, VerificationState } from '../record/record.ts';
import { decodeRecord } from '../record/record-codec.ts';

/** A further source of a known grain, and its record. */
export interface FurtherSource {
  readonly sequence: Sequence;
  readonly name: string;
}

/** The parts of a store that find records about grains. */
interface StatusRecords {
  readonly log: Pick<Log, 'read'>;
  readonly index: Pick<ShardIndex, 'verificationOf'> & {
    readonly superseded: Pick<Bitmap, 'get'>;
    readonly removed: Pick<Bitmap, 'get'>;
  };
  parts(memory: number): readonly Pick<IndexPart, 'keyed'>[];
  readRecord(sequence: Sequence): Uint8Array | undefined;
}

export class GrainStatus {
  readonly #records: StatusRecords;

  constructor(records: StatusRecords) {
    this.#records = records;
  }

  /** The version link that superseded `ordinal`, or undefined while it is current. */
  supersession(memory: number, ordinal: Ordinal): StatusRecord | undefined {
    if (!this.#records.index.superseded.get(ordinal)) return undefined;
    return this.#newestLink(memory, 'status', ordinal, (record) => record.newOrdinal !== 0);
  }

  /** The version link that made `ordinal` a new version, or undefined for the root of a chain. */
  predecessor(memory: number, ordinal: Ordinal): StatusRecord | undefined {
    return this.#newestLink(memory, 'predecessor', ordinal, () => true);
  }

  /** The newest verification flag of a grain; '' when none was ever set. */
  verification(ordinal: Ordinal): VerificationState {
    return this.#records.index.verificationOf(ordinal) ?? '';
  }

  /** Records of the further sources of the grain at `ordinal`, in the order of their arrival. */
  furtherSources(memory: number, ordinal: Ordinal): FurtherSource[] {
    const sources: FurtherSource[] = [];
    for (const part of this.#records.parts(memory))
      for (const sequence of part.keyed('furtherSource', ordinal)) {
        if (this.#records.index.removed.get(sequence)) continue;
        const bytes = this.#records.readRecord(sequence);
        const record = bytes === undefined ? undefined : decodeRecord(bytes);
        if (record?.kind === 'furtherSource') sources.push({ sequence, name: record.name });
      }
    return sources;
  }

  #newestLink(
    memory: number,
    kind: Extract<Keyed, 'status' | 'predecessor'>,
    ordinal: Ordinal,
    wanted: (record: StatusRecord) => boolean,
  ): StatusRecord | undefined {
    const parts = this.#records.parts(memory);
    for (let i = parts.length - 1; i >= 0; i--) {
      const sequences = parts[i]!.keyed(kind, ordinal);
      for (let j = sequences.length - 1; j >= 0; j--) {
        const bytes = this.#records.log.read(sequences[j]!);
        const record = bytes === undefined ? undefined : decodeRecord(bytes);
        if (record?.kind === 'status' && wanted(record)) return record;
      }
    }
    return undefined;
  }
}
