// Sends grains to a server: gathers them by memory, sends batches with several in flight, and retries when the server
// is busy. Memory use is bounded: `add` waits while the sender is full.
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, failureOf } from '../failure.ts';

export interface Outgoing {
  readonly memory: string;
  readonly grainType: string;
  readonly fieldsJson: string;
  /** Line number in the file. */
  readonly line: number;
}

export interface ItemResult {
  readonly hash: string;
  readonly duplicate: boolean;
  /** Empty when the item was stored. */
  readonly errorCode: string;
  readonly errorMessage: string;
}

export interface SenderOptions {
  /** Sends one batch; results are in item order. Rejects with Failure. */
  readonly send: (memory: string, items: readonly Outgoing[]) => Promise<readonly ItemResult[]>;
  readonly onResult: (item: Outgoing, result: ItemResult) => void;
  /** Maximum items per batch, and maximum bytes of their fields. */
  readonly batchItemsMax: number;
  readonly batchBytesMax: number;
  readonly inFlightMax: number;
  /** Waits before retry number `attempt` (from 1). */
  readonly backOff?: ((attempt: number) => Promise<unknown>) | undefined;
}

/** Once this many bytes are gathered over all memories, the fullest batch leaves before it is full. */
const GATHERED_BYTES_MAX = 16 * 1_048_576;
const ATTEMPTS_MAX = 9;
const BACK_OFF_MS = 50;
/** Errors that every later batch would get too; they end the import. */
const ENDING = new Set(['AUT-E001', 'AUT-E002', 'AUT-E004', 'AUT-E005', 'NO-SERVER']);

interface Batch {
  items: Outgoing[];
  bytes: number;
}

export class Sender {
  readonly #options: SenderOptions;
  readonly #gathered = new Map<string, Batch>();
  #gatheredBytes = 0;
  readonly #inFlight = new Set<Promise<void>>();
  /** Batches sent and not answered. */
  readonly #unanswered = new Set<readonly Outgoing[]>();
  #ended: unknown;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Takes an item. Waits while too many batches are in flight. Rejects with the error that ended the import. */
  async add(item: Outgoing): Promise<void> {
    const bytes = item.fieldsJson.length;
    let batch = this.#gathered.get(item.memory);
    if (batch !== undefined && batch.bytes + bytes > this.#options.batchBytesMax) {
      await this.#leave(item.memory);
      batch = undefined;
    }
    if (batch === undefined) {
      batch = { items: [], bytes: 0 };
      this.#gathered.set(item.memory, batch);
    }
    batch.items.push(item);
    batch.bytes += bytes;
    this.#gatheredBytes += bytes;
    if (batch.items.length >= this.#options.batchItemsMax) await this.#leave(item.memory);
    // After the import has failed no batch leaves, so without the second condition this would loop forever.
    while (this.#gatheredBytes > GATHERED_BYTES_MAX && this.#ended === undefined) await this.#leave(this.#fullest());
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** Sends the remaining items and waits for every answer. Rejects with the error that ended the import. */
  async finish(): Promise<void> {
    for (const memory of [...this.#gathered.keys()]) await this.#leave(memory);
    await Promise.all(this.#inFlight);
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** The first line taken and not answered; all lines before it are done. Undefined when every line is answered. */
  get firstUnanswered(): number | undefined {
    let first: number | undefined;
    const look = (items: readonly Outgoing[]): void => {
      const line = items[0]?.line;
      if (line !== undefined && (first === undefined || line < first)) first = line;
    };
    for (const { items } of this.#gathered.values()) look(items);
    for (const items of this.#unanswered) look(items);
    return first;
  }

  #fullest(): string {
    let fullest = '';
    let bytes = -1;
    for (const [memory, batch] of this.#gathered)
      if (batch.bytes > bytes) {
        fullest = memory;
        bytes = batch.bytes;
      }
    return fullest;
  }

  async #leave(memory: string): Promise<void> {
    while (this.#inFlight.size >= this.#options.inFlightMax) await Promise.race(this.#inFlight);
    const batch = this.#gathered.get(memory);
    // After a fatal error no batch leaves; gathered items stay unanswered.
    if (batch === undefined || this.#ended !== undefined) return;
    this.#gathered.delete(memory);
    this.#gatheredBytes -= batch.bytes;
    this.#unanswered.add(batch.items);
    const sending = this.#send(memory, batch.items).then(
      () => {
        this.#unanswered.delete(batch.items);
      },
      (error: unknown) => {
        this.#ended ??= error;
      },
    );
    const settled: Promise<void> = sending.finally(() => this.#inFlight.delete(settled));
    this.#inFlight.add(settled);
  }

  async #send(memory: string, items: readonly Outgoing[]): Promise<void> {
    const { send, onResult, backOff = waitAWhile } = this.#options;
    let left = items;
    for (let attempt = 1; left.length > 0; attempt += 1) {
      if (attempt > 1) await backOff(attempt - 1);
      const isLast = attempt >= ATTEMPTS_MAX;
      try {
        const results = await send(memory, left);
        if (results.length !== left.length) throw new Failure('SYS-E001', 'the server did not answer every item');
        const again = left.filter((item, at) => {
          const result = results[at]!;
          if (!isLast && isForLater(result.errorCode)) return true;
          onResult(item, result);
          return false;
        });
        left = again;
      } catch (error) {
        const { code, text } = failureOf(error);
        if (error instanceof Failure && error.retryable && !isLast) continue;
        if (ENDING.has(code)) throw error;
        for (const item of left) onResult(item, { hash: '', duplicate: false, errorCode: code, errorMessage: text });
        return;
      }
    }
  }
}

function isForLater(code: string): boolean {
  return code === 'LIM-E001' || code === 'STO-E002';
}

/** Exponential delay up to a few seconds, with jitter so that importers do not retry in step. */
function waitAWhile(attempt: number): Promise<unknown> {
  const ms = Math.min(5_000, BACK_OFF_MS * 2 ** attempt);
  return sleep(ms / 2 + Math.random() * (ms / 2));
}
