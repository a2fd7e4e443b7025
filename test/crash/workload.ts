// Clients that write, change and remove concurrently. Answered requests go to the model as soon as their order is known.
import type { RouterContext } from '../../src/shards/gather/fan.ts';
import type { AddItem, JsonObject, Output } from '../../src/shards/protocol.ts';
import { itemAnswer } from '../model/exchange.ts';
import { itemRequest, type WriteRequest, withKey } from '../model/request.ts';
import type { Random } from '../support/random.ts';
import { type Door, Lost, Refused } from './door.ts';
import { Chain, contextOf, type Knowledge, type Memory, objectOf, type Scope, User, wordOf } from './knowledge.ts';
import { settleWhenClear } from './settle.ts';

const CLIENTS = 24;
const MEMORIES_MAX = 4;
const USERS_MAX = 5;
const BATCH_MAX = 40;
const CREATED_AT = 1_700_000_000;

export interface WorkloadOptions {
  readonly door: Door;
  readonly knowledge: Knowledge;
  /** True: upkeep may be refused for a reason of storage. */
  readonly endsStore: boolean;
  readonly random: Random;
  /** Called after every acknowledged request; the campaign decides then when to kill. */
  readonly onAcknowledged: () => void;
}

export class Workload {
  readonly problems: string[] = [];
  readonly #options: WorkloadOptions;
  #stopped = false;

  constructor(options: WorkloadOptions) {
    this.#options = options;
  }

  /** Runs until `stop`, or until the store has ended. Resolves when every client has ended. */
  async run(): Promise<void> {
    const { knowledge } = this.#options;
    if (knowledge.live.length === 0) await this.#quietly(() => this.#createMemory());
    await Promise.all(Array.from({ length: CLIENTS }, () => this.#client()));
  }

  stop(): void {
    this.#stopped = true;
  }

  async #client(): Promise<void> {
    while (!this.#stopped) {
      await this.#quietly(() => this.#act());
      // Every client gets its turn, also one with nothing to do.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** The end of the store ends the clients; an unexpected refusal is a problem. */
  async #quietly(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#stopped = true;
      if (!(error instanceof Lost))
        this.problems.push(error instanceof Error ? error.stack || `${error.name}: ${error.message}` : String(error));
    }
  }

  #act(): Promise<void> {
    const { random, knowledge } = this.#options;
    const memory = random.pickAny(knowledge.live.filter((candidate) => !candidate.locked));
    if (memory === undefined) return this.#needsMemory() ? this.#createMemory() : Promise.resolve();
    const choice = random.next();
    if (choice < 0.3) return this.#add(memory);
    if (choice < 0.36) return this.#addBatch(memory);
    if (choice < 0.54) return this.#supersede(memory);
    if (choice < 0.74) return this.#accumulate(memory);
    if (choice < 0.79) return this.#forgetSubject(memory);
    if (choice < 0.81) return this.#forgetTip(memory);
    if (choice < 0.835) return this.#eraseUser(memory);
    if (choice < 0.85) return this.#upkeep(memory);
    if (choice < 0.86 && knowledge.live.length < MEMORIES_MAX) return this.#createMemory();
    if (choice < 0.863 && knowledge.live.length > 1) return this.#dropMemory(memory);
    return this.#readBack(memory);
  }

