// The owner's side of the copies of the control log: each one gets everything, and then each group of changes. A change is
// answered when every copy that may be in use has it. A node that is silent is waited for until its copy is too old to be used.
import { COPY_PART_BYTES, COPY_PART_RECORDS, COPY_WAIT_MS } from '../../../engine/base/limits.ts';
import type { ControlReader } from '../reading.ts';
import { entityId } from '../records.ts';
import type { CommittedChange } from '../store.ts';
import {
  COPIED_KINDS,
  type CopiedChange,
  type CopyReport,
  copiedOf,
  isCopied,
  type ToCopy,
  type ToLeader,
} from './messages.ts';
import { HeardReports } from './reports.ts';

export interface FeedOptions {
  readonly control: Pick<ControlReader, 'values'>;
  /** True when no other node can have had the log before, so that no copy of it is in use. */
  readonly isFirst: boolean;
  /** True while no other node can have the log: copies are told that they are up to date. */
  readonly mayConfirm: () => boolean;
  readonly heard: (report: CopyReport) => void;
  readonly nowMs?: (() => number) | undefined;
}

/** The owner's end of a connection to a node with a copy. */
export interface FeedEnd {
  readonly receive: (message: ToLeader) => void;
  readonly ended: () => void;
}

interface Copy {
  readonly send: (message: ToCopy) => void;
  isSubscribed: boolean;
  /** When it was told for the last time that it is up to date. */
  confirmedMs: number;
  taken: number;
  waiting: { readonly group: number; readonly over: () => void }[];
}

export class ControlFeed {
  readonly #options: FeedOptions;
  readonly #nowMs: () => number;
  /** The durable records: the tables of the store also have changes that may still be undone. */
  readonly #records = new Map<string, CopiedChange>();
  readonly #copies = new Set<Copy>();
  readonly #reports = new HeardReports();
  #group = 0;
  /** Until when copies may be in use that are not connected, or are those of an earlier owner. */
  #othersUntilMs: number;
  #isClosed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    for (const kind of COPIED_KINDS)
      for (const value of options.control.values(kind)) {
        const id = entityId(kind, value);
        if (isCopied(kind, id)) this.#records.set(`${kind} ${id}`, { kind, id, value } as CopiedChange); // of one table
      }
    this.#othersUntilMs = options.isFirst ? Number.NEGATIVE_INFINITY : this.#nowMs() + COPY_WAIT_MS;
  }

  /** Nodes that get changes. */
  get copies(): number {
    return [...this.#copies].filter(({ isSubscribed }) => isSubscribed).length;
  }

  /** A node has connected. */
  open(send: (message: ToCopy) => void): FeedEnd {
    const copy: Copy = { send, isSubscribed: false, confirmedMs: Number.NEGATIVE_INFINITY, taken: 0, waiting: [] };
    this.#copies.add(copy);
    return { receive: (message) => this.#receive(copy, message), ended: () => this.#ended(copy) };
  }

  /** Resolves when each copy that may be in use has these changes. They are durable. */
  async published(committed: readonly CommittedChange[]): Promise<void> {
    const changes = committed.flatMap((change) => copiedOf(change) ?? []);
    if (changes.length === 0) return;
    for (const change of changes) {
      const key = `${change.kind} ${change.id}`;
      if (change.value === null) this.#records.delete(key);
      else this.#records.set(key, change);
    }
    this.#group += 1;
    const group = this.#group;
    const waits = [this.#until(this.#othersUntilMs).done];
    for (const copy of this.#copies) {
      // Asked for everything, and has not got it yet: the changes come with it, or after it.
      if (copy.isSubscribed) copy.send({ is: 'group', group, changes });
      waits.push(this.#taken(copy, group));
    }
    await Promise.all(waits);
  }

  /** Copies are not confirmed any more. Groups that are published still wait until they are too old. */
  close(): void {
    this.#isClosed = true;
    for (const copy of this.#copies) copy.send({ is: 'closed' });
  }

  #receive(copy: Copy, message: ToLeader): void {
    switch (message.is) {
      case 'subscribe':
        this.#sendAll(copy);
        return;
      case 'taken':
        copy.taken = Math.max(copy.taken, message.group);
        this.#release(copy);
        return;
      case 'beat': {
        if (message.report !== undefined && this.#reports.isNew(message.report)) this.#options.heard(message.report);
        if (this.#isClosed) copy.send({ is: 'closed' });
        // One that does not take what it gets must not make the next change wait too.
        else if (copy.isSubscribed && copy.taken === this.#group && this.#options.mayConfirm()) {
          copy.confirmedMs = this.#nowMs();
          copy.send({ is: 'beat', beat: message.beat, group: this.#group });
        }
        return;
      }
      default:
        // A message of a newer version.
        return;
    }
  }

  #sendAll(copy: Copy): void {
    if (this.#isClosed) {
      copy.send({ is: 'closed' });
      return;
    }
    copy.isSubscribed = true;
    copy.send({ is: 'start' });
    for (const records of inParts(this.#records.values())) copy.send({ is: 'part', records });
    copy.send({ is: 'whole', group: this.#group });
  }

  #ended(copy: Copy): void {
    this.#copies.delete(copy);
    copy.isSubscribed = false;
    this.#othersUntilMs = Math.max(this.#othersUntilMs, copy.confirmedMs + COPY_WAIT_MS);
  }

  /** Resolves when the copy has the group, or is too old to be used. */
  async #taken(copy: Copy, group: number): Promise<void> {
    if (copy.taken >= group) return;
    const late = this.#until(copy.confirmedMs + COPY_WAIT_MS);
    const taken = new Promise<void>((over) => copy.waiting.push({ group, over }));
    await Promise.race([taken, late.done]);
    late.stop();
    copy.waiting = copy.waiting.filter((one) => one.group !== group);
  }

  #release(copy: Copy): void {
    for (const { group, over } of copy.waiting) if (group <= copy.taken) over();
  }

  #until(ms: number): { readonly done: Promise<void>; readonly stop: () => void } {
    let timer: NodeJS.Timeout | undefined;
    const done = new Promise<void>((resolve) => {
      const look = (): void => {
        const left = ms - this.#nowMs();
        if (left > 0) timer = setTimeout(look, Math.ceil(left));
        else resolve();
      };
      look();
    });
    return { done, stop: () => clearTimeout(timer) };
  }
}

/** A part ends after COPY_PART_RECORDS records or COPY_PART_BYTES bytes, so that no frame is too long. A longer record is a part by itself. */
function* inParts(records: Iterable<CopiedChange>): Generator<readonly CopiedChange[]> {
  let part: CopiedChange[] = [];
  let bytes = 0;
  for (const record of records) {
    const length = Buffer.byteLength(JSON.stringify(record));
    if (part.length === COPY_PART_RECORDS || (part.length > 0 && bytes + length > COPY_PART_BYTES)) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(record);
    bytes += length;
  }
  if (part.length > 0) yield part;
}
