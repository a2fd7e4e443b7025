// Clients that write, change, remove and read over all nodes, and keep what they were answered: histories of chains for the
// checker of histories, and single grains that must be there in the end.
import { setTimeout as pause } from 'node:timers/promises';
import type { ChainCall } from '../../linear/chain-model.ts';
import type { Operation } from '../../linear/checker.ts';
import { eventually } from '../../support/eventually.ts';
import type { Random } from '../../support/random.ts';
import type { Answered, Callers } from './caller.ts';

const MEMORIES = ['default', 'm1', 'm2', 'm3', 'm4'];
const CLIENTS = 24;
/** Chains that are written to at the same time. */
const CHAINS_OPEN = 10;
/** Calls of a chain, after which there is another one. */
const CALLS_MAX = 60;

/** A call whose versions are named by their addresses: words are known when all is answered. */
type Record = Omit<Operation<ChainCall>, 'call'> & { readonly call: (words: ReadonlyMap<string, string>) => ChainCall };

export class RecordedChain {
  readonly memory: string;
  readonly subject: string;
  readonly records: Record[] = [];
  /** Addresses that the chain was seen with. */
  readonly hashes: string[] = [];
  /** Addresses in answers, whoever wrote them. */
  readonly mentioned = new Set<string>();
  /** Words of writes whose answer does not say whether they took effect. */
  readonly unsureWords: string[] = [];
  /** Calls under way. */
  inFlight = 0;
  isOver = false;

  constructor(memory: string, subject: string) {
    this.memory = memory;
    this.subject = subject;
  }

  history(words: ReadonlyMap<string, string>): readonly Operation<ChainCall>[] {
    return this.records.map(({ call, ...rest }) => ({ ...rest, call: call(words) }));
  }
}

export class Load {
  /** Writes that were answered as done. */
  acknowledged = 0;
  readonly chains: RecordedChain[] = [];
  /** Address and memory of each grain that was added alone. */
  readonly singles: { readonly memory: string; readonly hash: string; readonly word: string }[] = [];
  /** Words of versions by their addresses. */
  readonly words = new Map<string, string>();
  readonly problems: string[] = [];
  readonly #callers: Callers;
  readonly #random: Random;
  readonly #pauseMs: number;
  readonly #clients: Promise<void>[] = [];
  #names = 0;
  #isOver = false;

  /** `pauseMs`: of each client between two calls. Without it the load takes all of the machine for as long as it runs. */
  constructor(callers: Callers, random: Random, pauseMs = 0) {
    this.#callers = callers;
    this.#random = random;
    this.#pauseMs = pauseMs;
  }

  async start(): Promise<void> {
    for (const id of MEMORIES.slice(1)) await this.#callers.ask('POST', '/memories', { id });
    for (let client = 1; client <= CLIENTS; client++) this.#clients.push(this.#client(`client ${client}`));
  }

  get memories(): readonly string[] {
    return MEMORIES;
  }

  /** Resolves when so many more writes were acknowledged. */
  async go(count: number): Promise<void> {
    const from = this.acknowledged;
    await eventually('writes are acknowledged', () => this.acknowledged >= from + count || this.problems.length > 0);
  }

