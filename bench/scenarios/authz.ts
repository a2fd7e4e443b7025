// Access tuples, in process: checks of a memory with 100,000 tuples, from the memo and along a chain of ten usersets that
// is read for the first time or known, and recalls by words with and without enforcement.
import { join } from 'node:path';
import type { CallContext } from '../../src/engine/calls/context.ts';
import type { RecallQuery } from '../../src/engine/calls/recall.ts';
import { addAll, batchesOf, contextOf, makeMemories, type OpenShard, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { grainSource } from '../lib/grains.ts';
import { type Measured, type Options, type Scenario, sized } from '../lib/scenario.ts';
import { inTurns, median, medianRatio, percentile, rounded } from '../lib/statistics.ts';

const CONTEXT = contextOf(1);
/** Usersets of a chain. With the member of the last one a chain has one tuple more. */
const CHAIN = 10;
const GRANTS_IN_FLIGHT = 512;
const HITS = 20;
const CANDIDATES = 100;
/** Namespaces of the grains. The agent may view all but the last, by a tuple for each. */
const NAMESPACES = 40;
const VIEWED = NAMESPACES - 1;
const AGENT: CallContext = { ...CONTEXT, owns: undefined, actor: 'agent:bench' };

export const scenario: Scenario = {
  name: 'authz',
  about: 'checks among 100,000 access tuples, and recalls with enforcement beside without, in process',
  aims: [
    { metric: 'check_memo_p50_us', atMost: 20 },
    { metric: 'check_chain_first_p50_us', atMost: 200 },
    { metric: 'recall_enforced_over_free_ratio', atMost: 1.2 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const tuples = sized(size, { full: 99_000, quick: 22_000, smoke: 220 });
  const grains = sized(size, { full: 100_000, quick: 30_000, smoke: 500 });
  const rounds = sized(size, { full: 9, quick: 5, smoke: 1 });
  const queries = sized(size, { full: 500, quick: 200, smoke: 20 });
  const chains = Math.floor(tuples / (CHAIN + 1));
  return inFolder(async (folder) => {
    const shard = await openShard(join(folder, 'shard'));
    await makeMemories(shard.engine, 1, 1);
    const source = grainSource(1);
    for (let left = grains; left > 0; left -= 10_000) {
      const items = source.take(Math.min(left, 10_000)).map((item, at) => ({
        ...item,
        fields: { ...item.fields, namespace: `place-${at % NAMESPACES}` },
      }));
      await addAll(shard, batchesOf(1, items));
    }
    const grantMs = await grantAll(shard, chains);
    await settle(shard);
    await shard.engine.write('setPolicy', CONTEXT, {
      change: { overrides: { 'access.authz_required': true } },
      isAdmin: true,
    });
    const asked = Array.from({ length: Math.min(queries, chains) }, (_, i) => i);
    const first = asked.map((chain) => timed(() => check(shard, chain, `agent:a${chain}`, true)));
    const known = asked.map((chain) => timed(() => check(shard, chain, 'agent:stranger', false)));
    const memo = asked.map((chain) => timed(() => check(shard, chain, `agent:a${chain}`, true)));
    const questions = Array.from({ length: queries }, () => source.question());
    const recalls = await inTurns(
      rounds + 1,
      {
        free: () => recallAll(shard, CONTEXT, questions),
        enforced: () => recallAll(shard, AGENT, questions),
      },
      { free: questions.length, enforced: questions.length },
    );
    await shard.close();
    return {
      parameters: { tuples: chains * (CHAIN + 1) + VIEWED, chain: CHAIN, grains, namespaces: NAMESPACES, queries },
      metrics: rounded({
        check_memo_p50_us: percentile(memo, 0.5),
        check_chain_known_p50_us: percentile(known, 0.5),
        check_chain_first_p50_us: percentile(first, 0.5),
        check_chain_first_p99_us: percentile(first, 0.99),
        grants_per_s: (chains * (CHAIN + 1)) / (grantMs / 1_000),
        recall_free_cpu_us: median(recalls.free.slice(1)),
        recall_enforced_cpu_us: median(recalls.enforced.slice(1)),
        recall_enforced_over_free_ratio: medianRatio(recalls.enforced.slice(1), recalls.free.slice(1)),
      }),
    };
  });
}

/** Returns the milliseconds that it took. */
async function grantAll(shard: OpenShard, chains: number): Promise<number> {
  const { engine, maintenance } = shard;
  const started = performance.now();
  let waiting: Promise<unknown>[] = [];
  const grant = async (subject: string, relation: string, object: string): Promise<void> => {
    waiting.push(engine.write('grantTuple', CONTEXT, { tuple: { subject, relation, object } }));
    if (waiting.length < GRANTS_IN_FLIGHT) return;
    maintenance.batchRan();
    await Promise.all(waiting);
    waiting = [];
  };
  for (let place = 0; place < VIEWED; place++) await grant(AGENT.actor, 'viewer', `namespace:place-${place}`);
  for (let chain = 0; chain < chains; chain++) {
    for (let step = 0; step < CHAIN; step++)
      await grant(`group:c${chain}-${step + 1}#member`, 'member', `group:c${chain}-${step}`);
    await grant(`agent:a${chain}`, 'member', `group:c${chain}-${CHAIN}`);
  }
  await Promise.all(waiting);
  return performance.now() - started;
}

function check({ engine }: OpenShard, chain: number, subject: string, wanted: boolean): void {
  const tuple = { subject, relation: 'member', object: `group:c${chain}-0` };
  const { allowed } = engine.read('checkAccess', CONTEXT, { tuple });
  if (allowed !== wanted) throw new Error(`${subject} is ${allowed ? '' : 'not '}a member of chain ${chain}`);
}

function timed(work: () => void): number {
  const started = performance.now();
  work();
  return (performance.now() - started) * 1_000;
}

/** Microseconds of processor time for one recall. */
function recallAll({ engine }: OpenShard, context: CallContext, questions: readonly string[]): number {
  const before = process.cpuUsage();
  let hits = 0;
  for (const query of questions) {
    const asked: RecallQuery = { query, filter: {}, limit: HITS, candidateLimit: CANDIDATES, structural: false };
    hits += engine.read('recall', context, asked).hits.length;
  }
  const { user, system } = process.cpuUsage(before);
  if (hits === 0) throw new Error('the recalls found nothing');
  return (user + system) / questions.length;
}
