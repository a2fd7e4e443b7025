// Rounds of: write from many clients over three nodes, then kill or stop nodes, the database or both, and start them again. In the end
// every acknowledged write is there, once; every history of a chain is linearizable; audit chains and data verify.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CHAIN } from '../../linear/chain-model.ts';
import { checkHistory, describeFailure } from '../../linear/checker.ts';
import { Random } from '../../support/random.ts';
import { Callers } from './caller.ts';
import { Cluster, type Member } from './cluster.ts';
import { Load } from './load.ts';

export interface NodesCampaign {
  readonly rounds: number;
  readonly seed: number;
  /** Writes that are acknowledged in each round, before and after its fault. */
  readonly acknowledgements: number;
  readonly log?: (line: string) => void;
}

export interface NodesReport {
  readonly rounds: number;
  /** Processes that got SIGKILL: nodes, and databases. */
  readonly kills: number;
  /** Nodes that were stopped past their leases and continued. */
  readonly stops: number;
  readonly acknowledged: number;
  readonly lost: number;
  /** Grains that nobody wrote, or that were written twice. */
  readonly twice: number;
  /** Chains whose history was checked, and their calls. */
  readonly histories: number;
  readonly calls: number;
  /** How often a request was answered with each code, or not at all. */
  readonly failures: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

/** Concurrent looks for grains. */
const LOOKS = 24;

interface Round {
  readonly cluster: Cluster;
  readonly load: Load;
  readonly random: Random;
  readonly acknowledgements: number;
}

/** Each ends with all nodes and the database running. Resolves to the kills and stops. */
const FAULTS: Readonly<Record<string, (round: Round) => Promise<{ kills: number; stops: number }>>> = {
  'any node': async ({ cluster, random }) => killed(cluster, [random.pick(cluster.members)]),
  database: async ({ cluster }) => {
    await cluster.killDatabase();
    cluster.instance.restart();
    return { kills: 1, stops: 0 };
  },
  'a stopped node': async (round) => stopped(round, round.random.pick(round.cluster.members)),
  'the node that runs the server': async ({ cluster }) => killed(cluster, [await leaderOf(cluster)]),
  'a node and the database': async ({ cluster, random }) => {
    const member = random.pick(cluster.members);
    await Promise.all([cluster.kill(member), cluster.killDatabase()]);
    await pause(random.between(0, 1_000));
    cluster.instance.restart();
    await cluster.run(member);
    return { kills: 2, stops: 0 };
  },
  'a node, and its directory': async ({ cluster, random }) => killed(cluster, [random.pick(cluster.members)], true),
  'the stopped node that runs the server': async (round) => stopped(round, await leaderOf(round.cluster)),
  'two nodes': async ({ cluster, random }) => {
    const spared = random.pick(cluster.members);
    return killed(
      cluster,
      cluster.members.filter((member) => member !== spared),
    );
  },
  'the database, for longer than a lease': async ({ cluster }) => {
    await cluster.killDatabase();
    await pause(4_500);
    cluster.instance.restart();
    return { kills: 1, stops: 0 };
  },
  'a node, until others have its shards': async ({ cluster, load, random, acknowledgements }) => {
    const member = random.pick(cluster.members);
    await cluster.kill(member);
    await load.go(acknowledgements);
    await cluster.run(member);
    return { kills: 1, stops: 0 };
  },
};

async function killed(cluster: Cluster, members: readonly Member[], isEmptied = false) {
  await Promise.all(members.map((member) => cluster.kill(member, isEmptied)));
  await Promise.all(members.map((member) => cluster.run(member)));
  return { kills: members.length, stops: 0 };
}

async function stopped({ cluster, load, acknowledgements }: Round, member: Member) {
  cluster.stop(member);
  await cluster.hasTakenOver(member);
  await load.go(acknowledgements);
  cluster.goOn(member);
  return { kills: 0, stops: 1 };
}

async function leaderOf(cluster: Cluster): Promise<Member> {
  for (;;) {
    const leader = await cluster.leader().catch(() => undefined);
    if (leader !== undefined) return leader;
    await pause(100);
  }
}

export async function nodesCampaign({ rounds, seed, acknowledgements, log }: NodesCampaign): Promise<NodesReport> {
  const root = mkdtempSync(join(tmpdir(), 'granary-nodes-'));
  const cluster = await Cluster.start(root);
  const random = new Random(seed);
  const callers = new Callers(cluster, random);
  const load = new Load(callers, random);
  const problems: string[] = [];
  let [kills, stops, done] = [0, 0, 0];
  try {
    await load.start();
    const names = Object.keys(FAULTS);
    for (; done < rounds && problems.length === 0; done++) {
      await load.go(acknowledgements);
      const name = names[done % names.length]!;
      const beganMs = performance.now();
      const count = await FAULTS[name]!({ cluster, load, random, acknowledgements });
      kills += count.kills;
      stops += count.stops;
      await load.go(1);
      log?.(
        `round ${done + 1}: ${name}: ${((performance.now() - beganMs) / 1_000).toFixed(1)} s until writes are acknowledged; ${load.acknowledged} so far`,
      );
      problems.push(...load.problems, ...callers.problems);
    }
    await load.go(acknowledgements);
    await load.end();
    problems.push(...load.problems, ...callers.problems);
    const { lost, twice } = await countGrains(load, callers);
    const checked = checkChains(load);
    problems.push(...checked.problems, ...(await verify(load, callers)));
    if (lost > 0) problems.push(`${lost} acknowledged grains are lost`);
    if (twice > 0) problems.push(`${twice} grains are there that nobody wrote, or twice`);
    const codes = await cluster.end();
    if (codes.some((code) => code !== 0)) problems.push(`nodes ended with ${codes.join()}`);
    const { acknowledged } = load;
    const failures = Object.fromEntries(callers.failures);
    const { histories, calls } = checked;
    return { rounds: done, kills, stops, acknowledged, lost, twice, histories, calls, failures, problems };
  } finally {
    callers.end();
    await cluster.abandon();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Looks for each grain that was answered as written, and compares their number with that of all grains. */
async function countGrains(load: Load, callers: Callers): Promise<{ lost: number; twice: number }> {
  let lost = 0;
  const there = new Map(load.memories.map((memory) => [memory, 0]));
  const look = async (memory: string, hash: string, word: string): Promise<boolean> => {
    const answer = await callers.ask('GET', `/memories/${memory}/grains/${hash}`);
    const isThere = answer?.status === 200 && answer.body.fields.object === word;
    if (isThere) there.set(memory, there.get(memory)! + 1);
    return isThere;
  };
  await inParallel(load.singles, async ({ memory, hash, word }) => {
    if (!(await look(memory, hash, word))) lost += 1;
  });
  // Removed chains are not there: the checker of histories knows which may be absent.
  const versions = load.chains.flatMap(({ memory, hashes }) => hashes.map((hash) => ({ memory, hash })));
  await inParallel(versions, ({ memory, hash }) => look(memory, hash, load.words.get(hash)!));
  let twice = 0;
  for (const [memory, count] of there) {
    const stats = await callers.ask('GET', `/memories/${memory}/stats`);
    twice += stats!.body.total_grains - count;
  }
  return { lost, twice };
}

function checkChains(load: Load) {
  const problems: string[] = [];
  let calls = 0;
  for (const chain of load.chains) {
    const history = chain.history(load.words);
    calls += history.length;
    const verdict = checkHistory(CHAIN, history);
    if (!verdict.isLinearizable)
      problems.push(`${chain.subject} in ${chain.memory}: ${describeFailure(CHAIN, history, verdict)}`);
  }
  return { problems, calls, histories: load.chains.length };
}

async function verify(load: Load, callers: Callers): Promise<readonly string[]> {
  const problems: string[] = [];
  const run = async (memory: string, command: string) =>
    (await callers.ask('POST', `/memories/${memory}/app/exec`, { command, args: {} }))?.body;
  const report = await run('default', 'verify');
  if (report?.result?.finding_count !== 0) problems.push(`verify: ${JSON.stringify(report)}`);
  for (const memory of load.memories) {
    const audit = await run(memory, 'verify_audit_chain');
    if (audit?.result?.valid !== true) problems.push(`audit of ${memory}: ${JSON.stringify(audit)}`);
  }
  return problems;
}

async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: LOOKS }, async () => {
      while (next < items.length) await act(items[next++]!);
    }),
  );
}
