// The possible steps. A step is a seed: its effect follows from the seed and from the state of the models, so a
// sequence of steps can be reduced and stays valid.
import { EngineError } from '../../src/engine/base/errors.ts';
import type { RouterContext } from '../../src/shards/gather/fan.ts';
import type { ExportedGrain, Input, Output } from '../../src/shards/protocol.ts';
import { Discrepancy, type Outcome, same } from '../model/compare.ts';
import { type Exchange, isStorage, itemAnswer, nextOfChain } from '../model/exchange.ts';
import { isCurrent } from '../model/grain.ts';
import type { ModelMemory } from '../model/memory.ts';
import { describe, itemRequest, type WriteRequest, withKey } from '../model/request.ts';
import { Random } from '../support/random.ts';
import { checkGet, checkHistory, checkList, checkMemory, checkNode, checkRecall, pageOf } from './check.ts';
import { Crashed, turn } from './node.ts';
import * as requests from './requests.ts';
import { SYSTEM, type World } from './world.ts';

type StepOf = (world: World, random: Random) => Promise<void>;

/** Crashes that wait for an append, and the faults of one. */
type Fault = 'none' | 'refuse' | 'poison' | 'crash' | 'death' | 'taken';

const STEPS: readonly (readonly [weight: number, step: StepOf, mode?: 'faults'])[] = [
  [40, one],
  [8, burst],
  [3, race],
  [4, mixedBurst, 'faults'],
  [6, again],
  [6, list],
  [6, recall],
  [6, look],
  [16, maintain],
  [3, flush],
  [1, compact],
  [1, rebuild],
  [1, rotate],
  [1, backup],
  [2, restart],
  [3, crash],
  [3, crashInMaintenance],
  [3, passTime],
  [2, copy],
  [1, replaceMemory, 'faults'],
];

export async function runStep(world: World, seed: number): Promise<void> {
  const random = new Random(seed);
  const allowed = STEPS.filter(([, , mode]) => mode === undefined || mode === world.options.mode);
  const step = random.weighted(allowed.map(([weight, run]) => [weight, run] as const));
  await step(world, random);
}

/** A single write, sometimes with a disk fault. */
async function one(world: World, random: Random): Promise<void> {
  const targets = world.targets(random);
  const make = random.weighted<() => (model: ModelMemory, random: Random) => WriteRequest>([
    [8, () => (model, own) => requests.addRequest(own, model, world.manners)],
    [4, () => (model, own) => requests.batchRequest(own, model, world.manners)],
    [6, () => (model, own) => requests.supersedeRequest(own, model, world.manners)],
    [6, () => (model, own) => requests.accumulateRequest(own, model)],
    [4, () => (model, own) => requests.forgetRequest(own, model)],
    [2, () => (model, own) => requests.eraseRequest(own, model)],
  ])();
  const seed = random.u32();
  const key = random.chance(0.15) ? world.newKey() : undefined;
  const fault = faultOf(world, random, 0.15);
  const asked = targets.map((model) => {
    const request = make(model, new Random(seed));
    return key === undefined ? request : keyed(request, key);
  });
  const answers: Outcome[] = [];
  for (const [at, model] of targets.entries()) {
    const [answer] = await putAll(world, model, [asked[at]!], fault, random);
    answers.push(answer!);
  }
  if (targets.length > 1) world.checkTwins(asked[0]!, answers);
}

function keyed<R extends WriteRequest>(request: R, key: string): R {
  return { ...request, context: withKey(request.context, key, request.input) };
}

function faultOf(world: World, random: Random, probability: number): Fault {
  if (world.options.mode === 'twins' || !random.chance(probability)) return 'none';
  const faults = ['refuse', 'poison', 'crash', 'death'] as const;
  // A seed draws the same with the other stores.
  return world.options.store === 'postgres' ? random.pick([...faults, 'taken']) : random.pick(faults);
}

/** Concurrent adds, some of them equal: exactly one of the equal ones is not a duplicate. */
async function burst(world: World, random: Random): Promise<void> {
  const targets = world.targets(random);
  const fault = faultOf(world, random, 0.3);
  const seed = random.u32();
  for (const model of targets) {
    const own = new Random(seed);
    const asked = Array.from({ length: own.between(2, 12) }, () =>
      own.chance(0.8)
        ? requests.addRequest(own, model, world.manners)
        : requests.batchRequest(own, model, world.manners),
    );
    asked.push(asked[own.int(asked.length)]!, asked[own.int(asked.length)]!);
    await putAll(world, model, asked, fault, random);
  }
}

