// Adds rows to a peer, or asks it, from a separate process, so that loading and asking do not share a thread, and a peer
// without a server has memory of its own.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { PeerName } from './peer.ts';

export type PeerTask =
  /** Makes the rows of the next `add`, outside its time. */
  | { readonly do: 'prepare'; readonly batches: number; readonly rows: number }
  | { readonly do: 'add' }
  | { readonly do: 'index' }
  /** Asks so many questions; without a number until `enough`. */
  | { readonly do: 'ask'; readonly limit: number; readonly questions?: number }
  | { readonly do: 'close' };

export class PeerClient {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  private constructor(child: ChildProcess, name: PeerName) {
    this.#child = child;
    this.#ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`the process of ${name} ended with ${code ?? signal}`);
    });
    // It also ends when it is stopped.
    this.#ended.catch(() => undefined);
  }

  /** `place` is what the peer's `open` gets. */
  static async open(name: PeerName, place: string, seed: number): Promise<PeerClient> {
    const child = fork(new URL('./peer-process.ts', import.meta.url), [name, place, String(seed)]);
    const client = new PeerClient(child, name);
    await client.#answer();
    return client;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  prepare(batches: number, rows: number): Promise<unknown> {
    return this.#run({ do: 'prepare', batches, rows });
  }

  /** Adds the prepared rows. Seconds. */
  async add(): Promise<number> {
    return (await this.#run({ do: 'add' })) as number;
  }

  /** Seconds. */
  async index(): Promise<number> {
    return (await this.#run({ do: 'index' })) as number;
  }

  /** Milliseconds of each question. */
  async ask(limit: number, questions: number): Promise<number[]> {
    return (await this.#run({ do: 'ask', limit, questions })) as number[];
  }

  /** Asks while `work` runs. Milliseconds of each question. */
  async askDuring(limit: number, work: () => Promise<void>): Promise<number[]> {
    const asked = this.#run({ do: 'ask', limit });
    // A failure of the questions ends the work's wait too.
    await Promise.race([work(), asked]);
    this.#child.send('enough');
    return (await asked) as number[];
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    await this.#run({ do: 'close' });
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #run(task: PeerTask): Promise<unknown> {
    const answer = this.#answer();
    this.#child.send(task);
    return answer;
  }

  async #answer(): Promise<unknown> {
    const [answered] = await Promise.race([once(this.#child, 'message'), this.#ended]);
    return answered;
  }
}
