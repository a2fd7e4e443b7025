// The way from `granary mcp` to its server. It is opened by the first call, and again after the server went away, so a
// client outlives a restart of the server, and starts before it.

import type { JsonObject } from '../../engine/grain/api/json-value.ts';
import { CallRefused } from '../../mcp/refused.ts';
import type { ApiRequest } from '../../mcp/session.ts';
import { type OpenConnection, openConnection } from '../connection.ts';
import { Failure, failureOf } from '../failure.ts';
import type { ServerOptions } from '../options.ts';

export class Link {
  readonly #options: ServerOptions;
  #open: Promise<OpenConnection> | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** Sends a request. Rejects with CallRefused. A request is sent again once if the server went away. */
  async send(request: ApiRequest): Promise<JsonObject> {
    for (let tries = 1; ; tries++) {
      this.#open ??= this.#opening();
      const opening = this.#open;
      try {
        const { connection } = await opening;
        const { verb, path, query, json, headers } = request;
        return await connection.json(verb, path, { query, json, headers });
      } catch (error) {
        // A change has its own key, so it is done once even if the first try reached the server.
        const isGone = error instanceof Failure && error.code === 'NO-SERVER';
        if (isGone) await this.#forget(opening);
        if (isGone && tries === 1) continue;
        const { code, text } = failureOf(error);
        throw new CallRefused(code, text);
      }
    }
  }

  #opening(): Promise<OpenConnection> {
    const opening = openConnection(this.#options, { isLongLived: true });
    // The reason may pass.
    opening.catch(() => this.#forget(opening));
    return opening;
  }

  /** Another call may have opened a new connection meanwhile. */
  async #forget(opening: Promise<OpenConnection>): Promise<void> {
    if (this.#open !== opening) return;
    this.#open = undefined;
    await opening.then(({ close }) => close()).catch(() => undefined);
  }

  async close(): Promise<void> {
    const opening = this.#open;
    this.#open = undefined;
    await opening?.then(({ close }) => close()).catch(() => undefined);
  }
}
