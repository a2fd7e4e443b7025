// Server-sent events: bytes to frames.
import { type JsonObject, parsedObject } from './json.ts';

/** One frame of a stream. */
export interface StreamFrame {
  /** Id to go on from; absent for frames without one. */
  readonly id?: string | undefined;
  readonly event: string;
  readonly data: JsonObject;
}

/** A frame of more characters than this ends the stream: no server sends one. */
const FRAME_CHARS_MAX = 32 * 1_048_576;

/** Collects lines to frames. A frame that is not finished when the stream breaks off is dropped, as the standard has it. */
export class FrameReader {
  /** Milliseconds that the server asks to wait before connecting again; undefined until it does. */
  retryMs: number | undefined;
  readonly #decoder = new TextDecoder();
  /** The line that has no end yet. */
  #rest = '';
  /** The text before ended with a CR: a LF that follows is part of that line's end. */
  #isAfterCr = false;
  #id: string | undefined;
  #event = '';
  #data: string[] = [];
  /** Characters in the lines of data. */
  #dataChars = 0;

  /** The frames that these bytes finish. Throws RangeError for a frame that is too long. */
  read(bytes: Uint8Array): StreamFrame[] {
    const decoded = this.#decoder.decode(bytes, { stream: true });
    if (decoded === '') return [];
    const text = this.#isAfterCr && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    this.#isAfterCr = decoded.endsWith('\r');
    const frames: StreamFrame[] = [];
    let from = 0;
    // Only the new text is searched: a long line comes in many pieces.
    for (const end of text.matchAll(/\r\n|\n|\r/g)) {
      const line = this.#rest + text.slice(from, end.index);
      from = end.index + end[0].length;
      this.#rest = '';
      frames.push(...this.#line(line));
    }
    this.#rest += text.slice(from);
    if (this.#rest.length + this.#dataChars > FRAME_CHARS_MAX)
      throw new RangeError('a frame of the stream is too long');
    return frames;
  }

  #line(line: string): StreamFrame[] {
    if (line === '') return this.#frame();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') {
      this.#data.push(value);
      this.#dataChars += value.length + 1;
    } else if (name === 'event') this.#event = value;
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    return [];
  }

  #frame(): StreamFrame[] {
    const [data, event] = [this.#data, this.#event];
    this.#data = [];
    this.#dataChars = 0;
    this.#event = '';
    if (data.length === 0) return [];
    return [{ id: this.#id, event: event === '' ? 'message' : event, data: parsedObject(data.join('\n')) }];
  }
}
