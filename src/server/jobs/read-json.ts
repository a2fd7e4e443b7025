// The bytes of a JSON body, give me its value. A long one takes tens of milliseconds to check and to parse, which everybody who
// asks anything would wait for: those go to a thread of their own, short ones do not pay for one.
import { Piscina } from 'piscina';
import { EngineError, type WireError } from '../../engine/errors.ts';
import { JSON_PARSED_HERE_BYTES_MAX, JSON_READS_WAITING_MAX } from '../../engine/limits.ts';
import { parseBody } from '../http/json.ts';
import { threadEntry } from '../thread-entry.ts';

/** What the thread answers. */
export type JsonOutcome = { readonly value: unknown } | { readonly error: WireError };

export class JsonReader {
  #thread: Piscina | undefined;

  /** As `parseBody` has it; LIM-E001 when too many bodies wait. */
  async read(bytes: Uint8Array): Promise<unknown> {
    if (bytes.length <= JSON_PARSED_HERE_BYTES_MAX) return parseBody(bytes);
    this.#thread ??= new Piscina({
      filename: threadEntry('read-json-thread', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      maxQueue: JSON_READS_WAITING_MAX,
      idleTimeout: 10_000,
    });
    if (this.#thread.queueSize >= JSON_READS_WAITING_MAX)
      throw new EngineError('LIM-E001', 'too many long bodies wait');
    const outcome: JsonOutcome = await this.#thread.run(bytes);
    if ('error' in outcome) throw EngineError.fromWire(outcome.error);
    return outcome.value;
  }

  async close(): Promise<void> {
    await this.#thread?.destroy();
  }
}
