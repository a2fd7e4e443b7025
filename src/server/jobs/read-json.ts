// Parses long requests. One takes tens of milliseconds, which would delay all callers: a separate thread parses those,
// while short ones avoid its cost.
import { Piscina } from 'piscina';
import { EngineError, type WireError } from '../../engine/base/errors.ts';
import { JSON_PARSED_HERE_BYTES_MAX, JSON_READS_WAITING_MAX } from '../../engine/base/limits.ts';
import { parseBody } from '../http/json.ts';
import type { UnknownMember } from '../operations/unknown-members.ts';
import { threadEntry } from '../thread-entry.ts';

/** Input of the thread: a JSON body, or the message of an rpc. */
export interface LongRequest {
  readonly bytes: Uint8Array;
  readonly rpc?: string | undefined;
}

/** The input of an operation, not validated yet, and its unknown members. */
export interface ReadMessage {
  readonly candidate: unknown;
  readonly unknown: UnknownMember[];
}

/** The thread's answer: a `ReadMessage` for the message of an rpc. */
export type ReadOutcome = { readonly value: unknown } | { readonly error: WireError };

export class JsonReader {
  #thread: Piscina | undefined;

  /** Like `parseBody`; LIM-E001 when too many bodies wait. */
  async read(bytes: Uint8Array): Promise<unknown> {
    return bytes.length <= JSON_PARSED_HERE_BYTES_MAX ? parseBody(bytes) : this.#inThread({ bytes });
  }

  /** Decodes a long message like the operation of `rpc`, with the same errors; LIM-E001 when too many wait. */
  async readMessage(rpc: string, bytes: Uint8Array): Promise<ReadMessage> {
    return (await this.#inThread({ rpc, bytes })) as ReadMessage; // what the thread gives for an rpc
  }

  async #inThread(request: LongRequest): Promise<unknown> {
    this.#thread ??= new Piscina({
      filename: threadEntry('read-json-thread', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      maxQueue: JSON_READS_WAITING_MAX,
      idleTimeout: 10_000,
    });
    if (this.#thread.queueSize >= JSON_READS_WAITING_MAX)
      throw new EngineError('LIM-E001', 'too many long bodies are waiting: try again later');
    const outcome: ReadOutcome = await this.#thread.run(request);
    if ('error' in outcome) throw EngineError.fromWire(outcome.error);
    return outcome.value;
  }

  async close(): Promise<void> {
    await this.#thread?.destroy();
  }
}
