// Requests a server's health repeatedly from a separate thread. Its longest wait is the delay that any other caller
// would see.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { HttpConnection } from './http-client.ts';
import { percentile } from './statistics.ts';

/** Pause between requests, so that the probe hardly loads the server. */
const PAUSE_MS = 1;

export interface Waited {
  readonly longestMs: number;
  readonly p99Ms: number;
  /** Answers that did not report a healthy server. */
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
      const waited: Waited = { longestMs: Math.max(...waits), p99Ms: percentile(waits, 0.99), refused };
      [asked, waits, refused] = [false, [], 0];
      parentPort?.postMessage(waited);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
