// The bytes of a long request, give me its value. A long one takes tens of milliseconds to check and to parse, which everybody who
// asks anything would wait for: those go to a thread of their own, short ones do not pay for one.
import { Piscina } from 'piscina';
import { EngineError, type WireError } from '../../engine/base/errors.ts';
import { JSON_PARSED_HERE_BYTES_MAX, JSON_READS_WAITING_MAX } from '../../engine/base/limits.ts';
import { parseBody } from '../http/json.ts';
import type { UnknownMember } from '../operations/unknown-members.ts';
import { threadEntry } from '../thread-entry.ts';

/** What the thread reads: a JSON body, or the message of an rpc. */
export interface LongRequest {
  readonly bytes: Uint8Array;
  readonly rpc?: string;
}

/** The input of an rpc's row, not yet checked, and what the row does not know. */
export interface ReadMessage {
  readonly candidate: unknown;
  readonly unknown: UnknownMember[];
}

/** What the thread answers: a `ReadMessage` for the message of an rpc. */
export type ReadOutcome = { readonly value: unknown } | { readonly error: WireError };

export class JsonReader {
  #thread: Piscina | undefined;

  /** As `parseBody` has it; LIM-E001 when too many bodies wait. */
  async read(bytes: Uint8Array): Promise<unknown> {
    return bytes.length <= JSON_PARSED_HERE_BYTES_MAX ? parseBody(bytes) : this.#inThread({ bytes });
  }

  /** Reads a long message as the row of `rpc` does. Rejects as the row throws; LIM-E001 when too many wait. */
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
      throw new EngineError('LIM-E001', 'too many long bodies wait');
    const outcome: ReadOutcome = await this.#thread.run(request);
    if ('error' in outcome) throw EngineError.fromWire(outcome.error);
    return outcome.value;
  }

  async close(): Promise<void> {
    await this.#thread?.destroy();
  }
}
