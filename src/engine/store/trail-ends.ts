// The ends of the audit chains of a shard's memories: read from the log at first use, then kept.
import { GENESIS, type TrailEnd } from '../govern/trail/audit.ts';
import { decodeAuditBody } from '../govern/trail/audit-codec.ts';
import { eventCount } from '../govern/trail/event-kinds.ts';
import type { Log, Sequence } from '../log/log.ts';
import { decodeRecord } from '../record/record-codec.ts';

/** The parts of the store that find the last record of a chain. */
interface Trail {
  readonly log: Log;
  allKeyed(memory: number, kind: 'audit'): Sequence[];
  isDamaged(memory: number): boolean;
}

export class TrailEnds {
  readonly #store: Trail;
  readonly #ends = new Map<number, TrailEnd>();

  constructor(store: Trail) {
    this.#store = store;
  }

  /** The head of the memory's audit chain as committed, and the number of its newest event. */
  get(memory: number): TrailEnd {
    const known = this.#ends.get(memory);
    if (known !== undefined) return known;
    const last = this.#store.allKeyed(memory, 'audit').at(-1);
    const bytes = last === undefined ? undefined : this.#store.log.read(last);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    const { body, events } = record?.kind === 'audit' ? record : {};
    const entry = body === undefined ? undefined : decodeAuditBody(body).at(-1);
    const end: TrailEnd = {
      ...(entry === undefined ? GENESIS : { seq: entry.seq, hash: entry.hash }),
      events: events === undefined ? 0 : events.before + eventCount(events.marks),
    };
    // While a chunk cannot be read, the chain seems to end early. That end must not be cached.
    if (!this.#store.isDamaged(memory)) this.#ends.set(memory, end);
    return end;
  }

  set(memory: number, end: TrailEnd): void {
    this.#ends.set(memory, end);
  }

  forget(memory: number): void {
    this.#ends.delete(memory);
  }
}
