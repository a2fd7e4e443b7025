// The side of a node that has a copy of the control log: takes what the owner sends, in order, and asks it several times a second
// whether the copy is up to date.
import { COPY_BEAT_MS, COPY_RETRY_MS } from '../../../engine/base/limits.ts';
import type { CopiedChange, ToCopy, ToLeader } from './messages.ts';
import { type ControlReplica, type Moment, now } from './replica.ts';
import type { Reports } from './reports.ts';

export interface SubscriptionOptions {
  readonly replica: ControlReplica;
  readonly send: (message: ToLeader) => void;
  /** Of the requests here, for the owner of the log. */
  readonly reports?: Pick<Reports, 'next' | 'heard'> | undefined;
  readonly clocks?: (() => Moment) | undefined;
}

/** Questions that may be unanswered: later ones replace the oldest. */
const QUESTIONS_MAX = 32;

export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #clocks: () => Moment;
  readonly #timer: NodeJS.Timeout;
  #again: NodeJS.Timeout | undefined;
  /** When each unanswered question was sent. */
  readonly #questions = new Map<number, Moment>();
  #beat = 0;
  /** The report on its way, and the first question that it was sent with. */
  #reported: { readonly number: number; readonly beat: number } | undefined;
  /** The last group that was taken; undefined until everything has come. */
  #group: number | undefined;
  /** The records of everything that have come. */
  #coming: CopiedChange[] | undefined;
  #isEnded = false;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#clocks = options.clocks ?? now;
    this.#timer = setInterval(() => this.ask(), COPY_BEAT_MS);
    this.#timer.unref();
    this.#subscribe();
  }

  /** The connection has ended. The copy is used until it is too old: the owner counts on that. */
  end(): void {
    this.#isEnded = true;
    clearInterval(this.#timer);
    clearTimeout(this.#again);
  }

  /** Asks whether the copy is up to date. */
  ask(): void {
    if (this.#group === undefined || this.#isEnded) return;
    this.#beat += 1;
    this.#questions.set(this.#beat, this.#clocks());
    if (this.#questions.size > QUESTIONS_MAX) this.#questions.delete(this.#questions.keys().next().value ?? 0);
    const report = this.#options.reports?.next();
    if (report !== undefined && report.number !== this.#reported?.number)
      this.#reported = { number: report.number, beat: this.#beat };
    this.#options.send({ is: 'beat', beat: this.#beat, report });
  }

  receive(message: ToCopy): void {
    switch (message.is) {
      case 'start':
        this.#coming = [];
        return;
      case 'part':
        this.#coming?.push(...message.records);
        return;
      case 'whole':
        this.#takeAll(message.group);
        return;
      case 'group':
        this.#takeGroup(message.group, message.changes);
        return;
      case 'beat':
        this.#confirmed(message.beat, message.group);
        return;
      case 'closed':
        // Requests that have begun may end: the copy is used until it is too old, as when the connection breaks.
        this.#again ??= setTimeout(() => this.#subscribe(), COPY_RETRY_MS);
        return;
      default:
        // A message of a newer version.
        return;
    }
  }

  #subscribe(): void {
    this.#again = undefined;
    if (!this.#isEnded) this.#options.send({ is: 'subscribe' });
  }

  #takeAll(group: number): void {
    if (this.#coming === undefined) return;
    this.#options.replica.replace(this.#coming);
    this.#coming = undefined;
    this.#group = group;
    this.#questions.clear();
    this.#options.send({ is: 'taken', group });
    this.ask();
  }

  #takeGroup(group: number, changes: readonly CopiedChange[]): void {
    // Changes of before everything: they are in it.
    if (this.#group === undefined) return;
    if (group !== this.#group + 1) {
      this.#lost();
      this.#subscribe();
      return;
    }
    this.#options.replica.apply(changes);
    this.#group = group;
    this.#options.send({ is: 'taken', group });
  }

  #confirmed(beat: number, group: number): void {
    const reported = this.#reported;
    if (reported !== undefined && reported.beat <= beat) this.#options.reports?.heard(reported.number);
    const asked = this.#questions.get(beat);
    if (asked === undefined) return;
    for (const earlier of this.#questions.keys()) if (earlier <= beat) this.#questions.delete(earlier);
    if (group === this.#group) this.#options.replica.confirm(asked);
    else {
      this.#lost();
      this.#subscribe();
    }
  }

  /** A change may be missing. */
  #lost(): void {
    this.#group = undefined;
    this.#coming = undefined;
    this.#questions.clear();
    this.#options.replica.expire();
  }
}
