// `granary harnesses chat` and `conversations`: a conversation with an agent of a memory. Tools that the caller runs are
// the person's: the shell shows the call and asks for its output.
import { createInterface, type Interface } from 'node:readline';
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { parseJson, stringifyJson } from '../engine/grain/api/json.ts';
import { type JsonObject, type JsonValue, objectsOf } from '../engine/grain/api/json-value.ts';
import type { Connection } from './connection.ts';
import { Failure, failureOf } from './failure.ts';
import { text } from './grain-view.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { clipped, printable, printJson, printLine, printNote, printTable, utc } from './output.ts';
import { allPages } from './pages.ts';

interface TalkOptions extends ServerOptions {
  readonly memory: string;
  readonly conversation?: string | undefined;
  readonly user?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
}

const PROMPT = 'you> ';
const HELP = `  /conversation [ID]  continue another conversation, or name this one
  /help               show this help
  /quit               quit`;

/** Adds the commands to `granary harnesses`. */
export function registerHarnessTalk(harnesses: Command): void {
  const part = (name: string, about: string): Command =>
    withServerOptions(withMemoryOption(harnesses.command(name).description(about)));
  part('chat', 'Talk to a harness: with words one message, without them a shell')
    .argument('<slug>')
    .argument('[message...]', 'the message')
    .option('--conversation <id>', 'conversation to continue; the default is a new one')
    .option('--user <id>', 'the person who speaks')
    .option('--model <name>', 'model; the default is that of the harness')
    .option('--provider <id>', 'provider of the model; the default is that of the harness')
    .action(chat);
  part('conversations', 'List the conversations of a harness, or print one')
    .argument('<slug>')
    .argument('[id]')
    .action(conversations);
}

async function chat(slug: string, words: string[], options: TalkOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const lines = new Lines();
  try {
    await withConnection(options, async (connection) => {
      const talk = new Talk(connection, slug, options, lines);
      const message = words.join(' ').trim();
      if (message !== '') await talk.say(message);
      else await shell(talk, lines);
    });
  } finally {
    lines.close();
  }
}

/** The lines of the person, or of a pipe: messages, and outputs of tools where they are asked for. */
class Lines {
  readonly isPerson = process.stdin.isTTY === true;
  readonly #lines: Interface;
  readonly #next: AsyncIterator<string>;

  constructor() {
    // Prompts go to stderr: stdout has the answers alone.
    this.#lines = createInterface({ input: process.stdin, output: process.stderr, terminal: this.isPerson });
    // From here on it keeps the lines that come before they are asked for.
    this.#next = this.#lines[Symbol.asyncIterator]();
  }

  /** Undefined at the end of input. */
  async ask(prompt: string): Promise<string | undefined> {
    if (this.isPerson) {
      this.#lines.setPrompt(prompt);
      this.#lines.prompt();
    }
    const { done, value } = await this.#next.next();
    return done === true ? undefined : value.trim();
  }

  close(): void {
    this.#lines.close();
  }
}

/** Answers until the end of input or `/quit`. A failed turn ends a pipe, not the shell of a person. */
async function shell(talk: Talk, lines: Lines): Promise<void> {
  if (lines.isPerson) printNote(`The conversation is ${talk.conversation}. /help shows the commands.`);
  for (;;) {
    const message = await lines.ask(PROMPT);
    if (message === undefined || message === '/quit' || message === '/exit') return;
    try {
      if (message.startsWith('/')) command(talk, message);
      else if (message !== '') await talk.say(message);
    } catch (error) {
      if (!lines.isPerson) throw error;
      const { code, text: reason } = failureOf(error);
      printNote(`${code}: ${reason}`);
    }
  }
}

function command(talk: Talk, line: string): void {
  const [word, id] = line.split(/\s+/);
  if (word === '/conversation') {
    if (id !== undefined) talk.conversation = id;
    printNote(`The conversation is ${talk.conversation}.`);
    return;
  }
  if (word !== '/help') printNote(`Unknown command ${word}.`);
  printNote(HELP);
}

class Talk {
  conversation: string;
  readonly #connection: Connection;
  readonly #slug: string;
  readonly #options: TalkOptions;
  readonly #lines: Lines;

