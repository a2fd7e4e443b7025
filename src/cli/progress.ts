// A progress line for long commands: on stderr, only on a terminal, at most a few updates per second.
import { bar, duration, number } from './output.ts';

const EVERY_MS = 120;
const BAR_COLUMNS = 24;

export class Progress {
  readonly #label: string;
  readonly #unit: string;
  readonly #shown: boolean;
  readonly #startedMs = performance.now();
  #lastMs = Number.NEGATIVE_INFINITY;

  /** `shown`: false to print nothing. */
  constructor(label: string, unit: string, shown = true) {
    this.#label = label;
    this.#unit = unit;
    this.#shown = shown && process.stderr.isTTY === true;
  }

  /** `share`: completed part, from 0 to 1; undefined when the total is unknown. */
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

  /** Erases the line. */
  end(): void {
    if (this.#shown) process.stderr.write('\r\x1b[K');
  }
}
