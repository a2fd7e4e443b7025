// The knowledge of a campaign's clients: their requests, and the answers. The model of a memory knows what requests do to it.
// Times are ticks of the campaign's own clock, so that "answered before the other was asked" can be decided.
import type { RouterContext } from '../../src/shards/gather/fan.ts';
import type { MemorySettings } from '../../src/shards/protocol.ts';
import { type Outcome, plainCode } from '../model/compare.ts';
import { ModelMemory, tipOf } from '../model/memory.ts';
import type { WriteRequest } from '../model/request.ts';
import { type Door, Refused } from './door.ts';

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

/** A request, and its answer as far as it came: `crashed` until then. */
export interface Exchange {
  readonly request: WriteRequest;
  readonly start: number;
  /** Infinity until it is answered. */
  end: number;
  answer: Outcome;
  /** Sent again after the restart: the first attempt may have taken effect too. */
  isRepeated: boolean;
}

/** Versions of one belief, with a subject that no other chain has. */
export class Chain extends Scope {
  readonly memory: Memory;
  readonly subject: string;
  readonly user: User | undefined;
  readonly asked: Exchange[] = [];
  /** Those that the model does not have yet. */
  readonly open: Exchange[] = [];
  /** Addresses of versions that were answered or found, with their words. */
  readonly versions = new Map<string, string>();
  /** True after a removal: no new versions are made. */
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

  /** The current version, when the model has all requests. */
  tip(): string | undefined {
    const [hash] = this.versions.keys();
    const known = hash === undefined || this.open.length > 0 ? undefined : this.memory.model.find(hash);
    return known === undefined ? undefined : tipOf(known).hash;
  }
}

export class User extends Scope {
  readonly memory: Memory;
  readonly name: string;
  readonly chains: Chain[] = [];
  /** Erasures that the model does not have yet. */
  readonly open: Exchange[] = [];

  constructor(memory: Memory, name: string) {
    super();
    this.memory = memory;
    this.name = name;
    memory.users.push(this);
  }
}

export class Memory extends Scope {
  readonly model: ModelMemory;
  state: 'unknown' | 'live' | 'dropped' = 'unknown';
  readonly chains: Chain[] = [];
  readonly users: User[] = [];
  /** Audit entries that the model has and the store may not have. */
  unsureEntries = 0;

  constructor(settings: MemorySettings) {
    super();
    this.model = new ModelMemory(settings, Date.now);
  }

  get number(): number {
    return this.model.settings.number;
  }
}

export class Knowledge {
  readonly memories: Memory[] = [];
  acknowledged = 0;
  readonly #partitions: number;
  #tick = 0;
  #names = 0;

  constructor(partitions: number) {
    this.#partitions = partitions;
  }

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
    const memory = new Memory(settingsOf(this.memories.length + 1, this.#partitions));
    this.memories.push(memory);
    return memory;
  }

  get live(): Memory[] {
    return this.memories.filter((memory) => memory.state === 'live');
  }

  asked(owner: Chain | User, request: WriteRequest): Exchange {
    const exchange: Exchange = {
      request,
      start: this.tick(),
      end: Number.POSITIVE_INFINITY,
      answer: { kind: 'crashed' },
      isRepeated: false,
    };
    owner.open.push(exchange);
    if (owner instanceof Chain) {
      owner.fresh = true;
      owner.asked.push(exchange);
    }
    return exchange;
  }

  answered(owner: Chain | User, exchange: Exchange, answer: Outcome): void {
    exchange.end = this.tick();
    exchange.answer = answer;
    if (answer.kind !== 'value') return;
    this.acknowledged += 1;
    const { hash, newHash = hash } = answer.value as { hash?: string; newHash?: string };
    if (owner instanceof Chain && newHash !== undefined) owner.versions.set(newHash, wordIn(exchange.request)!);
  }

  /** Sends a request and takes its answer. */
  async send(door: Door, owner: Chain | User, exchange: Exchange): Promise<void> {
    try {
      this.answered(owner, exchange, { kind: 'value', value: await door.send(exchange.request) });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      // The first attempt may have taken effect, and the removal after it refuses the second one.
      if (exchange.isRepeated && isRaced(owner)) return;
      this.answered(owner, exchange, { kind: 'error', code: plainCode(error.code) });
    }
  }

  /**
   * Sends requests without an answer again after the restart: those under an idempotency key, and erasures that may have reached only
   * some partitions.
   */
  async sendAgain(door: Door): Promise<void> {
    for (const owner of this.live.flatMap(({ chains, users }) => [...chains, ...users]))
      for (const exchange of owner.open) {
        const isKeyed = exchange.request.context.idempotency !== undefined;
        if (exchange.answer.kind !== 'crashed' || !(isKeyed || (owner instanceof User && this.#partitions > 1)))
          continue;
        exchange.isRepeated = true;
        await this.send(door, owner, exchange);
      }
  }
}

/** True when a removal ran beside the requests that the model does not have yet. */
function isRaced(owner: Chain | User): boolean {
  if (owner instanceof User) return false;
  return owner.open.some(({ request }) => request.method === 'forget') || (owner.user?.open.length ?? 0) > 0;
}

export function settingsOf(number: number, partitions: number): MemorySettings {
  return {
    number,
    id: `m${number}`,
    partitions,
    language: 'en',
    dedup: 'exact',
    dedupThreshold: 0.85,
    createdAtMs: 1_700_000_000_000,
  };
}

export function contextOf(memory: number): RouterContext {
  return { memory, actor: 'key:campaign', requestId: 'req_campaign' };
}

/** The object of a belief that alone has `word`, so that searches can identify it. */
export function objectOf(word: string): string {
  return `${word} was seen at the harbour`;
}

export function wordOf(object: unknown): string {
  return String(object).split(' ')[0]!;
}

/** Of the version that the request makes. */
export function wordIn({ method, input }: WriteRequest): string | undefined {
  if (method === 'add' || method === 'supersede') return wordOf(input.fields['object']);
  return method === 'accumulate' ? wordOf(input.set['object']) : undefined;
}
