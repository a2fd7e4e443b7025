// Clients that write, change and remove concurrently, and record the results in the model.

import type { Random } from '../support/random.ts';
import { type Door, type Item, Lost, Refused } from './door.ts';
import { Chain, type Memory, type Model, type Removal, type Scope, User, Version } from './model.ts';

const CLIENTS = 24;
const MEMORIES_MAX = 4;
const USERS_MAX = 5;
const BATCH_MAX = 40;

export interface WorkloadOptions {
  readonly door: Door;
  readonly model: Model;
  /** True: an interrupted erasure may have reached only some partitions, and is repeated after the restart. */
  readonly partitioned: boolean;
  /** True: upkeep may be refused for a reason of storage. */
  readonly endsStore: boolean;
  readonly random: Random;
  /** Called after every acknowledged request; the campaign decides then when to kill. */
  readonly onAcknowledged: () => void;
}

/** A request that was not answered and may be sent again under the same idempotency key. */
export type Retry = (door: Door) => Promise<void>;

export class Workload {
  readonly problems: string[] = [];
  readonly retries: Retry[] = [];
  readonly #options: WorkloadOptions;
  #stopped = false;

  constructor(options: WorkloadOptions) {
    this.#options = options;
  }

  /** Runs until `stop`, or until the store has ended. Resolves when every client has ended. */
  async run(): Promise<void> {
    const { model } = this.#options;
    if (model.live.length === 0) await this.#quietly(() => this.#createMemory());
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
    const { random, model } = this.#options;
    const memory = random.pickAny(model.live.filter((candidate) => !candidate.locked));
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
    if (choice < 0.86 && model.live.length < MEMORIES_MAX) return this.#createMemory();
    if (choice < 0.863 && model.live.length > 1) return this.#dropMemory(memory);
    return this.#readBack(memory);
  }

  /** True when the last memory was dropped and no new one is being created. */
  #needsMemory(): boolean {
    const { memories, live } = this.#options.model;
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

