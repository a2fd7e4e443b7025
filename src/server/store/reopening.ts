// The server of one node on a database. When its control log accepts no more writes, because another owner had it or the database went
// back to an older state, the server is closed and started again on the same ports, in the same process.
import { setTimeout as pause } from 'node:timers/promises';
import { STORE_REOPEN_MS_MAX, STORE_RETRY_MS, STORE_WATCH_MS } from '../../engine/base/limits.ts';
import type { Config } from '../config.ts';
import { lockDirectory } from '../directory-lock.ts';
import { type Logger, makeLog } from '../log.ts';
import type { RunningServer } from '../running-server.ts';
import type { ServerDeps } from '../start/starting.ts';

type StartOne = (config: Config, deps: ServerDeps) => Promise<RunningServer>;

/** Rejects as `startOne`, and leaves nothing open. */
export async function startReopening(config: Config, deps: ServerDeps, startOne: StartOne): Promise<RunningServer> {
  const lock = deps.lock ?? lockDirectory(config.dataDir);
  const control: { isSpoiled?: () => boolean } = {};
  const own: ServerDeps = {
    ...deps,
    lock: { directory: config.dataDir, release: () => undefined },
    watchControl: (isSpoiled) => {
      control.isSpoiled = isSpoiled;
    },
  };
  try {
    const server = await startOne(config, own);
    const again = { ...config, httpPort: server.httpPort, grpcPort: server.grpcPort, http10Port: server.http10Port };
    const reopening = new Reopening(server, {
      isSpoiled: () => control.isSpoiled?.() === true,
      start: () => startOne(again, own),
      log: deps.log ?? makeLog(config.logLevel),
    });
    return {
      ...server,
      closing: () => reopening.closing,
      close: () => reopening.close().finally(() => lock.release()),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface Parts {
  readonly isSpoiled: () => boolean;
  readonly start: () => Promise<RunningServer>;
  readonly log: Logger;
}

class Reopening {
  readonly #parts: Parts;
  readonly #timer: NodeJS.Timeout;
  #server: RunningServer | undefined;
  #changing: Promise<void> | undefined;
  /** Ends the pause between two attempts. */
  readonly #ending = new AbortController();
  #closed: Promise<void> | undefined;

  constructor(server: RunningServer, parts: Parts) {
    this.#server = server;
    this.#parts = parts;
    this.#timer = setInterval(() => this.#look(), STORE_WATCH_MS);
    this.#timer.unref();
  }

  get closing(): string | undefined {
    return this.#server?.closing();
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    this.#ending.abort();
    this.#closed ??= (async () => {
      await this.#changing;
      await this.#server?.close();
    })();
    return this.#closed;
  }

  #look(): void {
    if (this.#changing !== undefined || !this.#parts.isSpoiled()) return;
    this.#changing = this.#reopen().finally(() => {
      this.#changing = undefined;
    });
  }

  /** Never rejects. Retries until the server runs, or is told to stop. */
  async #reopen(): Promise<void> {
    const { log, start } = this.#parts;
    log.error({}, 'the control log accepts no more writes: the server closes and reopens it');
    await this.#server?.close();
    this.#server = undefined;
    let reported = '';
    for (let waitMs = STORE_RETRY_MS; this.#closed === undefined; waitMs = Math.min(waitMs * 2, STORE_REOPEN_MS_MAX)) {
      try {
        this.#server = await start();
        log.info({}, 'the server is running again');
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== reported) log.error({ reason }, 'the server cannot reopen its store yet, and keeps trying');
        reported = reason;
      }
      await pause(waitMs, undefined, { signal: this.#ending.signal }).catch(() => undefined);
    }
  }
}