/** Concurrent deltas for one grain: none is lost, whatever their order. */
async function race(world: World, random: Random): Promise<void> {
  const targets = world.targets(random);
  const fault = faultOf(world, random, 0.3);
  const seed = random.u32();
  for (const model of targets) {
    const own = new Random(seed);
    const current = model.grains.filter(isCurrent);
    if (current.length === 0) continue;
    const { hash } = own.pick(current);
    const count = own.between(2, 8);
    const asked = Array.from({ length: count }, (): WriteRequest => {
      const input = { target: { hash }, deltas: { visits: own.between(1, 9) }, set: {} };
      return { method: 'accumulate', context: { ...SYSTEM(model.settings.number), actor: 'key:a' }, input };
    });
    await putAll(world, model, asked, fault, random, nextOfChain);
  }
}

/** Concurrent writes of all kinds, to a memory whose one partition executes them in the order of requests. */
async function mixedBurst(world: World, random: Random): Promise<void> {
  const models = world.models.filter(({ settings }) => settings.partitions === 1);
  if (models.length === 0) return;
  const model = random.pick(models);
  const fault = random.chance(0.2) ? 'refuse' : 'none';
  const asked = Array.from({ length: random.between(2, 10) }, (): WriteRequest => {
    const make = random.weighted<() => WriteRequest>([
      [5, () => requests.addRequest(random, model, world.manners)],
      [2, () => requests.supersedeRequest(random, model, world.manners)],
      [2, () => requests.accumulateRequest(random, model)],
      [2, () => requests.forgetRequest(random, model)],
      [1, () => requests.eraseRequest(random, model)],
    ]);
    return make();
  });
  await putAll(world, model, asked, fault, random);
}

/** The exchange that the model gets next. */
type Order = (model: ModelMemory, left: readonly Exchange[]) => Exchange | undefined;

/** Sends requests concurrently, then applies them to the model in an order that explains the answers. */
async function putAll(
  world: World,
  model: ModelMemory,
  asked: readonly WriteRequest[],
  fault: Fault,
  random: Random,
  order: Order = () => undefined,
): Promise<Outcome[]> {
  for (const request of asked) world.say(`${fault === 'none' ? '' : `[${fault}] `}${describe(request)}`);
  await arm(world, fault, random);
  const { refusals } = model;
  const answers = await Promise.all(asked.map((request) => world.send(request)));
  if (world.options.mode === 'twins') if (answers.some(isFailure)) throw new Discrepancy('a failure without a fault');
  const isKnown = !(await recover(world));
  const left = asked.flatMap((request, i) => apart({ request, answer: answers[i]! }));
  while (left.length > 0) {
    // Failed requests are checked last: no answered request came after them and built on them.
    const next = order(model, left) ?? left.find((one) => !isFailure(one.answer)) ?? left[0]!;
    left.splice(left.indexOf(next), 1);
    const { request, answer } = next;
    if (isFailure(answer)) {
      const isOneGroup = model.settings.partitions === 1 && asked.length === 1 && request.method !== 'addBatch';
      await world.resolve(model, request, answer.kind === 'storage' && (isKnown || fault === 'taken') && isOneGroup);
    } else if (fault !== 'none' && answer.kind === 'error' && asked.length > 1) {
      // It may have been planned on top of a write of its group that was then refused.
    } else world.check(model, request, answer);
  }
  const refused = answers.filter((answer) => answer.kind === 'error' && answer.code.startsWith('POL-')).length;
  if (fault !== 'none')
    await world.recountRefusals(model, model.refusals - refusals + refused * model.settings.partitions);
  return answers;
}

/**
 * A batch over several partitions with some failures: checked item by item, because some were stored and some were not.
 */
function apart(exchange: Exchange): Exchange[] {
  const { request, answer } = exchange;
  if (request.method !== 'addBatch' || answer.kind !== 'value') return [exchange];
  const { outcomes } = answer.value as Output<'addBatch'>;
  if (!outcomes.some((one) => 'error' in one && isStorage(one.error.code))) return [exchange];
  return outcomes.map((one, index) => ({ request: itemRequest(request, index), answer: itemAnswer(one) }));
}

