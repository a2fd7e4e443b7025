// Bounds how long callers wait.
import { EngineError } from '../engine/base/errors.ts';
import { type Expiring, Expiry } from './expiry.ts';

export class Deadlines {
  readonly #expiry = new Expiry();

  /** Settles like `work`, or rejects with SYS-E005 after `waitMs`; the work itself continues. */
  race<T>(work: Promise<T>, waitMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const late: Expiring = { expire: () => reject(new EngineError('SYS-E005', 'the request timed out')) };
      const tick = this.#expiry.add(late, performance.now() + waitMs);
      work.then(
        (value) => {
          this.#expiry.delete(late, tick);
          resolve(value);
        },
        (error: unknown) => {
          this.#expiry.delete(late, tick);
          reject(error);
        },
      );
    });
  }
}
