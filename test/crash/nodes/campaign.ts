// Rounds of: write from many clients over three nodes, then kill or stop nodes, the database or both, and start them again. In the end
// every acknowledged write is there, once; every history of a chain is linearizable; audit chains and data verify.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../../support/random.ts';
import { Callers } from './caller.ts';
import { Cluster, type Member } from './cluster.ts';
import { Load } from './load.ts';
import { type Counts, verdictOn } from './verdict.ts';

export interface NodesCampaign {
  readonly rounds: number;
  readonly seed: number;
  /** Writes that are acknowledged in each round, before and after its fault. */
  readonly acknowledgements: number;
  readonly log?: (line: string) => void;
}

export interface NodesReport extends Counts {
  readonly rounds: number;
  /** Processes that got SIGKILL: nodes, and databases. */
  readonly kills: number;
  /** Nodes that were stopped past their leases and continued. */
  readonly stops: number;
  readonly problems: readonly string[];
}

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
    const { problems: found, ...counts } = await verdictOn(load, callers);
    problems.push(...found);
    const codes = await cluster.end();
    if (codes.some((code) => code !== 0)) problems.push(`nodes ended with ${codes.join()}`);
    return { rounds: done, kills, stops, ...counts, problems };
  } finally {
    callers.end();
    await cluster.abandon();
    rmSync(root, { recursive: true, force: true });
  }
}