const isFailure = ({ kind }: Outcome): boolean => kind === 'storage' || kind === 'crashed';

/** After a call with a fault: disarms remaining faults and reopens dead shards. True when there were any. */
async function recover(world: World): Promise<boolean> {
  world.node.disarm();
  const died = await world.node.recover();
  if (died) {
    world.say('open again what died');
    world.counts.reopened += 1;
  }
  return died;
}

async function arm(world: World, fault: Fault, random: Random): Promise<void> {
  const { node } = world;
  const shards = [...node.engines.keys()];
  switch (fault) {
    case 'none':
      return;
    case 'refuse':
      for (const shard of shards) if (random.chance(0.7)) node.failNextAppend(shard);
      return;
    case 'poison':
      for (const shard of shards) if (random.chance(0.7)) node.failNextSync(shard, random.chance(0.5));
      return;
    case 'death':
      for (const shard of shards) if (random.chance(0.5)) node.dieAlone(shard, random.chance(0.5));
      return;
    case 'taken':
      for (const shard of shards) if (random.chance(0.5)) await node.takeAway(shard);
      return;
    case 'crash': {
      const shard = random.pick(shards);
      for (const each of shards)
        if (each === shard || random.chance(0.6)) node.crashAfter(each, random.pick([0, 0, 0, 1]), random.chance(0.5));
    }
  }
}

/** Repeats an earlier request: it gets the same answer and changes nothing; another body under its key is refused. */
async function again(world: World, random: Random): Promise<void> {
  const modelOf = ({ context }: WriteRequest): ModelMemory | undefined =>
    world.models.find(({ settings }) => settings.number === context.memory);
  const earlier = world.keyed.filter((request) => modelOf(request) !== undefined);
  if (earlier.length === 0) return;
  const { context } = random.pick(earlier);
  const isChanged = world.options.mode === 'faults' && random.chance(0.2);
  // Twins use the same key.
  for (const request of earlier.filter((one) => one.context.idempotency!.key === context.idempotency!.key)) {
    const model = modelOf(request)!;
    const idempotency = { ...request.context.idempotency!, bodyHash: 'another' };
    const changed = { ...request, context: { ...request.context, idempotency } };
    const sent: WriteRequest = isChanged ? changed : request;
    world.say(`again: ${describe(sent)}`);
    world.check(model, sent, await world.send(sent));
  }
}

async function list(world: World, random: Random): Promise<void> {
  const targets = world.targets(random);
  const seed = random.u32();
  for (const model of targets) {
    const own = new Random(seed);
    const filter = requests.filterOf(own, targets[0]!, world.clock.nowMs());
    const context = requests.contextOf(own, model);
    const steps = own.chance(0.3);
    await checkList(world, model, context, pageOf(own, filter), {
      between: async () => {
        if (steps) await world.node.maintain(random.int(world.node.engines.length));
      },
    });
  }
}

async function recall(world: World, random: Random): Promise<void> {
  const targets = world.targets(random);
  const seed = random.u32();
  for (let i = 0; i < 3; i++)
    for (const model of targets) {
      const own = new Random(seed + i);
      const query = requests.recallOf(own, targets[0]!, world.clock.nowMs());
      await checkRecall(world, model, requests.contextOf(own, model), query);
    }
}

async function look(world: World, random: Random): Promise<void> {
  for (const model of world.targets(random))
    for (let i = 0; i < 4; i++) {
      const context = requests.contextOf(random, model);
      const hash = requests.someHash(random, model);
      await checkGet(world, model, context, hash);
      await checkHistory(world.node, model, context, hash);
    }
}

/** Runs some steps of maintenance, which may stop anywhere. */
async function maintain(world: World, random: Random): Promise<void> {
  const { node } = world;
  const shard = random.int(node.engines.length);
  const steps = random.pick([1, 3, 20, 100, 1_000]);
  const fault = faultOf(world, random, 0.2);
  world.say(`${mark(fault)}maintain shard ${shard} for ${steps} steps`);
  await arm(world, fault, random);
  for (let i = 0; i < steps && !node.isDead; i++) if (!(await node.maintain(shard)) && random.chance(0.3)) break;
  await recover(world);
}

const mark = (fault: Fault): string => (fault === 'none' ? '' : `[${fault}] `);

