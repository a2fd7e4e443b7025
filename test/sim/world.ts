// The node under test with the models of its memories, and the sending of a request to both.
import { EngineError } from '../../src/engine/base/errors.ts';
import type { MemorySettings, Output } from '../../src/shards/protocol.ts';
import { Discrepancy, type Outcome, plain, plainCode, same } from '../model/compare.ts';
import { apply, checkProof, isStorage, settleForget, tryWrite } from '../model/exchange.ts';
import { ModelMemory } from '../model/memory.ts';
import { describe, itemRequest, type RequestOf, type WriteMethod, type WriteRequest } from '../model/request.ts';
import { Random } from '../support/random.ts';
import { StepClock } from '../support/step-clock.ts';
import { Crashed, SimNode, type StoreKind } from './node.ts';
import type { Manners } from './requests.ts';

const START_MS = 1_700_000_000_250;

export interface WorldOptions {
  /** `twins`: the same requests on a memory of one partition and on one of four, without faults of the disk. */
  readonly mode: 'twins' | 'faults';
  readonly dedups: readonly MemorySettings['dedup'][];
  readonly sealGrains: number;
  readonly store: StoreKind;
}

/** `store`: in place of the one that the seed draws. */
export function optionsOf(seed: number, store?: StoreKind): WorldOptions {
  const random = new Random(seed);
  const dedups = ['exact', 'none', 'fuzzy', 'upsert'] as const;
  const mode = random.chance(0.4) ? 'twins' : 'faults';
  const drawnDedups = random.chance(0.7) ? [random.pick(dedups)] : [random.pick(dedups), random.pick(dedups)];
  const sealGrains = random.pick([3, 8, 30]);
  const drawn: StoreKind = random.chance(0.1) ? 'lmdb' : 'heap';
  return {
    mode,
    dedups: drawnDedups,
    sealGrains,
    store: store ?? drawn,
  };
}

const SHARDS = 4;

/** Counts of a run's work, so that an idle run does not look successful. */
export interface Counts {
  /** Writes whose answer equalled the model's. */
  acknowledged: number;
  /** The number of these that both refused with the same code. */
  refused: number;
  /** Writes that a fault left unanswered or that storage refused, checked afterwards. */
  unanswered: number;
  /** Reads that were compared: lists, recalls, single grains, histories, checks of everything. */
  reads: number;
  /** Number of reopenings of the node or of shards. */
  reopened: number;
}

export class World {
  readonly options: WorldOptions;
  readonly clock: StepClock;
  readonly node: SimNode;
  /** In twins mode each even memory and the next get the same requests. */
  models: ModelMemory[] = [];
  /** The requests in words, newest last. */
  readonly trace: string[] = [];
  /** Answered requests under an idempotency key, to be repeated. */
  readonly keyed: WriteRequest[] = [];
  readonly counts: Counts = { acknowledged: 0, refused: 0, unanswered: 0, reads: 0, reopened: 0 };
  /** Maximum number of replaced blob keys, per partition, that no compaction has destroyed. */
  readonly rotations = new Map<ModelMemory, number>();
  #nextNumber = 1;
  #nextKey = 1;

  private constructor(options: WorldOptions, clock: StepClock, node: SimNode) {
    this.options = options;
    this.clock = clock;
    this.node = node;
  }

  static async open(options: WorldOptions): Promise<World> {
    const clock = new StepClock(START_MS);
    const { sealGrains, store } = options;
    const world = new World(options, clock, await SimNode.open({ clock, shards: SHARDS, sealGrains, store }));
    for (const dedup of options.dedups) {
      world.models.push(await world.attach(dedup, 1));
      world.models.push(await world.attach(dedup, 4));
    }
    return world;
  }

  get manners(): Manners {
    const rivals = this.models.some(({ settings }) => settings.dedup === 'fuzzy' || settings.dedup === 'upsert');
    return { nowMs: this.clock.nowMs(), sessions: !(rivals && this.options.mode === 'twins') };
  }

  /** The memories that receive a request. */
  targets(random: Random): ModelMemory[] {
    if (this.options.mode === 'faults') return [random.pick(this.models)];
    const at = random.int(this.models.length / 2) * 2;
    return this.models.slice(at, at + 2);
  }

  newKey(): string {
    return `key-${this.#nextKey++}`;
  }

  async attach(dedup: MemorySettings['dedup'], partitions: number): Promise<ModelMemory> {
    const number = this.#nextNumber++;
    const settings: MemorySettings = {
      number,
      id: `memory-${number}`,
      partitions,
      language: 'en',
      dedup,
      dedupThreshold: 0.8,
      createdAtMs: this.clock.nowMs(),
    };
    this.node.settings.set(number, settings);
    await this.node.call('attachMemory', SYSTEM(number), { settings });
    this.say(`attach ${JSON.stringify(settings)}`);
    return new ModelMemory(settings, () => this.clock.nowMs());
  }

  async drop(model: ModelMemory): Promise<void> {
    const { number } = model.settings;
    this.say(`drop memory ${number}`);
    await this.node.call('dropMemory', SYSTEM(number), {});
    this.node.settings.delete(number);
    this.models = this.models.filter((one) => one !== model);
  }

