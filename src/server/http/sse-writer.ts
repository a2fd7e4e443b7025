// Writes server-sent events to one client, at the client's pace: an event is taken only when the one before has left.
import { EVENT_BLIND_BYTES_MAX } from '../../engine/base/limits.ts';
import { stringifyJson } from '../../engine/grain/api/json.ts';
import type { ResponseStream } from './listener.ts';

/** Makes a short write long enough that the listener reports whether the peer takes it. */
const PADDING = Buffer.from(`:${' '.repeat(16_384)}\n\n`);

export class SseWriter {
  readonly #out: ResponseStream;
  #blindBytes = 0;

  constructor(out: ResponseStream) {
    this.#out = out;
  }

  /** Resolves when more may be sent. Rejects with RequestAborted when the client is gone. */
  event(name: string, data: object): Promise<void> {
    return this.#send(Buffer.from(`event: ${name}\ndata: ${stringifyJson(data)}\n\n`));
  }

  /** A line that clients ignore; it keeps the stream open. */
  comment(text: string): Promise<void> {
    return this.#send(Buffer.from(`: ${text}\n\n`));
  }

  end(): void {
    this.#out.end();
  }

  #send(bytes: Buffer): Promise<void> {
    const { unreportedBytes } = this.#out;
    let chunk = bytes;
    if (bytes.byteLength <= unreportedBytes) {
      this.#blindBytes += bytes.byteLength;
      if (this.#blindBytes > EVENT_BLIND_BYTES_MAX) chunk = Buffer.concat([bytes, PADDING]);
    }
    if (chunk.byteLength > unreportedBytes) this.#blindBytes = 0;
    return this.#out.write(chunk);
  }
}
