// Limits how much text of a memory models read: calls a minute and characters a day. After several failures in a row no call
// is made for a while, so that a service that is down delays few texts.
import { EngineError } from '../../../engine/base/errors.ts';
import { EXTRACT_MODEL_FAILURES_MAX, EXTRACT_MODEL_PAUSE_MS } from '../../../engine/base/limits.ts';

interface Spent {
  minute: number;
  calls: number;
  chars: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export interface BudgetLimits {
  /** Calls a minute of one memory; 0: any number. */
  readonly callsPerMinute: number;
  /** Characters a day of one memory; 0: any number. */
  readonly charsPerDay: number;
}

export class ExtractionBudget {
  readonly #limits: BudgetLimits;
  readonly #nowMs: () => number;
  /** By memory, of those that spent something today. */
  readonly #spent = new Map<number, Spent>();
  #today = 0;
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(limits: BudgetLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** Takes one call for so many characters. Throws LIM-E001 when it is more than allowed, LLM-E002 during a pause. */
  take(memory: number, chars: number): void {
    const nowMs = this.#nowMs();
    if (nowMs < this.#pausedUntilMs)
      throw new EngineError('LLM-E002', 'the model failed several times in a row, so it is not called for a while');
    const spent = this.#spentOf(memory, nowMs);
    const { callsPerMinute, charsPerDay } = this.#limits;
    if (callsPerMinute > 0 && spent.calls >= callsPerMinute)
      throw new EngineError('LIM-E001', `the memory's ${callsPerMinute} calls a minute for extraction are used up`);
    if (charsPerDay > 0 && spent.chars + chars > charsPerDay)
      throw new EngineError('LIM-E001', `the memory's ${charsPerDay} characters a day for extraction are used up`);
    spent.calls += 1;
    spent.chars += chars;
  }

  #spentOf(memory: number, nowMs: number): Spent {
    const day = Math.floor(nowMs / DAY_MS);
    if (day !== this.#today) this.#spent.clear();
    this.#today = day;
    let spent = this.#spent.get(memory);
    if (spent === undefined) {
      spent = { minute: 0, calls: 0, chars: 0 };
      this.#spent.set(memory, spent);
    }
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (spent.minute !== minute) Object.assign(spent, { minute, calls: 0 });
    return spent;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#failures < EXTRACT_MODEL_FAILURES_MAX) return;
    this.#failures = 0;
    this.#pausedUntilMs = this.#nowMs() + EXTRACT_MODEL_PAUSE_MS;
  }
}