  /** True when the last memory was dropped and no new one is being created. */
  #needsMemory(): boolean {
    const { memories, live } = this.#options.knowledge;
    return live.length === 0 && memories.every((memory) => memory.state === 'dropped');
  }

  /** Runs a request inside its scopes, which count it until it is answered. */
  async #within(scopes: readonly (Scope | undefined)[], run: () => Promise<void>): Promise<void> {
    for (const scope of scopes) scope?.enter();
    try {
      await run();
    } finally {
      for (const scope of scopes) scope?.leave();
    }
  }

  /** Locks `scope` for one removal, except when racing. Yields to overlapping locks. */
  async #alone(
    { scope, around, racing }: { scope: Scope; around: readonly (Scope | undefined)[]; racing: boolean },
    run: () => Promise<void>,
  ): Promise<void> {
    if (racing) return run();
    await scope.lock();
    try {
      if (!this.#stopped && !around.some((one) => one?.locked === true)) await run();
    } finally {
      scope.unlock();
    }
  }

  /** Sends a request inside its scopes, and gives the model what is settled then. */
  async #ask(owner: Chain | User, request: WriteRequest): Promise<void> {
    const { knowledge, door, onAcknowledged } = this.#options;
    const { memory } = owner;
    const exchange = knowledge.asked(owner, request);
    await this.#within([memory, owner instanceof Chain ? owner.user : undefined, owner], async () => {
      await knowledge.send(door, owner, exchange);
      if (exchange.answer.kind === 'value') onAcknowledged();
    });
    settleWhenClear(owner);
  }

  /** The first version of a new chain. */
  #newChain(memory: Memory): { chain: Chain; item: AddItem } {
    const { knowledge, random } = this.#options;
    let user: User | undefined;
    if (random.chance(0.5)) {
      if (memory.users.length < USERS_MAX) new User(memory, knowledge.name('user'));
      user = random.pickAny(memory.users.filter((candidate) => !candidate.locked));
    }
    const chain = new Chain(memory, knowledge.name('subject'), user);
    return { chain, item: { grainType: 'belief', fields: this.#fieldsOf(chain) } };
  }

  #fieldsOf({ memory, subject, user }: Chain): JsonObject {
    const { random } = this.#options;
    return {
      ...{ subject, relation: 'noted', ...this.#nextWord(), visits: random.between(0, 1_000) },
      ...(user === undefined ? {} : { user_id: user.name }),
      // A partition holds whole sessions: with several, a user's grains are spread over them.
      ...(memory.model.settings.partitions === 1 ? {} : { session_id: `session of ${subject}` }),
    };
  }

  /** With its time a version has an address that the model foretells. */
  #nextWord(): JsonObject {
    const { knowledge } = this.#options;
    return { object: objectOf(knowledge.name('zq')), created_at: CREATED_AT + knowledge.tick() };
  }

  #add(memory: Memory): Promise<void> {
    const { chain, item } = this.#newChain(memory);
    const input = { ...item, sync: false };
    return this.#ask(chain, { method: 'add', context: this.#context(memory, input), input });
  }

  async #addBatch(memory: Memory): Promise<void> {
    const { knowledge, door, random, onAcknowledged } = this.#options;
    const made = Array.from({ length: random.between(2, BATCH_MAX) }, () => this.#newChain(memory));
    const chains = made.map(({ chain }) => chain);
    const input = { items: made.map(({ item }) => item) };
    const batch = { method: 'addBatch', context: contextOf(memory.number), input } as const;
    const exchanges = chains.map((chain, i) => knowledge.asked(chain, itemRequest(batch, i)));
    await this.#within([memory, ...chains.flatMap((chain) => [chain, chain.user])], async () => {
      const { outcomes } = (await door.send(batch)) as Output<'addBatch'>;
      for (const [i, one] of outcomes.entries()) knowledge.answered(chains[i]!, exchanges[i]!, itemAnswer(one));
      onAcknowledged();
    });
    for (const chain of chains) settleWhenClear(chain);
  }

  async #supersede(memory: Memory): Promise<void> {
    const chain = this.#freeChain(memory, (candidate) => candidate.inFlight === 0);
    const oldHash = chain?.tip();
    if (chain === undefined || oldHash === undefined) return;
    const input = { oldHash, fields: this.#fieldsOf(chain) };
    await this.#alone({ scope: chain, around: [memory, chain.user], racing: false }, () =>
      this.#ask(chain, { method: 'supersede', context: this.#context(memory, input), input }),
    );
  }

  async #accumulate(memory: Memory): Promise<void> {
    const { random } = this.#options;
    const chain = this.#freeChain(memory, () => true);
    const hash = random.pickAny([...(chain?.versions.keys() ?? [])]);
    if (chain === undefined || hash === undefined) return;
    const input = { target: { hash }, deltas: { visits: random.between(1, 100) }, set: this.#nextWord() };
    await this.#ask(chain, { method: 'accumulate', context: this.#context(memory, input), input });
  }

  async #forgetSubject(memory: Memory): Promise<void> {
    const { random } = this.#options;
    // Most chains have one version, and a forget of several may be half done.
    const chain = this.#freeChain(memory, ({ versions }) => versions.size >= random.between(0, 4));
    if (chain === undefined) return;
    await this.#forget(chain, { subject: chain.subject }, random.chance(0.2));
  }

  async #forgetTip(memory: Memory): Promise<void> {
    const chain = this.#freeChain(memory, (candidate) => candidate.inFlight === 0);
    const hash = chain?.tip();
    if (chain === undefined || hash === undefined) return;
    await this.#forget(chain, { hashes: [hash] }, false);
  }

  #forget(chain: Chain, target: { subject: string } | { hashes: string[] }, racing: boolean): Promise<void> {
    const { memory, user } = chain;
    return this.#alone({ scope: chain, around: [memory, user], racing }, () => {
      chain.broken = true;
      const context = { ...contextOf(memory.number), reason: 'campaign' };
      return this.#ask(chain, { method: 'forget', context, input: { ...target, check: false } });
    });
  }

  async #eraseUser(memory: Memory): Promise<void> {
    const { random } = this.#options;
    const user = random.pickAny(memory.users.filter((candidate) => !candidate.locked));
    if (user === undefined) return;
    await this.#alone({ scope: user, around: [memory], racing: random.chance(0.3) }, () => {
      for (const chain of user.chains) {
        chain.broken = true;
        chain.fresh = true;
      }
      return this.#ask(user, { method: 'eraseUser', context: contextOf(memory.number), input: { userId: user.name } });
    });
  }

  async #upkeep(memory: Memory): Promise<void> {
    const { door, random, endsStore, onAcknowledged } = this.#options;
    const kind = random.pick(['flush', 'flush', 'compact', 'rebuild', 'rotate'] as const);
    await this.#within([memory], async () => {
      try {
        await door.upkeep(memory.number, kind);
        onAcknowledged();
      } catch (error) {
        const isExpected = error instanceof Refused && endsStore && error.code === 'STO-E001';
        if (!isExpected) throw error;
      }
    });
  }

  async #createMemory(): Promise<void> {
    const { door, knowledge, onAcknowledged } = this.#options;
    const memory = knowledge.newMemory();
    await door.createMemory(memory.number);
    memory.state = 'live';
    knowledge.acknowledged += 1;
    onAcknowledged();
  }

  async #dropMemory(memory: Memory): Promise<void> {
    const { door, knowledge, onAcknowledged } = this.#options;
    await this.#alone({ scope: memory, around: [], racing: false }, async () => {
      memory.state = 'unknown';
      await door.dropMemory(memory.number);
      memory.state = 'dropped';
      knowledge.acknowledged += 1;
      onAcknowledged();
    });
  }

  /** Acknowledged writes are visible at once. */
  async #readBack(memory: Memory): Promise<void> {
    const { door, random } = this.#options;
    const chain = random.pickAny(memory.chains);
    const version = random.pickAny([...(chain?.versions ?? [])]);
    if (chain === undefined || version === undefined) return;
    const [hash, word] = version;
    await this.#within([memory], async () => {
      const [got, found] = await door.look(memory.number, [
        { ask: 'get', hash },
        { ask: 'word', word },
      ]);
      // A removal may have begun before or during the read.
      if (chain.broken || (chain.user?.open.length ?? 0) > 0) return;
      if (got === undefined || !('seen' in got) || wordOf(got.seen.fields?.['object']) !== word)
        this.problems.push(`${hash} was acknowledged and read back as ${JSON.stringify(got)}`);
      if (found === undefined || !('hashes' in found) || !found.hashes.includes(hash))
        this.problems.push(`${hash} was acknowledged and "${word}" found ${JSON.stringify(found)}`);
    });
  }

  #freeChain(memory: Memory, wanted: (chain: Chain) => boolean): Chain | undefined {
    const { random } = this.#options;
    // Most chains are gone after a while; a few tries find a usable one.
    for (let tries = 0; tries < 8; tries++) {
      const chain = random.chance(0.5) ? random.pickAny(memory.chains.slice(-100)) : random.pickAny(memory.chains);
      if (chain === undefined) return undefined;
      if (!chain.broken && !chain.locked && chain.user?.locked !== true && wanted(chain)) return chain;
    }
    return undefined;
  }

  /** Sometimes with an idempotency key. */
  #context(memory: Memory, input: unknown): RouterContext {
    const { random, knowledge } = this.#options;
    const context = contextOf(memory.number);
    return random.chance(0.4) ? withKey(context, knowledge.name('key'), input) : context;
  }
}
