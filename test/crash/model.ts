// What the store promised: every version of every chain that was asked for, and what became of it as far as a client
// can know. Times are ticks of the campaign's own clock, so that "answered before that was asked" can be told.

/**
 * pending: asked, not answered (or the process went away). there: acknowledged. maybe: a removal that was under way at the
 * same time, or whose answer never came, may have taken it. gone: its removal was acknowledged. never: refused, or an
 * unanswered request that turned out not to have been done.
 */
export type State = 'pending' | 'there' | 'maybe' | 'gone' | 'never';

/** Something that requests hold while they run, or lock for themselves. */
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

  /** Nothing new enters; resolves when what had entered has left. */
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
  /** Infinity until it was acknowledged. */
  end: number;
}

export class Version {
  readonly chain: Chain;
  readonly word: string;
  readonly start: number;
  /** When it was acknowledged. */
  end = Number.POSITIVE_INFINITY;
  state: State = 'pending';
  hash: string | undefined;
  /** The version that it replaced, as the store said or showed. */
  previous: string | undefined;
  /** What `visits` is to be: set by an add or supersede, added to the version before by an accumulate. */
  readonly visits: { readonly set: number } | { readonly added: number };

  constructor(chain: Chain, word: string, visits: Version['visits'], start: number) {
    this.chain = chain;
    this.word = word;
    this.visits = visits;
    this.start = start;
    chain.versions.push(this);
  }
}

/** Versions of one belief, under a subject that no other chain has. */
export class Chain extends Scope {
  readonly memory: Memory;
  readonly subject: string;
  readonly user: User | undefined;
  readonly versions: Version[] = [];
  readonly removals: Removal[] = [];
  /** A removal reached it: no new versions are made, and its links are not whole. */
  broken = false;
  /** Touched since it was last checked. */
  fresh = true;

  constructor(memory: Memory, subject: string, user: User | undefined) {
    super();
    this.memory = memory;
    this.subject = subject;
    this.user = user;
    memory.chains.push(this);
    user?.chains.push(this);
  }

  /** The current version when every request on the chain was answered, else undefined. */
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
  /** Of the last erasure, while nothing was written for the user since. */
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
  /** Acknowledged acts that leave an audit entry. */
  audited = 0;

  constructor(number: number) {
    super();
    this.number = number;
  }
}

/** Versions that one unanswered removal was to take: all of them or none. */
export interface Fate {
  readonly what: string;
  readonly versions: readonly Version[];
}

export class Model {
  readonly memories: Memory[] = [];
  /** Settled by the next check. */
  fates: Fate[] = [];
  acknowledged = 0;
  #tick = 0;
  #names = 0;
  #memories = 0;

  tick(): number {
    this.#tick += 1;
    return this.#tick;
  }

  /** A name, or a word, that was not given before. */
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

  /** A write was acknowledged. */
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

  /** A removal of everything in `versions` begins. */
  removing(owner: Chain | User): Removal {
    const removal = { start: this.tick(), end: Number.POSITIVE_INFINITY };
    owner.removals.push(removal);
    return removal;
  }

  /** It was acknowledged: what was there before it is gone, what overlapped it may be. */
  removed(removal: Removal, versions: readonly Version[]): void {
    this.acknowledged += 1;
    removal.end = this.tick();
    for (const version of versions) {
      if (version.state !== 'there' && version.state !== 'maybe') continue;
      version.state = version.end < removal.start ? 'gone' : 'maybe';
    }
  }

  /** Its answer never came. With `whole`, nothing else was under way on these versions: they share a fate. */
  removalLost(what: string, versions: readonly Version[], whole: boolean): void {
    const there = versions.filter((version) => version.state === 'there');
    for (const version of there) version.state = 'maybe';
    if (whole) this.fates.push({ what, versions: there });
  }
}