  constructor(connection: Connection, slug: string, options: TalkOptions, lines: Lines) {
    this.#connection = connection;
    this.#slug = slug;
    this.#options = options;
    this.#lines = lines;
    this.conversation = options.conversation ?? `cli-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  }

  /** Sends a message, runs the calls that the person is asked for, and prints the answer. */
  async say(message: string): Promise<void> {
    const { user, model, provider } = this.#options;
    let answer = await this.#post('chat', {
      conversation_id: this.conversation,
      user_message: message,
      ...defined({ user_id: user, model, provider }),
    });
    this.#tell(answer, 0);
    let shown = listOf(answer['inline_tool_results']).length;
    while (answer['status'] === 'requires_action') {
      const outputs: JsonObject[] = [];
      for (const call of listOf(answer['pending_tool_calls'])) outputs.push(await this.#outputOf(call));
      answer = await this.#post('chat/resume', { session_id: text(answer['session_id']), tool_outputs: outputs });
      this.#tell(answer, shown);
      shown = listOf(answer['inline_tool_results']).length;
    }
    if (this.#options.json) printJson(answer);
    else if (answer['status'] === 'completed') printLine(printable(text(answer['text'])));
    else throw new Failure('HRN-E005', `the turn has the status ${text(answer['status'])}`);
  }

  async #post(route: string, json: JsonObject): Promise<JsonObject> {
    const { memory } = this.#options;
    const path = `/memories/${encodeURIComponent(memory)}/harnesses/${encodeURIComponent(this.#slug)}/${route}`;
    return await this.#connection.json('POST', path, { json });
  }

  /** Notes the calls that the server ran, from the first that was not told yet. */
  #tell(answer: JsonObject, from: number): void {
    for (const { tool_name: tool, is_error: failed, output } of listOf(answer['inline_tool_results']).slice(from))
      printNote(`[${text(tool)}] ${clipped(shown(output), 100)}${failed === true ? ' (failed)' : ''}`);
    for (const warning of Array.isArray(answer['warnings']) ? answer['warnings'] : []) printNote(text(warning));
  }

  /** The result of the tool as the person reports it. */
  async #outputOf({ tool_call_id: id, tool_name: tool, arguments: args }: JsonObject): Promise<JsonObject> {
    printNote(`The agent asks you to run ${text(tool)} with ${shown(args)}`);
    const line = (await this.#lines.ask('its output (JSON or text; leave it empty if the tool failed)> ')) ?? '';
    if (line === '') return { tool_call_id: text(id), error: 'the person could not run the tool' };
    return { tool_call_id: text(id), output: outputFrom(line) };
  }
}

function outputFrom(line: string): JsonValue {
  try {
    return parseJson(line);
  } catch {
    return line;
  }
}

function shown(value: JsonValue | undefined): string {
  return printable(typeof value === 'string' ? value : stringifyJson(value ?? null));
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return objectsOf(value);
}

async function conversations(slug: string, id: string | undefined, options: TalkOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const path = `/memories/${encodeURIComponent(options.memory)}/harnesses/${encodeURIComponent(slug)}/conversations`;
  if (id !== undefined) {
    const messages = await withConnection(options, (connection) =>
      allPages(connection, `${path}/${encodeURIComponent(id)}`, 'messages'),
    );
    if (options.json) return printJson({ conversation_id: id, messages });
    for (const { role, content, created_at: at } of messages)
      printLine(`${utc(Number(at))}  ${text(role)}: ${printable(text(content))}`);
    return;
  }
  const found = await withConnection(options, (connection) => allPages(connection, path, 'conversations'));
  if (options.json) return printJson({ conversations: found, total: found.length });
  if (found.length === 0) return printLine('There are no conversations.');
  printTable(
    [
      { title: 'conversation', width: 30 },
      { title: 'messages', align: 'right', width: 9 },
      { title: 'last', width: 20 },
      { title: 'begins with', width: 40 },
    ],
    found.map(({ conversation_id: conversation, turn_count: turns, updated_at: at, title }) => [
      text(conversation),
      Number(turns),
      utc(Number(at)),
      text(title),
    ]),
  );
}
