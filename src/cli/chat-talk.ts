// One conversation of `granary chat`: sends messages, prints the answers as they arrive, and keeps the thread.
import { defined } from '../engine/base/defined.ts';
import { stringifyJson } from '../engine/grain/api/json.ts';
import { type JsonObject, objectsOf } from '../engine/grain/api/json-value.ts';
import type { Connection } from './connection.ts';
import { framesOf } from './event-frames.ts';
import { failureOfEvent } from './failure.ts';
import type { ServerOptions } from './options.ts';
import { clipped, printable, printJson, printLine, printNote, terminalColumns, utc } from './output.ts';

export interface TalkOptions extends ServerOptions {
  readonly memory: string;
  readonly user?: string | undefined;
  readonly namespace?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly tools: boolean;
}

const TITLE_CHARS = 80;
const THREADS_SHOWN = 20;

export class ChatTalk {
  readonly #connection: Connection;
  readonly #options: TalkOptions;
  readonly #isKept: boolean;
  #thread: string | undefined;
  #title: string | undefined;
  #stop: (() => void) | undefined;

  constructor(connection: Connection, options: TalkOptions, thread: string | undefined, isKept: boolean) {
    this.#connection = connection;
    this.#options = options;
    this.#thread = thread;
    this.#isKept = isKept;
  }

  get thread(): string | undefined {
    return this.#thread;
  }

  /** The next message begins a new thread. */
  begin(title: string | undefined): void {
    this.#thread = undefined;
    this.#title = title;
  }

  /** Continues a thread. Rejects when there is none. */
  async resume(thread: string): Promise<void> {
    const { thread_id: id, title } = await this.#connection.json(
      'GET',
      `${this.#path}/threads/${encodeURIComponent(thread)}`,
    );
    this.#thread = String(id);
    printNote(`The thread is ${String(id)}${typeof title === 'string' ? `, ${printable(title)}` : ''}.`);
  }

  /** Gives the thread another title. The title of a thread that is not begun is kept for it. */
  async rename(title: string): Promise<void> {
    if (this.#thread === undefined) this.#title = title;
    else await this.#change(this.#thread, { title });
    printNote(`The title is ${printable(title)}.`);
  }

  /** Archives the thread, or brings it back. An archived thread can still be continued. */
  async archive(archived: boolean): Promise<void> {
    if (this.#thread === undefined) {
      printNote('The thread has not begun yet.');
      return;
    }
    await this.#change(this.#thread, { archived });
    printNote(archived ? 'The thread is archived: /threads does not list it.' : 'The thread is listed again.');
  }

  async #change(thread: string, json: JsonObject): Promise<void> {
    await this.#connection.json('PATCH', `${this.#path}/threads/${encodeURIComponent(thread)}`, { json });
  }

  /** Prints the newest threads. */
  async list(): Promise<void> {
    const query = { limit: THREADS_SHOWN, archived: false };
    const { threads, total } = await this.#connection.json('GET', `${this.#path}/threads`, { query });
    const rows = objectsOf(threads);
    for (const { thread_id: id, title, message_count: count, updated_at: at } of rows) {
      const head = `${String(id)}  ${utc(Number(at))}  ${String(count).padStart(4)}  `;
      const words = printable(typeof title === 'string' ? title : '');
      printLine(`${head}${clipped(words, Math.max(20, terminalColumns() - head.length))}`.trimEnd());
    }
    if (rows.length === 0) printLine('There are no threads.');
    else if (Number(total) > rows.length) printNote(`${rows.length} of ${String(total)} threads.`);
  }

  /** Sends a message and prints the answer. Rejects with Failure when the turn fails. */
  async say(message: string): Promise<void> {
    const { json } = this.#options;
    const thread = await this.#threadFor(message);
    const { user, namespace, model, provider, tools } = this.#options;
    const body = defined({
      messages: [{ role: 'user', content: message }],
      thread_id: thread,
      user_id: user,
      namespace,
      model,
      provider,
      tools_enabled: tools ? undefined : false,
    });
    const ending = new AbortController();
    const stopped = new Promise<'stopped'>((resolve) => {
      this.#stop = () => {
        resolve('stopped');
        // The server then stops the model, which may be silent for long.
        ending.abort();
      };
    });
    const asked = { json: body, signal: ending.signal };
    const frames = framesOf(this.#connection.download(`${this.#path}/stream`, asked));
    let text = '';
    let done: JsonObject | undefined;
    try {
      for (;;) {
        const next = await Promise.race([frames.next(), stopped]);
        if (next === 'stopped' || next.done === true) break;
        const { event, data } = next.value;
        if (event === 'error') throw failureOfEvent(data);
        if (event === 'done') done = data;
        if (event === 'text') {
          const delta = String(data['delta']);
          text += delta;
          if (json !== true) process.stdout.write(printable(delta));
        }
        if (event === 'tool_call') printNote(noteOf(data));
      }
    } finally {
      this.#stop = undefined;
      // Ends the request, if it has not ended. An abort here would be an error that nobody listens for.
      void frames.return(undefined).catch(() => undefined);
      if (json !== true && text !== '') printLine();
    }
    if (json === true) printJson({ answer: text, ...done });
    else if (done?.['finish_reason'] === 'length') printNote('The answer was cut off at its token limit.');
  }

  /** Stops the answer under way. False when there is none. */
  stop(): boolean {
    if (this.#stop === undefined) return false;
    this.#stop();
    return true;
  }

  get #path(): string {
    return `/memories/${encodeURIComponent(this.#options.memory)}/chat`;
  }

  /** A thread is made with its first message, which gives it its title. */
  async #threadFor(message: string): Promise<string | undefined> {
    if (!this.#isKept || this.#thread !== undefined) return this.#thread;
    const { user, namespace } = this.#options;
    const title = this.#title ?? message.replace(/\s+/g, ' ').slice(0, TITLE_CHARS).toWellFormed();
    const json = defined({ title, user_id: user, namespace });
    const { thread_id: id } = await this.#connection.json('POST', `${this.#path}/threads`, { json });
    this.#thread = String(id);
    return this.#thread;
  }
}

/** A call of a tool, on one line. */
export function noteOf({ name, arguments: given }: JsonObject): string {
  return clipped(`[${String(name)} ${stringifyJson(given ?? null)}]`, Math.max(40, terminalColumns()));
}