/** A long call, sometimes with a disk fault. Undefined when it failed for that reason. */
async function underFault<T>(
  world: World,
  random: Random,
  what: string,
  call: () => Promise<T>,
): Promise<T | undefined> {
  const fault = faultOf(world, random, 0.3);
  world.say(`${mark(fault)}${what}`);
  await arm(world, fault, random);
  try {
    return await call();
  } catch (error) {
    const isExpected = error instanceof Crashed || (error instanceof EngineError && isStorage(error.code));
    if (fault === 'none' || !isExpected) throw error;
    return undefined;
  } finally {
    await recover(world);
  }
}

async function flush(world: World, random: Random): Promise<void> {
  for (const model of world.targets(random)) {
    const { number } = model.settings;
    const flushed = await underFault(world, random, `flush memory ${number}`, () =>
      world.node.call('flush', SYSTEM(number), {}),
    );
    if (flushed !== undefined) same(flushed.pending, 0, 'flush');
  }
}

async function compact(world: World, random: Random): Promise<void> {
  for (const model of world.targets(random)) {
    const { number } = model.settings;
    const compacted = await underFault(world, random, `compact memory ${number}`, () =>
      world.node.call('compact', SYSTEM(number), {}),
    );
    const keys = world.rotations.get(model) ?? 0;
    await world.audited(model, compacted !== undefined, keys);
    if (compacted !== undefined) world.rotations.delete(model);
  }
}

async function rotate(world: World, random: Random): Promise<void> {
  for (const model of world.targets(random)) {
    const { number, partitions } = model.settings;
    const rotated = await underFault(world, random, `rotate the key of memory ${number}`, () =>
      world.node.call('rotateKeys', SYSTEM(number), { scope: 'memory' }),
    );
    if (rotated !== undefined) same(rotated.rotated, partitions, 'rotated keys');
    world.rotations.set(model, (world.rotations.get(model) ?? 0) + 1);
    await world.audited(model, rotated !== undefined);
  }
}

/** A backup contains everything acknowledged before it; its server continues. */
async function backup(world: World, _random: Random): Promise<void> {
  world.say('back up, and look into the copy');
  const copy = await world.node.restored();
  try {
    await checkNode(world, copy);
  } finally {
    await copy.end();
  }
}

/** Reads and writes continue during a rebuild of indexes. */
async function rebuild(world: World, random: Random): Promise<void> {
  const [model] = world.targets(random);
  const { number } = model!.settings;
  world.say(`rebuild, asked for memory ${number}`);
  const rebuilding = world.node.call('rebuildIndexes', SYSTEM(number), {});
  rebuilding.catch(() => undefined);
  const writes = world.options.mode === 'faults' ? random.int(4) : 0;
  for (let i = 0; i < writes; i++) {
    await putAll(world, model!, [requests.addRequest(random, model!, world.manners)], 'none', random);
    if (random.chance(0.5)) await turn();
  }
  const end = random.weighted([
    [6, 'wait'],
    [2, 'crash'],
    [world.options.mode === 'faults' ? 2 : 0, 'fault'],
  ] as const);
  if (end === 'crash') {
    world.say('crash in the rebuild');
    await world.node.crash();
    await rebuilding.catch((error: unknown) => {
      if (!(error instanceof Crashed)) throw error;
    });
    return;
  }
  const rebuilt =
    end === 'fault' ? await underFault(world, random, 'wait for the rebuild', () => rebuilding) : await rebuilding;
  if (rebuilt !== undefined) same(rebuilt.errors, 0, 'errors of a rebuild');
}

async function restart(world: World, random: Random): Promise<void> {
  world.counts.reopened += 1;
  if (world.options.store === 'postgres' && random.chance(0.5)) {
    world.say('restart on empty folders');
    return world.node.restartEmpty();
  }
  world.say('restart');
  await world.node.restart();
}

async function crash(world: World, _random: Random): Promise<void> {
  world.say('crash');
  world.counts.reopened += 1;
  await world.node.crash();
}

/** The node dies in a commit of a seal, a merge or a purge, or between its steps. */
async function crashInMaintenance(world: World, random: Random): Promise<void> {
  const { node } = world;
  const shard = random.int(node.engines.length);
  const written = random.chance(0.5);
  const steps = random.pick([3, 30, 300]);
  world.say(`crash in the maintenance of shard ${shard} after ${steps} steps (${written ? '' : 'not '}written)`);
  node.crashAfter(shard, random.int(2), written);
  for (let i = 0; i < steps && !node.isDead; i++) await node.maintain(shard);
  await node.crash();
  world.counts.reopened += 1;
}