  /** Resolves when every client has the answer that it waits for. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }

  async #client(client: string): Promise<void> {
    while (!this.#isOver && !this.#callers.isOver) {
      try {
        await this.#act(client);
        if (this.#pauseMs > 0) await pause(this.#pauseMs);
      } catch (error) {
        this.problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
        return;
      }
    }
  }

  async #act(client: string): Promise<void> {
    if (this.#random.chance(0.35)) return this.#addSingle();
    const open = this.chains.filter(({ isOver }) => !isOver);
    if (open.length < CHAINS_OPEN) return this.#begin(client);
    const chain = this.#random.pick(open);
    const hash = this.#random.pickAny(chain.hashes);
    // Nobody else knows a chain whose first answer has not come.
    if (hash === undefined) return this.#addSingle();
    if (chain.records.length + chain.inFlight >= CALLS_MAX) chain.isOver = true;
    chain.inFlight += 1;
    try {
      const choice = this.#random.next();
      if (choice < 0.2) await this.#supersede(client, chain, chain.hashes.at(-1)!);
      else if (choice < 0.6) await this.#accumulate(client, chain, hash);
      else if (choice < 0.62) await this.#forget(client, chain);
      else if (choice < 0.85) await this.#current(client, chain);
      else await this.#get(client, chain, hash);
    } finally {
      chain.inFlight -= 1;
    }
  }

  async #addSingle(): Promise<void> {
    const memory = this.#random.pick(MEMORIES);
    const word = this.#name('w');
    const answer = await this.#callers.ask('POST', `/memories/${memory}/add`, grain(word, word, 0));
    if (answer === undefined) return;
    if (!this.#isDone(answer)) return void this.problems.push(`an add was refused: ${textOf(answer)}`);
    this.acknowledged += 1;
    this.singles.push({ memory, hash: answer.body.blob_hash, word });
  }

  async #begin(client: string): Promise<void> {
    const memory = this.#random.pick(MEMORIES);
    const chain = new RecordedChain(memory, this.#name('s'));
    this.chains.push(chain);
    const word = this.#name('w');
    const visits = this.#random.between(0, 1_000);
    const answer = await this.#callers.ask('POST', `/memories/${memory}/add`, grain(chain.subject, word, visits));
    if (answer === undefined) return;
    if (!this.#isDone(answer)) return void this.problems.push(`an add was refused: ${textOf(answer)}`);
    this.acknowledged += 1;
    this.#saw(chain, answer.body.blob_hash, word);
    this.#note(client, chain, answer, () => ({ kind: 'add', word, visits }));
  }

  async #supersede(client: string, chain: RecordedChain, hash: string): Promise<void> {
    const word = this.#name('w');
    const visits = this.#random.between(0, 1_000);
    const { fields } = grain(chain.subject, word, visits);
    const answer = await this.#ask(chain, 'supersede', { blob_hash: hash, fields });
    const isDone = answer !== undefined && this.#isDone(answer);
    if (isDone) this.#saw(chain, answer.body.new_hash, word);
    else chain.unsureWords.push(word);
    if (answer !== undefined && !isDone) this.#expect(answer, 'MEM-E001', 'MEM-E002', 'MEM-E006');
    const outcome = answer === undefined ? 'unknown' : isDone ? 'done' : 'refused';
    const unsure = isDone ? undefined : unsureOf(answer);
    this.#note(client, chain, answer, (words) => ({ kind: 'supersede', old: wordOf(words, hash), word, visits, answer: outcome, unsure })); // biome-ignore format: one row
  }

  async #accumulate(client: string, chain: RecordedChain, hash: string): Promise<void> {
    const word = this.#name('w');
    const delta = this.#random.between(1, 100);
    const answer = await this.#ask(chain, 'accumulate', {
      blob_hash: hash,
      deltas: { visits: delta },
      set: { object: word },
    });
    const isDone = answer !== undefined && this.#isDone(answer);
    const old: string | undefined = isDone ? answer.body.old_hash : undefined;
    if (isDone) this.#saw(chain, answer.body.new_hash, word);
    else chain.unsureWords.push(word);
    if (old !== undefined) chain.mentioned.add(old);
    if (answer !== undefined && !isDone) this.#expect(answer, 'MEM-E001', 'MEM-E006');
    const unsure = isDone ? undefined : unsureOf(answer);
    this.#note(client, chain, answer, (words) => ({
      kind: 'accumulate',
      at: wordOf(words, hash),
      word,
      delta,
      answer: answer === undefined ? 'unknown' : old === undefined ? 'refused' : { old: wordOf(words, old) },
      unsure,
    }));
  }

  async #forget(client: string, chain: RecordedChain): Promise<void> {
    chain.isOver = true;
    const answer = await this.#ask(chain, 'forget', { subject: chain.subject, reason: 'campaign' });
    const isDone = answer !== undefined && this.#isDone(answer);
    if (answer !== undefined && !isDone) this.problems.push(`a forget was refused: ${textOf(answer)}`);
    const removed: readonly string[] | undefined = answer?.body.hashes;
    for (const hash of removed ?? []) chain.mentioned.add(hash);
    this.#note(client, chain, answer, (words) => ({
      kind: 'forget',
      removed: removed === undefined ? 'unknown' : removed.map((hash) => wordOf(words, hash)),
      unsure: unsureOf(answer),
    }));
  }

  async #current(client: string, chain: RecordedChain): Promise<void> {
    const answer = await this.#callers.ask('POST', `/memories/${chain.memory}/recall`, {
      subject: chain.subject,
      exclude_superseded: true,
      limit: 10,
    });
    if (answer === undefined) return;
    if (!(answer.status < 300)) return void this.problems.push(`a recall was refused: ${textOf(answer)}`);
    const hits = answer.body.results as readonly { hash: string; fields: { object: string; visits: number } }[];
    if (hits.length > 1) this.problems.push(`${chain.subject} has ${hits.length} current versions: ${textOf(answer)}`);
    const [hit] = hits;
    if (hit !== undefined) this.#saw(chain, hit.hash, hit.fields.object);
    const found = hit === undefined ? undefined : { word: hit.fields.object, visits: hit.fields.visits };
    this.#note(client, chain, answer, () => ({ kind: 'current', found }));
  }

  async #get(client: string, chain: RecordedChain, hash: string): Promise<void> {
    const answer = await this.#callers.ask('GET', `/memories/${chain.memory}/grains/${hash}`);
    if (answer === undefined) return;
    const isThere = answer.status < 300;
    if (!isThere) this.#expect(answer, 'MEM-E001', 'MEM-E006');
    const { fields, superseded_by: next } = answer.body;
    const found = isThere
      ? { visits: fields.visits as number, isCurrent: next === undefined || next === null }
      : undefined;
    this.#note(client, chain, answer, (words) => ({ kind: 'get', word: wordOf(words, hash), found }));
  }

  async #ask(chain: RecordedChain, verb: string, body: object): Promise<Answered | undefined> {
    const answer = await this.#callers.ask('POST', `/memories/${chain.memory}/${verb}`, body);
    if (answer !== undefined && this.#isDone(answer)) this.acknowledged += 1;
    return answer;
  }

  #isDone({ status }: Answered): boolean {
    return status < 300;
  }

  #expect(answer: Answered, ...codes: readonly string[]): void {
    if (answer.code === undefined || !codes.includes(answer.code)) this.problems.push(`refused: ${textOf(answer)}`);
  }

  #saw(chain: RecordedChain, hash: string, word: string): void {
    const known = this.words.get(hash);
    if (known === undefined) chain.hashes.push(hash);
    else if (known !== word) this.problems.push(`${hash} is ${known} and ${word}`);
    this.words.set(hash, word);
  }

  #note(client: string, chain: RecordedChain, answer: Answered | undefined, call: Record['call']): void {
    const { calledMs = performance.now(), answeredMs = Number.POSITIVE_INFINITY } = answer ?? {};
    chain.records.push({ client, calledMs, answeredMs, call });
  }

  #name(prefix: string): string {
    this.#names += 1;
    return `${prefix}${this.#names}`;
  }
}

export function grain(subject: string, object: string, visits: number) {
  return { grain_type: 'belief', fields: { subject, relation: 'noted', object, visits } };
}

/** An attempt before may have taken effect. */
function unsureOf(answer: Answered | undefined): true | undefined {
  return answer?.isRepeated === true ? true : undefined;
}

/** An address that no answer has named a word for names itself, which no model accepts. */
function wordOf(words: ReadonlyMap<string, string>, hash: string): string {
  return words.get(hash) ?? hash;
}

function textOf({ status, body }: Answered): string {
  return `${status} ${JSON.stringify(body)}`;
}
