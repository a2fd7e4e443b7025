// A line that says how far a long command is: on stderr, on a terminal only, at most a few times a second.
import { bar, duration, number } from './output.ts';

const EVERY_MS = 120;
const BAR_COLUMNS = 24;

export class Progress {
  readonly #label: string;
  readonly #unit: string;
  readonly #shown: boolean;
  readonly #startedMs = performance.now();
  #lastMs = Number.NEGATIVE_INFINITY;

  /** `shown`: false where the caller wants quiet. */
  constructor(label: string, unit: string, shown = true) {
    this.#label = label;
    this.#unit = unit;
    this.#shown = shown && process.stderr.isTTY === true;
  }

  /** `share` of the whole from 0 to 1, or undefined when the whole is not known. */
  update(count: number, share: number | undefined): void {
    if (!this.#shown) return;
    const nowMs = performance.now();
    if (nowMs - this.#lastMs < EVERY_MS) return;
    this.#lastMs = nowMs;
    const seconds = (nowMs - this.#startedMs) / 1000;
    const rate = seconds < 0.5 ? '' : ` ${number(Math.round(count / seconds))}/s`;
    const left =
      share === undefined || share < 0.02 ? '' : `, ${duration((seconds * 1000 * (1 - share)) / share)} left`;
    const drawn = share === undefined ? '' : ` ${bar(share, BAR_COLUMNS)} ${Math.floor(share * 100)}%`;
    process.stderr.write(`\r\x1b[K${this.#label}${drawn} ${number(count)} ${this.#unit}${rate}${left}`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#shown) process.stderr.write('\r\x1b[K');
  }
}