async function passTime(world: World, random: Random): Promise<void> {
  const ms = random.pick([1, 750, 1_000, 2_500, 60_000, 3_600_000, 7_200_000, 25 * 3_600_000]);
  world.say(`${ms} ms pass`);
  world.clock.step(ms);
}

/** Copies a memory into a new one, page by page. */
async function copy(world: World, random: Random): Promise<void> {
  const [from] = world.targets(random);
  const partitions = random.pick([1, 4]);
  const dedup = random.pick(['none', 'exact', 'fuzzy', 'upsert'] as const);
  const to = await world.attach(dedup, partitions);
  world.say(`copy memory ${from!.settings.number} into memory ${to.settings.number}`);
  const grains = await exported(world, from!, random);
  const live = from!.live.map(({ hash }) => hash);
  same(grains.map(({ hash }) => hash).sort(), live.sort(), 'hashes of an export');
  const rounds = random.chance(0.3) ? 2 : 1;
  for (let round = 0; round < rounds; round++) {
    if (random.chance(0.3)) grains.reverse();
    const size = random.pick([1, 3, 10, 500]);
    for (let at = 0; at < grains.length; at += size) {
      const request = importOf(to, grains, at, at + size, round === 0 && random.chance(0.2));
      world.say(describe(request));
      world.check(to, request, await world.send(request));
    }
  }
  await checkMemory(world, to);
  // The new memory is removed again, because other steps use the initial memories.
  await world.drop(to);
}

async function exported(world: World, model: ModelMemory, random: Random): Promise<ExportedGrain[]> {
  const context = SYSTEM(model.settings.number);
  const grains: ExportedGrain[] = [];
  const filter = { includeSuperseded: true };
  const limitBytes = random.pick([1, 500, 1_000_000]);
  const clocked = world.clock.nowMs();
  const expired = model.live.filter(({ grain }) => Number(grain.fields['expires_at'] ?? Infinity) * 1000 <= clocked);
  for (let after = 0; ; ) {
    const page = await world.node.call('exportPage', context, { after, limitBytes, filter });
    grains.push(...page.grains);
    if (page.done) break;
    if (page.last <= after) throw new Discrepancy('an export stands still');
    after = page.last;
    if (random.chance(0.3)) await world.node.maintain(random.int(world.node.engines.length));
  }
  // Expired grains are hidden; the rest of the check needs all of them.
  for (const { hash, blob } of expired) grains.push({ hash, blob });
  return grains;
}

/** A part of a file: its blobs, and the manifest entries of pairs of which one is in this part and none comes later. */
function importOf(
  to: ModelMemory,
  grains: readonly ExportedGrain[],
  from: number,
  end: number,
  damaged: boolean,
): WriteRequest {
  const part = grains.slice(from, end);
  const here = new Set(part.map(({ hash }) => hash));
  const sent = new Set(grains.slice(0, end).map(({ hash }) => hash));
  const manifest: Input<'importBlobs'>['manifest'] = grains
    .filter(({ hash, supersededBy }) => sent.has(hash) && (here.has(hash) || here.has(supersededBy ?? '')))
    .map(({ blob: _, ...entry }) => entry);
  const blobs = part.map(({ blob }) => Uint8Array.from(blob));
  if (damaged && blobs[0] !== undefined) blobs[0] = blobs[0].subarray(0, blobs[0].length - 1);
  const context: RouterContext = { ...SYSTEM(to.settings.number), actor: 'key:a' };
  const accepted = [...sent].filter((hash) => !here.has(hash));
  return { method: 'importBlobs', context, input: { blobs, manifest, accepted } };
}

/** Drops a memory; another one replaces it under a new number. */
async function replaceMemory(world: World, random: Random): Promise<void> {
  const model = random.pick(world.models);
  const { dedup, partitions, number } = model.settings;
  const hash = model.live[0]?.hash;
  await world.drop(model);
  if (hash !== undefined) {
    world.node.settings.set(number, model.settings);
    try {
      await world.node.call('get', SYSTEM(number), { hash });
      throw new Discrepancy('a dropped memory answers');
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'MEM-E003') throw error;
    } finally {
      world.node.settings.delete(number);
    }
  }
  world.models.push(await world.attach(dedup, partitions));
}
