// A client of server-sent events for tests.
import assert from 'node:assert/strict';
import { WAIT_MS_MAX } from './eventually.ts';

export interface Frame {
  readonly id: string;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: members are asserted one by one where they are used
  readonly data: any;
}

export class EventClient {
  readonly headers: Headers;
  readonly frames: Frame[] = [];
  /** Lines that begin with a colon. */
  comments = 0;
  text = '';
  isEnded = false;
  readonly #abort: AbortController;
  readonly #reading: Promise<void>;
  #changed: () => void = () => undefined;

  private constructor(response: Response, abort: AbortController) {
    this.headers = response.headers;
    this.#abort = abort;
    this.#reading = this.#read(response);
  }

  /** `url` with path and query; `json` is posted. Fails unless the answer is a stream. */
  static async open(url: string, headers: Readonly<Record<string, string>> = {}, json?: object): Promise<EventClient> {
    const abort = new AbortController();
    const posted =
      json === undefined
        ? { headers }
        : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(json) };
    const response = await fetch(url, { ...posted, signal: abort.signal });
    assert.equal(response.status, 200, response.status === 200 ? '' : await response.text());
    return new EventClient(response, abort);
  }

  async #read(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const chunk of response.body ?? []) {
        const text = decoder.decode(chunk, { stream: true });
        this.text += text;
        rest += text;
        for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
          this.#take(rest.slice(0, end));
          rest = rest.slice(end + 2);
        }
        this.#changed();
      }
    } catch {
      // The connection was cut, here or there.
    }
    this.isEnded = true;
    this.#changed();
  }

  #take(block: string): void {
    const fields: Record<string, string> = {};
    for (const line of block.split('\n')) {
      const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line)!;
      if (name === '') this.comments += 1;
      else fields[name!] = value!;
    }
    const { id = '', event = '', data } = fields;
    if (data !== undefined) this.frames.push({ id, event, data: JSON.parse(data) });
  }

  /** The events, without the frames about the stream itself. */
  get events(): Frame[] {
    return this.frames.filter(({ event }) => !['ready', 'gap', 'end', 'overflow'].includes(event));
  }

  /** Waits until the condition holds; fails when the stream ends before. */
  async until(what: string, isSo: (client: EventClient) => boolean): Promise<void> {
    const late = setTimeout(() => {
      this.isEnded = true;
      this.#changed();
    }, WAIT_MS_MAX);
    while (!isSo(this)) {
      assert.ok(!this.isEnded, `${what}: the stream ended with ${this.text.slice(-500)}`);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
    clearTimeout(late);
  }

  /** Waits until the server ends the stream. */
  async ended(): Promise<Frame | undefined> {
    await this.#reading;
    return this.frames.at(-1);
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#reading;
  }
}
