// Reports of events on nodes with a copy of the control log. A node sends each one with its questions until one of them is answered,
// so a connection that breaks loses none. Its number lets the owner count it once.
import { randomUUID } from 'node:crypto';
import { COPY_SENDERS_MAX } from '../../../engine/base/limits.ts';
import type { CopyReport, SentReport } from './messages.ts';

/** The node's side. */
export class Reports {
  readonly #sender = randomUUID();
  readonly #take: () => CopyReport | undefined;
  #number = 0;
  #unheard: SentReport | undefined;

  /** `take` gives the events since its last call; undefined without any. */
  constructor(take: () => CopyReport | undefined) {
    this.#take = take;
  }

  /** The one that the owner may not have. Later events wait where they are counted. */
  next(): SentReport | undefined {
    if (this.#unheard !== undefined) return this.#unheard;
    const report = this.#take();
    if (report === undefined) return undefined;
    this.#number += 1;
    this.#unheard = { ...report, sender: this.#sender, number: this.#number };
    return this.#unheard;
  }

  /** The owner has the report of this number. */
  heard(number: number): void {
    if (this.#unheard?.number === number) this.#unheard = undefined;
  }
}

/** The owner's side. */
export class HeardReports {
  /** The newest number of each sender. */
  readonly #newest = new Map<string, number>();

  /** True for a report that has not come before. One of an older version has no number. */
  isNew({ sender, number }: Partial<SentReport>): boolean {
    if (sender === undefined || number === undefined) return true;
    if (number <= (this.#newest.get(sender) ?? 0)) return false;
    this.#newest.delete(sender);
    this.#newest.set(sender, number);
    if (this.#newest.size > COPY_SENDERS_MAX) this.#newest.delete(this.#newest.keys().next().value ?? '');
    return true;
  }
}
