// A log whose process can die: appends in flight are on disk or not, without an answer.
import { ForwardingLog } from '../../src/engine/log/forwarding-log.ts';
import type { Append, Log, Sequence } from '../../src/engine/log/log.ts';

const NEVER = new Promise<never>(() => undefined);

export class CrashLog extends ForwardingLog {
  readonly #onCrash: () => void;
  #appendsLeft = Number.POSITIVE_INFINITY;
  #written = false;
  #diesAlone = false;
  #dead = false;

  constructor(inner: Log, onCrash: () => void) {
    super(inner);
    this.#onCrash = onCrash;
  }

  /**
   * The process dies in the append after the next `appends` ones. `written`: that append reached the disk. `isAlone`: only the
   * shard dies.
   */
  crashAfter(appends: number, written: boolean, isAlone = false): void {
    this.#appendsLeft = appends;
    this.#written = written;
    this.#diesAlone = isAlone;
  }

  get diesAlone(): boolean {
    return this.#diesAlone;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  disarm(): void {
    this.#appendsLeft = Number.POSITIVE_INFINITY;
  }

  /** From now on nothing is answered or written. */
  kill(): void {
    this.#dead = true;
  }

  override async append(append: Append): Promise<Sequence> {
    if (this.#dead) return NEVER;
    if (this.#appendsLeft === 0) {
      this.#dead = true;
      if (this.#written) await this.inner.append(append);
      this.#onCrash();
      return NEVER;
    }
    this.#appendsLeft -= 1;
    const first = await this.inner.append(append);
    return this.#dead ? NEVER : first;
  }
}