  /**
   * After a call that leaves an audit entry in each partition, and one for each of up to `keys` that it destroyed there;
   * one that failed may have left some of them.
   */
  async audited(model: ModelMemory, isWhole: boolean, keys = 0): Promise<void> {
    const { number, partitions } = model.settings;
    const { auditEntries = 0 } = await this.node.call('statistics', SYSTEM(number), {});
    const added = auditEntries - model.auditEntries;
    if (added < (isWhole ? partitions : 0) || added > partitions * (1 + keys))
      throw new Discrepancy(`${added} audit entries were added to memory ${number} of ${partitions} partitions`);
    model.auditEntries = auditEntries;
  }

  /** Entries of refusals are written with their group: during a fault, up to `uncertain` may be missing. */
  async recountRefusals(model: ModelMemory, uncertain: number): Promise<void> {
    if (uncertain === 0) return;
    const { number } = model.settings;
    const { auditEntries = 0 } = await this.node.call('statistics', SYSTEM(number), {});
    if (Math.abs(auditEntries - model.auditEntries) > uncertain)
      throw new Discrepancy(`memory ${number} has ${auditEntries} audit entries, not about ${model.auditEntries}`);
    model.auditEntries = auditEntries;
  }

  say(text: string): void {
    this.trace.push(text);
  }

  /** Sends a request; resolves to its outcome. Rejects for a bug. */
  async send(request: WriteRequest): Promise<Outcome> {
    const { method, context, input } = request;
    try {
      // The union ties the method to its input.
      return { kind: 'value', value: await this.node.call(method, context, input as never) };
    } catch (error) {
      if (error instanceof Crashed) return { kind: 'crashed' };
      if (!(error instanceof EngineError)) throw error;
      return isStorage(error.code) ? { kind: 'storage' } : { kind: 'error', code: plainCode(error.code) };
    }
  }

  /** Compares the outcome of a request with the model's, which then stores it too. */
  check(model: ModelMemory, request: WriteRequest, answer: Outcome): void {
    this.counts.acknowledged += 1;
    if (!apply(model, { request, answer })) {
      this.counts.refused += 1;
      return;
    }
    const key = request.context.idempotency?.key;
    // The batch derives the keys of its items.
    if (key !== undefined && !key.includes('#') && !this.keyed.includes(request)) this.keyed.push(request);
  }

  /**
   * Settles a request that was not answered, or that storage refused: it is completely there, or not at all (each item
   * of a batch and each partition separately). `refused`: it must not be there.
   */
  async resolve(model: ModelMemory, request: WriteRequest, refused: boolean): Promise<void> {
    this.counts.unanswered += 1;
    switch (request.method) {
      case 'add':
      case 'supersede':
      case 'accumulate':
        return this.#resolveGrain(model, request, refused);
      case 'addBatch':
        for (const index of request.input.items.keys())
          await this.#resolveGrain(model, itemRequest(request, index), false);
        return;
      case 'forget':
        return settleForget(model, request, await this.held(model), refused);
      case 'eraseUser':
        return this.#resolveErase(model, request);
      case 'importBlobs':
        throw new Discrepancy('an import is repeated, not resolved');
    }
  }

  async #resolveGrain(model: ModelMemory, request: Parameters<typeof tryWrite>[1], refused: boolean): Promise<void> {
    const made = tryWrite(model, request);
    if (made === undefined) return;
    const isHeld = (await this.held(model)).has(made.hash);
    if (isHeld && refused) throw new Discrepancy(`it was refused and stored all the same: ${describe(request)}`);
    if (!isHeld) made.undo();
  }

  /** Repeats an erasure, as its caller would: then it must be complete. */
  async #resolveErase(model: ModelMemory, request: RequestOf<'eraseUser'>): Promise<void> {
    const { userId } = request.input;
    const held = await this.held(model);
    const count = model.live.filter((modelGrain) => modelGrain.user === userId && held.has(modelGrain.hash)).length;
    const { idempotency: _, ...context } = request.context;
    const again = { ...request, context };
    const expected = model.call('eraseUser', context, request.input);
    const actual = await this.send(again);
    const what = `unanswered: ${describe(request)}`;
    if (actual.kind !== 'value') throw new Discrepancy(`the repeat came to ${JSON.stringify(actual)}; ${what}`);
    checkProof(model, actual.value as Output<'eraseUser'>, { ...expected, count }, what);
  }

  /** Those of the model's grains that the node holds. */
  async held(model: ModelMemory): Promise<ReadonlySet<string>> {
    const hashes = model.live.map(({ hash }) => hash);
    const { held } = await this.node.call('locate', SYSTEM(model.settings.number), { hashes });
    return new Set(hashes.filter((_, i) => held[i] === true));
  }

  /** Twins must answer alike. */
  checkTwins(request: WriteRequest, answers: readonly Outcome[]): void {
    const [one, four] = answers.map((answer) =>
      answer.kind === 'value' ? { kind: 'value', value: comparable(request.method, answer.value) } : answer,
    );
    same(four, one, `four partitions against one: ${describe(request)}`);
  }
}

function comparable(method: WriteMethod, value: unknown): unknown {
  if (method !== 'eraseUser') return plain(method, value);
  // Keys are random.
  const { keyFingerprint, auditEntryHash: _, ...proof } = value as Output<'eraseUser'>;
  return { ...proof, hadKey: keyFingerprint !== '' };
}

export const SYSTEM = (memory: number) => ({ memory, actor: 'system', requestId: 'req_sim' });
