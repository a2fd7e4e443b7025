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
  #rest = '';
  #id: string | undefined;
  #event = '';
  #data: string[] = [];

  /** The frames that these bytes finish. */
  read(bytes: Uint8Array): StreamFrame[] {
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    // A line may end with CR LF; a CR at the end waits for what follows.
    const end = text.endsWith('\r') ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? '') + text.slice(end);
    if (this.#rest.length > FRAME_CHARS_MAX) throw new RangeError('a frame of the stream is too long');
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): StreamFrame[] {
    if (line === '') return this.#frame();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value;
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    return [];
  }

  #frame(): StreamFrame[] {
    const [data, event] = [this.#data, this.#event];
    this.#data = [];
    this.#event = '';
    if (data.length === 0) return [];
    return [{ id: this.#id, event: event === '' ? 'message' : event, data: parsedObject(data.join('\n')) }];
  }
}
