// Starts the program of an entry as a client does, and recalls once through it.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { VERSION } from '../../../server/version.ts';
import { Failure } from '../../failure.ts';
import type { Started } from './clients.ts';

const WAIT_MS_MAX = 60_000;
const REVISION = '2025-11-25';
const QUERY = 'facts, preferences and decisions';

export interface Seen {
  readonly memory: string;
  readonly namespace: string | undefined;
  readonly grains: number;
  readonly hits: number;
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
    const recalled = await peer.call('recall', { query: QUERY, limit: 3 });
    const status = await peer.call('status', {});
    return {
      memory: String(status['memory']),
      namespace: status['namespace'] === undefined ? undefined : String(status['namespace']),
      grains: Number(status['total_grains']),
      hits: Array.isArray(recalled['results']) ? recalled['results'].length : 0,
    };
  } finally {
    child.stdin?.end();
    if (child.exitCode === null) child.kill();
  }
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
