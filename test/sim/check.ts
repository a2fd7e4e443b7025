// Compares all data of a node with all data of its models.
import { hash as digest } from 'node:crypto';
import { EngineError } from '../../src/engine/base/errors.ts';
import type { GrainFilter } from '../../src/engine/calls/grain.ts';
import type { RecallQuery } from '../../src/engine/calls/recall.ts';
import type { RouterContext } from '../../src/shards/gather/fan.ts';
import { shardOf } from '../../src/shards/gather/placement.ts';
import type { GrainView, Input, Output } from '../../src/shards/protocol.ts';
import { outcomeOf, plainCode, same } from '../model/compare.ts';
import { inOrder, type ModelGrain, viewOf } from '../model/grain.ts';
import { checkGrains, type StoredGrain } from '../model/index-check.ts';
import type { ModelMemory } from '../model/memory.ts';
import { recalled } from '../model/search.ts';
import type { Random } from '../support/random.ts';
import type { SimNode } from './node.ts';
import { SYSTEM, type World } from './world.ts';

export const checkWorld = (world: World): Promise<void> => checkNode(world, world.node);

/** `node`: the world's own, or a copy of it. */
export async function checkNode(world: World, node: SimNode): Promise<void> {
  for (const model of world.models) await checkMemory(world, model, node);
  for (const report of await node.router.verify()) same(report.findings, [], 'verify');
  for (const health of await node.router.health()) same(health.reasons, [], `health of shard ${health.shard}`);
}

/** Compares reads, which also work while the log refuses writes. */
export async function checkMemory(world: World, model: ModelMemory, node: SimNode = world.node): Promise<void> {
  const context = SYSTEM(model.settings.number);
  const everything: GrainFilter = { includeSuperseded: true };
  await checkList(world, model, context, { filter: everything, limit: 500, order: 'desc' }, { node });
  for (const modelGrain of model.live) {
    await checkBlob(node, model, context, modelGrain);
    await checkHistory(node, model, context, modelGrain.hash);
  }
  checkIndexes(model, node);
  const gone = model.grains.filter(({ removed, hash }) => removed && model.find(hash) === undefined);
  const { held: present } = await node.call('locate', context, { hashes: gone.map(({ hash }) => hash) });
  same(present.includes(true), false, `removed grains of memory ${context.memory} are gone`);
  const {
    diskSpaceBytes: _,
    purgePending: __,
    indexLag: ___,
    ...statistics
  } = await node.call('statistics', context, {});
  same(statistics, model.statistics(), `statistics of memory ${context.memory}`);
  const audit = await node.call('verifyAudit', context, {});
  world.counts.reads += 1;
  same(audit, { valid: true, checked: model.auditEntries, partition: 0 }, `audit of memory ${context.memory}`);
}

/** Compares the indexes of each partition with the model's grains, which are given their ordinals there. */
function checkIndexes({ settings: { number, partitions }, live }: ModelMemory, { engines }: SimNode): void {
  for (let partition = 0; partition < partitions; partition++) {
    const { store } = engines[shardOf(number, partition, engines.length)]!;
    const memory = store.memory(number);
    const stored = live
      .filter((modelGrain) => modelGrain.partition === partition)
      .map(({ hash, blob, identity, grain, numbers, ...listed }): StoredGrain => {
        const keyed = Buffer.concat([memory.identityKey, Buffer.from(identity ?? '', 'hex')]);
        const tool = memory.numberOf(String(grain.fields['tool_name']));
        return {
          ...listed,
          place: store.findOrdinal(number, hash) ?? -1,
          address: hash,
          identity: identity === undefined ? undefined : digest('sha256', keyed, 'hex').slice(0, 16),
          blobBytes: blob.length,
          numbers: grain.type === 'action' ? { ...numbers, tool } : numbers,
        };
      });
    checkGrains(store.index.memory(number), stored, (ordinal) => store.index.removed.get(ordinal));
  }
}