  #acknowledged(): void {
    this.#options.onAcknowledged();
  }

  #newChain(memory: Memory): { version: Version; item: Item } {
    const { model, random } = this.#options;
    let user: User | undefined;
    if (random.chance(0.5)) {
      if (memory.users.length < USERS_MAX) new User(memory, model.name('user'));
      user = random.pickAny(memory.users.filter((candidate) => !candidate.locked));
    }
    const chain = new Chain(memory, model.name('subject'), user);
    const visits = random.between(0, 1_000);
    const version = new Version(chain, model.name('zq'), { set: visits }, model.tick());
    return { version, item: { subject: chain.subject, word: version.word, visits, user: user?.name } };
  }

  async #add(memory: Memory): Promise<void> {
    const { model, door } = this.#options;
    const { version, item } = this.#newChain(memory);
    const key = this.#key();
    const send = async (to: Door): Promise<void> => model.granted(version, await to.add(memory.number, item, key));
    await this.#write(version, key === undefined ? undefined : send, () => send(door));
  }

  async #addBatch(memory: Memory): Promise<void> {
    const { model, door, random } = this.#options;
    const made = Array.from({ length: random.between(2, BATCH_MAX) }, () => this.#newChain(memory));
    const scopes = [memory, ...made.flatMap(({ version: { chain } }) => [chain, chain.user])];
    await this.#within(scopes, async () => {
      const outcomes = await door.addBatch(
        memory.number,
        made.map(({ item }) => item),
      );
      outcomes.forEach((outcome, i) => {
        const { version } = made[i]!;
        if ('hash' in outcome) model.granted(version, outcome.hash);
        else this.problems.push(`an item of a batch was refused: ${outcome.code}`);
      });
      this.#acknowledged();
    });
  }

  /** Sends a request that creates a version; a refusal is only right during a removal. */
  async #write(version: Version, retry: Retry | undefined, send: () => Promise<void>): Promise<void> {
    const { chain } = version;
    chain.fresh = true;
    await this.#within([chain.memory, chain.user, chain], async () => {
      try {
        await send();
        this.#acknowledged();
      } catch (error) {
        if (error instanceof Lost && retry !== undefined) this.retries.push(guarded(retry, version));
        if (!(error instanceof Refused)) throw error;
        version.state = 'never';
        if (!wasRaced(version)) throw error;
      }
    });
  }

  async #supersede(memory: Memory): Promise<void> {
    const { model, door, random } = this.#options;
    const chain = this.#freeChain(memory, (candidate) => candidate.inFlight === 0);
    const tip = chain?.tip();
    if (chain === undefined || tip?.hash === undefined) return;
    const oldHash = tip.hash;
    const visits = random.between(0, 1_000);
    const version = new Version(chain, model.name('zq'), { set: visits }, model.tick());
    const item = { subject: chain.subject, word: version.word, visits, user: chain.user?.name };
    const key = this.#key();
    const send = async (to: Door): Promise<void> =>
      model.granted(version, await to.supersede(memory.number, oldHash, item, key), oldHash);
    await this.#alone({ scope: chain, around: [memory, chain.user], racing: false }, () =>
      this.#write(version, key === undefined ? undefined : send, () => send(door)),
    );
  }

  async #accumulate(memory: Memory): Promise<void> {
    const { model, door, random } = this.#options;
    const chain = this.#freeChain(memory, () => true);
    const target = random.pickAny(chain?.versions.filter((version) => version.state === 'there') ?? []);
    if (chain === undefined || target?.hash === undefined) return;
    const hash = target.hash;
    const delta = random.between(1, 100);
    const version = new Version(chain, model.name('zq'), { added: delta }, model.tick());
    const change = { delta, word: version.word };
    const key = this.#key();
    const send = async (to: Door): Promise<void> => {
      const { oldHash, newHash } = await to.accumulate(memory.number, hash, change, key);
      model.granted(version, newHash, oldHash);
    };
    await this.#write(version, key === undefined ? undefined : send, () => send(door));
  }

  async #forgetSubject(memory: Memory): Promise<void> {
    const { model, door, random } = this.#options;
    const chain = this.#freeChain(memory, () => true);
    if (chain === undefined) return;
    const racing = random.chance(0.2);
    await this.#alone({ scope: chain, around: [memory, chain.user], racing }, () =>
      this.#within([memory, chain.user], async () => {
        chain.broken = true;
        chain.fresh = true;
        const removal = model.removing(chain);
        const before = hashesOf(chain.versions);
        // An erasure of the user may have removed the chain's first version.
        const known = chain.versions.every((version) => version.state !== 'maybe');
        try {
          const hashes = await door.forget(memory.number, { subject: chain.subject });
          if (!racing && known && isAlone(chain, removal) && !isSame(hashes, before))
            this.problems.push(`forget ${chain.subject} said ${hashes.length}`);
          memory.audited += hashes.length;
          model.removed(removal, chain.versions);
          this.#acknowledged();
        } catch (error) {
          model.removalLost(`forget of ${chain.subject}`, chain.versions, !racing && isAlone(chain, removal));
          throw error;
        }
      }),
    );
  }

  async #forgetTip(memory: Memory): Promise<void> {
    const { model, door } = this.#options;
    const chain = this.#freeChain(memory, (candidate) => candidate.inFlight === 0);
    const tip = chain?.tip();
    if (chain === undefined || tip?.hash === undefined) return;
    const { hash } = tip;
    await this.#alone({ scope: chain, around: [memory, chain.user], racing: false }, () =>
      this.#within([memory, chain.user], async () => {
        chain.broken = true;
        chain.fresh = true;
        const removal = { start: model.tick(), end: Number.POSITIVE_INFINITY };
        try {
          const hashes = await door.forget(memory.number, { hash });
          if (isAlone(chain, removal) && !isSame(hashes, [hash]))
            this.problems.push(`forget ${hash} said ${hashes.join()}`);
          memory.audited += hashes.length;
          model.removed(removal, [tip]);
          this.#acknowledged();
        } catch (error) {
          model.removalLost(`forget of ${hash}`, [tip], true);
          throw error;
        }
      }),
    );
  }

  async #eraseUser(memory: Memory): Promise<void> {
    const { model, door, random } = this.#options;
    const user = random.pickAny(memory.users.filter((candidate) => !candidate.locked));
    if (user === undefined) return;
    const racing = random.chance(0.3);
    await this.#alone({ scope: user, around: [memory], racing }, () =>
      this.#within([memory], async () => {
        for (const chain of user.chains) {
          chain.broken = true;
          chain.fresh = true;
        }
        const versions = (): Version[] => user.chains.flatMap((chain) => chain.versions);
        const removal = model.removing(user);
        const before = versions();
        const known = before.every((version) => version.state !== 'maybe' && version.state !== 'pending');
        // A forget that waited for its chain while the user was locked runs beside the erasure, and another erasure may.
        const alone =
          !racing &&
          user.chains.every((chain) => !chain.locked) &&
          user.removals.every((other) => other === removal || other.end < removal.start);
        const expected = before.filter((version) => version.state === 'there').length;
        try {
          const { count, fingerprint } = await door.eraseUser(memory.number, user.name);
          if (alone && known && count !== expected)
            this.problems.push(`the erasure of ${user.name} counted ${count}, not ${expected}`);
          model.removed(removal, versions());
          if (!racing && fingerprint !== '') user.proof = fingerprint;
          this.#acknowledged();
        } catch (error) {
          user.proof = undefined;
          const { partitioned } = this.#options;
          model.removalLost(`erasure of ${user.name}`, versions(), alone && !partitioned);
          if (partitioned && error instanceof Lost)
            this.retries.push(async (again) => {
              await again.eraseUser(memory.number, user.name);
              model.removed(removal, versions());
            });
          throw error;
        }
      }),
    );
    // New chains of a user who was erased meanwhile are as valid as any.
  }

  async #upkeep(memory: Memory): Promise<void> {
    const { door, random, endsStore } = this.#options;
    const kind = random.pick(['flush', 'flush', 'compact', 'rebuild', 'rotate'] as const);
    await this.#within([memory], async () => {
      try {
        await door.upkeep(memory.number, kind);
        this.#acknowledged();
      } catch (error) {
        const isExpected = error instanceof Refused && endsStore && error.code === 'STO-E001';
        if (!isExpected) throw error;
      }
    });
  }

  async #createMemory(): Promise<void> {
    const { door, model } = this.#options;
    const memory = model.newMemory();
    await door.createMemory(memory.number);
    memory.state = 'live';
    model.acknowledged += 1;
    this.#acknowledged();
  }

  async #dropMemory(memory: Memory): Promise<void> {
    const { door, model } = this.#options;
    await this.#alone({ scope: memory, around: [], racing: false }, async () => {
      memory.state = 'unknown';
      await door.dropMemory(memory.number);
      memory.state = 'dropped';
      model.acknowledged += 1;
      this.#acknowledged();
    });
  }

  /** Acknowledged writes are visible at once. */
  async #readBack(memory: Memory): Promise<void> {
    const { door, random } = this.#options;
    const chain = random.pickAny(memory.chains);
    const version = random.pickAny(chain?.versions.filter((candidate) => candidate.state === 'there') ?? []);
    if (version?.hash === undefined) return;
    const { hash, word } = version;
    await this.#within([memory], async () => {
      const [got, found] = await door.look(memory.number, [
        { ask: 'get', hash },
        { ask: 'word', word },
      ]);
      // A removal may have begun during the read; one of the tip alone locks the chain.
      if (version.state !== 'there' || version.chain.locked || wasRaced(version)) return;
      if (got === undefined || !('seen' in got) || got.seen.word !== word)
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

  #key(): string | undefined {
    const { random, model } = this.#options;
    return random.chance(0.4) ? model.name('key') : undefined;
  }
}

/** Repeats a request after the restart: the answer is the first one. A target that was removed meanwhile refuses it. */
function guarded(retry: Retry, version: Version): Retry {
  return async (door) => {
    try {
      await retry(door);
    } catch (error) {
      if (!(error instanceof Refused) || !wasRaced(version)) throw error;
    }
  };
}

/** True when a removal ran at any time since the version was requested. */
function wasRaced(version: Version): boolean {
  const { chain } = version;
  return [...chain.removals, ...(chain.user?.removals ?? [])].some((removal) => removal.end > version.start);
}

/** True when no erasure of the chain's user ran during the removal. */
function isAlone(chain: Chain, removal: Removal): boolean {
  return chain.user?.removals.every((other) => other.end < removal.start) ?? true;
}

function hashesOf(versions: readonly Version[]): string[] {
  return versions.flatMap(({ state, hash }) => (state === 'there' && hash !== undefined ? [hash] : []));
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === a.length;
}
