// The expected state of the store: every version of every requested chain, and its fate as far as a client can know.
// Times are ticks of the campaign's own clock, so that "answered before the other was asked" can be decided.

/**
 * pending: requested, not answered (or the process ended). there: acknowledged. maybe: a concurrent or unanswered
 * removal may have removed it. gone: its removal was acknowledged. never: refused, or an unanswered request that turned
 * out not to have been executed.
 */
export type State = 'pending' | 'there' | 'maybe' | 'gone' | 'never';

/** A resource that requests hold while they run, or lock exclusively. */
export class Scope {
  locked = false;
  inFlight = 0;
  #drained: (() => void) | undefined;

  enter(): void {
    this.inFlight += 1;
  }

  leave(): void {
    this.inFlight -= 1;
    if (this.inFlight === 0) this.#drained?.();
  }

  /** Admits no further requests; resolves when the admitted ones have left. */
  async lock(): Promise<void> {
    this.locked = true;
    if (this.inFlight > 0)
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    this.#drained = undefined;
  }

  unlock(): void {
    this.locked = false;
  }
}

export interface Removal {
  readonly start: number;
  /** Infinity until it is acknowledged. */
  end: number;
}

export class Version {
  readonly chain: Chain;
  readonly word: string;
  readonly start: number;
  /** The time of its acknowledgement. */
  end = Number.POSITIVE_INFINITY;
  state: State = 'pending';
  hash: string | undefined;
  /** The version that it replaced, as reported or shown by the store. */
  previous: string | undefined;
  /** The expected `visits`: set by an add or supersede, added to the previous version's by an accumulate. */
  readonly visits: { readonly set: number } | { readonly added: number };

  constructor(chain: Chain, word: string, visits: Version['visits'], start: number) {
    this.chain = chain;
    this.word = word;
    this.visits = visits;
    this.start = start;
    chain.versions.push(this);
  }
}

/** Versions of one belief, with a subject that no other chain has. */
export class Chain extends Scope {
  readonly memory: Memory;
  readonly subject: string;
  readonly user: User | undefined;
  readonly versions: Version[] = [];
  readonly removals: Removal[] = [];
  /** True after a removal: no new versions are made, and its links may be incomplete. */
  broken = false;
  /** Changed since its last check. */
  fresh = true;

  constructor(memory: Memory, subject: string, user: User | undefined) {
    super();
    this.memory = memory;
    this.subject = subject;
    this.user = user;
    memory.chains.push(this);
    user?.chains.push(this);
  }

  /** The current version if every request on the chain was answered, else undefined. */
  tip(): Version | undefined {
    if (this.versions.some((version) => version.state === 'pending' || version.state === 'maybe')) return undefined;
    const there = this.versions.filter((version) => version.state === 'there');
    const replaced = new Set(there.map((version) => version.previous));
    return there.find((version) => !replaced.has(version.hash));
  }
}

export class User extends Scope {
  readonly memory: Memory;
  readonly name: string;
  readonly chains: Chain[] = [];
  readonly removals: Removal[] = [];
  /** The proof of the last erasure, while nothing has been written for the user since. */
  proof: string | undefined;

  constructor(memory: Memory, name: string) {
    super();
    this.memory = memory;
    this.name = name;
    memory.users.push(this);
  }
}

export class Memory extends Scope {
  readonly number: number;
  state: 'unknown' | 'live' | 'dropped' = 'unknown';
  readonly chains: Chain[] = [];
  readonly users: User[] = [];
  /** The number of acknowledged acts that leave an audit entry. */
  audited = 0;

  constructor(number: number) {
    super();
    this.number = number;
  }
}

/** Versions of one unanswered removal: all of them are removed, or none. */
export interface Fate {
  readonly what: string;
  readonly versions: readonly Version[];
}

export class Model {
  readonly memories: Memory[] = [];
  /** The next check settles these. */
  fates: Fate[] = [];
  acknowledged = 0;
  #tick = 0;
  #names = 0;
  #memories = 0;

  tick(): number {
    this.#tick += 1;
    return this.#tick;
  }

  /** A name or word that was not returned before. */
  name(kind: string): string {
    this.#names += 1;
    return `${kind}${this.#names}x`;
  }

  newMemory(): Memory {
    this.#memories += 1;
    const memory = new Memory(this.#memories);
    this.memories.push(memory);
    return memory;
  }

  get live(): Memory[] {
    return this.memories.filter((memory) => memory.state === 'live');
  }

  /** Records the acknowledgement of a write. */
  granted(version: Version, hash: string, previous?: string): void {
    this.acknowledged += 1;
    version.chain.memory.audited += 1;
    version.hash = hash;
    version.previous = previous;
    version.end = this.tick();
    const { chain } = version;
    if (chain.user !== undefined) chain.user.proof = undefined;
    const removals = [...chain.removals, ...(chain.user?.removals ?? [])];
    version.state = removals.some((removal) => removal.end > version.start) ? 'maybe' : 'there';
  }

  /** Records the start of a removal of everything in `versions`. */
  removing(owner: Chain | User): Removal {
    const removal = { start: this.tick(), end: Number.POSITIVE_INFINITY };
    owner.removals.push(removal);
    return removal;
  }

  /** Records the acknowledgement of a removal: versions that existed before it are gone, concurrent ones may be. */
  removed(removal: Removal, versions: readonly Version[]): void {
    this.acknowledged += 1;
    removal.end = this.tick();
    for (const version of versions) {
      if (version.state !== 'there' && version.state !== 'maybe') continue;
      version.state = version.end < removal.start ? 'gone' : 'maybe';
    }
  }

  /** Records an unanswered removal. With `whole`, nothing else ran on these versions: they share a fate. */
  removalLost(what: string, versions: readonly Version[], whole: boolean): void {
    const there = versions.filter((version) => version.state === 'there');
    for (const version of there) version.state = 'maybe';
    if (whole) this.fates.push({ what, versions: there });
  }
}
