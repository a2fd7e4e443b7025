// Starts the program of an entry as a client does, and recalls once through it.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { VERSION } from '../../../server/version.ts';
import { Failure } from '../../failure.ts';
import type { Started } from './clients.ts';

const WAIT_MS_MAX = 60_000;
const REVISION = '2025-11-25';
/** For a memory of which nothing is known. */
const QUERY = 'facts, preferences and decisions';
const QUERY_CHARS_MAX = 200;

/** The answers of the program. Members are absent where the entry offers no tool that tells them. */
export interface Seen {
  readonly tools: number;
  readonly memory?: string | undefined;
  readonly namespace?: string | undefined;
  readonly grains?: number | undefined;
  readonly hits?: number | undefined;
  /** The best hit. */
  readonly first?: string | undefined;
}

/** Rejects with Failure: what the program said, or that it said nothing. */
export async function recallThrough(started: Started, variables: NodeJS.ProcessEnv): Promise<Seen> {
  const child = spawn(started.command, started.args, {
    env: { ...variables, ...started.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  try {
    const peer = new Peer(child);
    await peer.ask('initialize', {
      protocolVersion: REVISION,
      capabilities: {},
      clientInfo: { name: 'granary-install', version: VERSION },
    });
    peer.tell('notifications/initialized');
    return await seen(peer);
  } finally {
    child.stdin?.end();
    if (child.exitCode === null) child.kill();
  }
}

async function seen(peer: Peer): Promise<Seen> {
  const { tools } = await peer.ask('tools/list', {});
  const names = new Set((tools as readonly { readonly name: string }[]).map(({ name }) => name)); // a list of tools
  const call = async (name: string, given: object): Promise<Members> => (names.has(name) ? peer.call(name, given) : {});
  const { memory, namespace, total_grains: grains } = await call('status', {});
  // The newest grain is found by its own words, if recalls work.
  const [newest] = textsOf((await call('list', { limit: 1 }))['grains']);
  const recalled = await call('recall', { query: newest?.slice(0, QUERY_CHARS_MAX).toWellFormed() ?? QUERY, limit: 3 });
  const texts = textsOf(recalled['results']);
  return {
    tools: names.size,
    memory: textIn(memory),
    namespace: textIn(namespace),
    grains: typeof grains === 'number' ? grains : undefined,
    hits: names.has('recall') ? texts.length : undefined,
    first: texts[0],
  };
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The texts of grains, without the fences. */
function textsOf(grains: unknown): readonly string[] {
  if (!Array.isArray(grains)) return [];
  return grains.map(({ text }: { readonly text?: unknown }) => String(text).replace(/<\/?granary-data>/g, ''));
}

type Members = Readonly<Record<string, unknown>>;

/** One side of the protocol on the pipes of a child. */
class Peer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (message: Members) => void>();
  readonly #over: Promise<never>;
  #said = '';
  #last = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said = `${this.#said}${text}`.slice(-2_000);
    });
    child.stdin?.on('error', () => undefined);
    createInterface({ input: child.stdout! }).on('line', (line) => this.#take(line)); // it is a pipe
    this.#over = new Promise((_, reject) => {
      child.once('error', (error) => reject(new Failure('FILE', `the program does not start: ${error.message}`)));
      child.once('close', (code) =>
        reject(new Failure('FILE', `the program ended with ${code}: ${this.#said.trim()}`)),
      );
    });
    this.#over.catch(() => undefined);
  }

  #take(line: string): void {
    try {
      const message = JSON.parse(line) as Members; // checked where it is used
      this.#waiting.get(Number(message['id']))?.(message);
    } catch {
      // Another program may print a line of its own.
    }
  }

  tell(method: string, params: object = {}): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  }

  async ask(method: string, params: object): Promise<Members> {
    this.#last += 1;
    const id = this.#last;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Failure('FILE', `the program does not answer: ${this.#said.trim()}`)),
        WAIT_MS_MAX,
      );
    });
    const answered = new Promise<Members>((resolve) => this.#waiting.set(id, resolve));
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    try {
      const { result, error } = await Promise.race([answered, this.#over, late]);
      if (error !== undefined) throw new Failure('FILE', `the program refuses ${method}: ${JSON.stringify(error)}`);
      return result as Members; // a response has one of the two
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** The structured answer of a tool. Rejects with the tool's error. */
  async call(name: string, given: object): Promise<Members> {
    const answer = await this.ask('tools/call', { name, arguments: given });
    const [first] = (answer['content'] ?? []) as readonly { readonly text?: string }[]; // an answer of this program
    if (answer['isError'] === true) {
      const [, code = 'SYS-E001', text = ''] = /^([A-Z]+(?:-[A-Z]?\w+)?): ([\s\S]*)$/.exec(first?.text ?? '') ?? [];
      throw new Failure(code, text);
    }
    return (answer['structuredContent'] ?? {}) as Members; // each tool has one
  }
}
