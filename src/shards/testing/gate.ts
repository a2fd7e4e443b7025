// Holds a worker between two groups of writes until the test has sent more to it, or a commit until its engine closes.
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const NAME = 'gate between groups';
/** The value of a gate: nobody waits at an open one; a thread stops at a closed one and says so. */
const OPEN = 0;
const CLOSED = 1;
const REACHED = 2;

/** Made before the worker starts. */
export class Gate {
  readonly #state = new Int32Array(new SharedArrayBuffer(4));

  constructor() {
    setEnvironmentData(NAME, this.#state);
  }

  close(): void {
    Atomics.store(this.#state, 0, CLOSED);
  }

  /** Resolves when a worker stands at the closed gate. */
  async reached(): Promise<void> {
    while (Atomics.load(this.#state, 0) === CLOSED) await Atomics.waitAsync(this.#state, 0, CLOSED).value;
  }

  open(): void {
    Atomics.store(this.#state, 0, OPEN);
    Atomics.notify(this.#state, 0);
    setEnvironmentData(NAME, undefined);
  }
}

/** The worker's side: passes at once where the test made no gate. */
export function passGate(): void {
  const state = reachedGate();
  if (state !== undefined) Atomics.wait(state, 0, REACHED);
}

/** Tells the test that somebody stands at its closed gate, and returns the gate. Undefined at an open one, or where there is none. */
export function reachedGate(): Int32Array<SharedArrayBuffer> | undefined {
  const state = getEnvironmentData(NAME) as Int32Array<SharedArrayBuffer> | undefined; // set by a Gate alone
  if (state === undefined || Atomics.compareExchange(state, 0, CLOSED, REACHED) !== CLOSED) return undefined;
  Atomics.notify(state, 0);
  return state;
}
