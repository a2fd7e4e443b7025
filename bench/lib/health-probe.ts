// Asks a server how it is, one request after the other, from a thread that does nothing else: how long it waited at most since it
// was last asked is how long everybody would have.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { HttpConnection } from './http-client.ts';
import { percentile } from './statistics.ts';

/** Between two requests: the server is to be idle but for what is measured. */
const PAUSE_MS = 1;

export interface Waited {
  readonly longestMs: number;
  readonly p99Ms: number;
  /** In which it was not said to be well. */
  readonly refused: number;
}

export class HealthProbe {
  readonly #worker: Worker;

  constructor(port: number) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: port });
  }

  waited(): Promise<Waited> {
    return new Promise((resolve) => {
      this.#worker.once('message', resolve);
      this.#worker.postMessage('waited');
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}

if (!isMainThread) await probe(workerData as number); // as `HealthProbe` starts it

async function probe(port: number): Promise<void> {
  const request = Buffer.from('GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const connection = await HttpConnection.open(port);
  let waits: number[] = [];
  let refused = 0;
  let asked = false;
  parentPort?.on('message', () => {
    asked = true;
  });
  for (;;) {
    const startMs = performance.now();
    const body = await new Promise<Buffer | undefined>((resolve) => connection.call(request, resolve));
    waits.push(performance.now() - startMs);
    if (body === undefined) refused += 1;
    if (asked) {
      const told: Waited = { longestMs: Math.max(...waits), p99Ms: percentile(waits, 0.99), refused };
      [asked, waits, refused] = [false, [], 0];
      parentPort?.postMessage(told);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