async function checkBlob(node: SimNode, model: ModelMemory, context: RouterContext, modelGrain: ModelGrain) {
  const expected = outcomeOf(() => ({ blob: model.get(context, modelGrain.hash).blob }));
  const actual = await outcome(
    node.call('getRaw', context, { hash: modelGrain.hash }).then(({ blob }) => ({ blob: Buffer.from(blob) })),
  );
  same(actual, expected, `blob of ${modelGrain.hash}`);
}

export async function checkHistory(node: SimNode, model: ModelMemory, context: RouterContext, hash: string) {
  const expected = outcomeOf(() => model.history(context, hash));
  const actual = await outcome(node.call('history', context, { hash }));
  same(actual, expected, `history of ${hash}`);
}

export async function checkGet(world: World, model: ModelMemory, context: RouterContext, hash: string) {
  world.counts.reads += 1;
  const expected = outcomeOf(() => viewOf(model.get(context, hash), context));
  same(await outcome(world.node.call('get', context, { hash })), expected, `get ${hash}`);
}

/** All pages of a list, one after the other; `between` runs between two pages. */
export async function checkList(
  world: World,
  model: ModelMemory,
  context: RouterContext,
  input: Omit<Input<'list'>, 'after'>,
  {
    node = world.node,
    between = async () => undefined,
  }: { node?: SimNode | undefined; between?: (() => Promise<void>) | undefined } = {},
): Promise<void> {
  const what = `list ${JSON.stringify(input)} as ${JSON.stringify(context)}`;
  world.counts.reads += 1;
  const all = model
    .passing(input.filter, context)
    .sort(inOrder(input.order))
    .map((grain) => viewOf(grain, context));
  const found: GrainView[] = [];
  let page: Output<'list'> | undefined;
  do {
    const { next } = page ?? {};
    const { offset, ...rest } = input;
    const skipped = page === undefined && offset !== undefined ? { offset } : {};
    page = await node.call('list', context, {
      ...rest,
      ...skipped,
      ...(next === undefined ? {} : { after: next }),
    });
    same(page.total, all.length, `total of ${what}`);
    same(page.more, page.next !== undefined, `place of the next page of ${what}`);
    if (page.more) same(page.grains.length, input.limit, `length of a page of ${what}`);
    found.push(...page.grains);
    await between();
  } while (page.more && found.length <= all.length);
  same(tiesInOrder(found), tiesInOrder(all.slice(input.offset ?? 0)), what);
}

/** Partitions may have a grain of one address each, and nothing orders these. */
function tiesInOrder(views: readonly GrainView[]): readonly GrainView[] {
  const ordered: GrainView[] = [];
  for (const view of views) {
    const isTied = (other: GrainView): boolean => other.hash === view.hash && other.createdAtMs === view.createdAtMs;
    let at = ordered.length;
    while (at > 0 && isTied(ordered[at - 1]!) && JSON.stringify(ordered[at - 1]) > JSON.stringify(view)) at--;
    ordered.splice(at, 0, view);
  }
  return ordered;
}

export async function checkRecall(world: World, model: ModelMemory, context: RouterContext, query: RecallQuery) {
  world.counts.reads += 1;
  const actual = await world.node.call('recall', context, query);
  const expected = recalled(model, context, query);
  same(actual, expected, `recall ${JSON.stringify(query)} as ${JSON.stringify(context)}`);
  return actual;
}

async function outcome<T>(call: Promise<T>) {
  try {
    return { kind: 'value', value: await call };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { kind: 'error', code: plainCode(error.code) };
  }
}

/** A filter over all grains must not lose any: pages in both orders, any place to begin. */
export function pageOf(random: Random, filter: GrainFilter): Omit<Input<'list'>, 'after'> {
  const offset = random.maybe(0.2, () => random.int(6));
  return {
    filter,
    limit: random.pick([1, 2, 5, 17, 500]),
    order: random.pick(['asc', 'desc']),
    ...(offset === undefined ? {} : { offset }),
  };
}
