// Runs every memory call over several partitions. The router bypasses this file for a memory with one partition.

import { EngineError } from '../../engine/base/errors.ts';
import { onDemand } from '../../engine/base/on-demand.ts';
import { mergeContexts } from '../../engine/session/context.ts';
import { mergeSummaries } from '../../engine/session/summary.ts';
import { mergeSizes } from '../../engine/session/thread.ts';
import { type Input, MEMORY_ROWS, type MemoryMethod, type MethodsWith, type Output } from '../protocol.ts';
import { gatherGrant, gatherRevoke } from './access.ts';
import { gatherAgent, gatherDeactivate, gatherRegister, mergeAgents } from './agents.ts';
import { gatherAuditPage } from './audit.ts';
import { gatherAddBatch, gatherImport } from './batch.ts';
import type * as Cal from './cal.ts';
import { type Fan, isNotFound, valuesOf } from './fan.ts';
import { awaitedAbove, inTurn, parentsOfNew, withoutCircle } from './goal-circle.ts';
import { GoalGraph } from './goal-graph.ts';
import { gatherGoalTree } from './goal-tree.ts';
import {
  gatherConsent,
  gatherConsentPage,
  gatherEnforceRetention,
  gatherRestrict,
  gatherSetPolicy,
  mergeConsents,
  mergePolicyImpacts,
  mergeRestrictions,
  mergeRetentionStatus,
} from './govern.ts';
import {
  countDistinct,
  mergeAuditChecks,
  mergeFingerprints,
  mergeHistories,
  mergePreviews,
  mergeProofs,
  mergeScopeProofs,
  mergeStatistics,
  mergeTextStatistics,
  mergeVectorStates,
  sumOf,
} from './merge.ts';
import { mergeComparisons, mergeIntel, mergeOps } from './metrics.ts';
import { gatherHashes, gatherNames, keepRecallWithNames, withHashes } from './names.ts';
import { comesBefore, gatherExportPage, gatherList, gatherPersonPage, mergeEdges, type Position } from './pages.ts';
import { partitionFor } from './placement.ts';
import { gatherChain, gatherSession } from './session.ts';
import { withSources } from './sources.ts';
import { fetchAnywhere, gatherAlike, gatherMeanings, gatherNamespaces, gatherStagedRecall } from './staged.ts';
import type { GatherTools } from './tools.ts';
import { gatherTurn, mergeConversations, soonest, turnPartition } from './turns.ts';

/** Loads the language of queries. */
const inCal = onDemand<typeof Cal>(import.meta.url, './cal');

type Gather<M extends MemoryMethod> = (fan: Fan, input: Input<M>, tools: GatherTools) => Promise<Output<M>>;
type GatheredBy<V> = Extract<MethodsWith<'gather', V>, MemoryMethod>;

/** For calls that every partition answers: how to merge the answers. */
const MERGE: {
  readonly [M in GatheredBy<'merged'>]: (answers: readonly Output<M>[], input: Input<M>) => Output<M>;
} = {
  dropMemory: (answers) => ({ keyFingerprint: mergeFingerprints(answers.map(({ keyFingerprint }) => keyFingerprint)) }),
  locate: (answers, { hashes }) => ({
    held: hashes.map((_, index) => answers.some(({ held }) => held[index] === true)),
  }),
  edges: mergeEdges,
  recallStatistics: mergeTextStatistics,
  recallCandidates: (answers) => ({
    candidates: answers.flatMap(({ candidates }) => candidates),
    total: sumOf(answers, 'total'),
    termShares: answers[0]?.termShares ?? [],
  }),
  redactUser: (answers) => ({
    redacted: sumOf(answers, 'redacted'),
    removed: sumOf(answers, 'removed'),
    more: answers.some(({ more }) => more),
  }),
  previewRemoval: mergePreviews,
  flush: (answers) => ({ flushed: sumOf(answers, 'flushed'), pending: sumOf(answers, 'pending') }),
  users: (answers) => ({ hashes: Buffer.concat(answers.map(({ hashes }) => hashes)) }),
  vectorState: mergeVectorStates,
  vectorLag: (answers) => ({ waiting: sumOf(answers, 'waiting'), upTo: answers.flatMap(({ upTo }) => upTo) }),
  statisticsHistory: mergeHistories,
  verifyAudit: mergeAuditChecks,
  measureOps: mergeOps,
  measureIntel: mergeIntel,
  compareSamples: mergeComparisons,
  compliance: (answers) => ({ partitions: answers.flatMap(({ partitions }) => partitions) }),
  rebuildIndexes: (answers) => ({
    grainsScanned: sumOf(answers, 'grainsScanned'),
    ftsIndexed: sumOf(answers, 'ftsIndexed'),
    vectorsIndexed: sumOf(answers, 'vectorsIndexed'),
    errors: sumOf(answers, 'errors'),
    // Partitions run in parallel.
    elapsedMs: Math.max(...answers.map(({ elapsedMs }) => elapsedMs)),
  }),
  compact: (answers) => ({ reclaimedBytes: sumOf(answers, 'reclaimedBytes') }),
  rotateKeys: (answers) => ({
    rotated: sumOf(answers, 'rotated'),
    fingerprint: mergeFingerprints(answers.map(({ fingerprint }) => fingerprint)),
  }),
  policyImpact: mergePolicyImpacts,
  viewing: (answers, { actors }) => ({ views: actors.map((_, at) => answers.some(({ views }) => views[at] === true)) }),
  restrictions: mergeRestrictions,
  consents: mergeConsents,
  // A withdrawal may not have reached every partition yet.
  granted: (answers) => ({ granted: answers.every(({ granted }) => granted) }),
  retentionStatus: mergeRetentionStatus,
  sessionSummary: mergeSummaries,
  sessionContext: mergeContexts,
  thread: (answers) => ({ state: answers.find(({ state }) => state !== null)?.state ?? null }),
  sessionSizes: (answers) => ({ sizes: mergeSizes(answers) }),
  agents: mergeAgents,
  conversations: mergeConversations,
  settleTurns: (answers) => ({ settled: sumOf(answers, 'settled'), nextMs: soonest(answers) }),
  sessionDuplicates: (answers) => ({
    analyzed: sumOf(answers, 'analyzed'),
    partitions: sumOf(answers, 'partitions'),
    groups: answers.flatMap(({ groups }) => groups),
    cut: answers.some(({ cut }) => cut),
  }),
};

/** Calls with a gather function of their own. */
const OWN: { readonly [M in GatheredBy<'own'>]: Gather<M> } = {
  add: (fan, input, { turns }) => {
    const partition = partitionFor(input, fan.partitions, fan.context);
    const parents = parentsOfNew(input);
    if (parents.length === 0) return fan.one(partition, 'add', input);
    return inTurn(fan, turns, async () =>
      fan.one(partition, 'add', { ...input, awaited: await awaitedAbove(new GoalGraph(fan), parents) }),
    );
  },
  addBatch: gatherAddBatch,
  importBlobs: gatherImport,
  get: async (fan, input) => withSources(fan, await fan.found('get', input)),
  list: (fan, input, { room }) => room.run((held) => gatherList(fan, input, held)),
  fetch: (fan, { hashes }, { room }) => room.run(async (held) => ({ grains: await fetchAnywhere(fan, hashes, held) })),
  recall: (fan, query, { room }) => room.run((held) => gatherStagedRecall(fan, query, held)),
  namespaces: gatherNamespaces,
  cal: (fan, input, tools) =>
    tools.room.runQuery(() => inCal().runCal((method, asked) => GATHER[method](fan, asked, tools), fan.context, input)),
  calRead: (fan, ask) => inCal().gatherCalRead(fan, 'calRead', ask),
  calScan: (fan, ask) => inCal().gatherCalRead(fan, 'calScan', ask),
  alike: gatherAlike,
  meanings: gatherMeanings,
  supersede: (fan, input, { turns }) =>
    withoutCircle(fan, turns, input, async () => {
      const partition = await fan.locate(input.oldHash);
      return partition === undefined ? fan.found('supersede', input) : fan.one(partition, 'supersede', input);
    }),
  mergeGrains: async (fan, input) => {
    const partition = await fan.locate(input.canonical);
    return partition === undefined ? fan.found('mergeGrains', input) : fan.one(partition, 'mergeGrains', input);
  },
  accumulate: gatherAccumulate,
  goalTree: gatherGoalTree,
  changeGoal: async (fan, input) => {
    const partition = await fan.locate(input.hash);
    return partition === undefined ? fan.found('changeGoal', input) : fan.one(partition, 'changeGoal', input);
  },
  forget: gatherForget,
  eraseUser: async (fan, input) => mergeProofs(await eraseEverywhere(fan, 'eraseUser', input)),
  eraseScope: async (fan, input) => mergeScopeProofs(await eraseEverywhere(fan, 'eraseScope', input)),
  statistics: async (fan, input) => {
    const [parts, users] = await Promise.all([fan.all('statistics', input), fan.all('users', {})]);
    return { ...mergeStatistics(parts), userCount: countDistinct(users.map(({ hashes }) => hashes)) };
  },
  auditPage: (fan, input, { room }) => room.run(() => gatherAuditPage(fan, input)),
  keepRecall: (fan, input) => keepRecallWithNames(fan, input, new Map()),
  grainNames: gatherNames,
  grainHashes: gatherHashes,
  recallRecord: async (fan, input) => withHashes(fan, await fan.one(0, 'recallRecord', input)),
  setPolicy: gatherSetPolicy,
  restrict: gatherRestrict,
  consent: gatherConsent,
  consentPage: gatherConsentPage,
  grantTuple: gatherGrant,
  revokeTuple: gatherRevoke,
  registerAgent: gatherRegister,
  deactivateAgent: gatherDeactivate,
  agent: gatherAgent,
  enforceRetention: gatherEnforceRetention,
  beginTurn: (fan, input) => fan.one(turnPartition(fan, input.turn), 'beginTurn', input),
  changeTurn: (fan, input) => fan.one(turnPartition(fan, input), 'changeTurn', input),
  resumeTurn: (fan, input) => fan.one(turnPartition(fan, input), 'resumeTurn', input),
  turn: gatherTurn,
  session: (fan, input, { room }) => room.run((held) => gatherSession(fan, input, held)),
  sessionChain: (fan, input, { room }) => room.run(() => gatherChain(fan, input)),
  exportPage: gatherExportPage,
  personPage: gatherPersonPage,
};

/** The gather function of each memory call, as its row declares. */
export const GATHER: { readonly [M in MemoryMethod]: Gather<M> } = Object.fromEntries(
  Object.entries(MEMORY_ROWS).map(([method, { gather, ...row }]) => {
    const run = gatherAs(gather, method as MemoryMethod); // the table's keys are the methods
    const isClaimed = 'retry' in row && (row.retry === 'keyed' || row.retry === 'claimed');
    return [method, isClaimed ? claiming(run) : run];
  }),
  // TypeScript cannot express that each method keeps its own input and output through `Object.entries`.
) as typeof GATHER;

/** A gather function of any method. */
type AnyGather = (fan: Fan, input: never, tools: GatherTools) => Promise<unknown>;

function gatherAs(gather: (typeof MEMORY_ROWS)[MemoryMethod]['gather'], method: MemoryMethod): AnyGather {
  switch (gather) {
    case 'first':
      return (fan, input) => fan.one(0, method, input);
    case 'home':
      return (fan, input) => fan.one(fan.home, method, input);
    case 'holder':
      return (fan, input) => fan.found(method, input);
    case 'each':
      return async (fan, input) => {
        await fan.all(method, input);
        return {};
      };
    case 'merged': {
      const merge = MERGE[method as GatheredBy<'merged'>] as (answers: readonly unknown[], input: never) => unknown;
      return async (fan, input) => merge(await fan.all(method, input), input);
    }
    case 'own':
      return OWN[method as GatheredBy<'own'>] as AnyGather;
    case 'never':
      return () =>
        Promise.reject(new EngineError('SYS-E001', 'this call addresses a single partition and cannot be gathered'));
  }
}

/** Claims the call's idempotency key first, unless the call only checks. */
function claiming(run: AnyGather): AnyGather {
  return (fan, input, tools) => {
    const { check } = input as { readonly check?: boolean | undefined };
    return check === true ? run(fan, input, tools) : fan.claimed(() => run(fan, input, tools));
  };
}

/**
 * Target by hash: runs in the partition that holds it. By triple: in the partition with the newest current grain of
 * that triple.
 */
async function gatherAccumulate(
  fan: Fan,
  input: Input<'accumulate'>,
  { turns }: Pick<GatherTools, 'turns'>,
): Promise<Output<'accumulate'>> {
  const { target, set: fields } = input;
  const change = (oldHash: string, write: () => Promise<Output<'accumulate'>>) =>
    withoutCircle(fan, turns, { oldHash, fields }, write);
  if ('hash' in target)
    return change(target.hash, async () => {
      const partition = await fan.locate(target.hash);
      return partition === undefined ? fan.found('accumulate', input) : fan.one(partition, 'accumulate', input);
    });
  if (fan.context.idempotency !== undefined) {
    // For a repeat, the newest grain may be in another partition by now. Ask all for the stored reply: the partition
    // that has it answers, whatever the target is.
    const remembered = await ifFound(fan.found('accumulate', { ...input, target: { hash: NO_GRAIN } }));
    if (remembered !== undefined) return remembered;
  }
  // A list would leave out the grain of a restricted person, and an older one would be changed in its place.
  const newest = await fan.withoutIdempotency().all('accumulate', { ...input, check: true });
  let best: { readonly partition: number; readonly grain: Position } | undefined;
  newest.forEach(({ oldHash: hash, createdAtMs = 0 }, partition) => {
    if (hash === '') return;
    const grain = { hash, createdAtMs };
    if (best === undefined || comesBefore(grain, best.grain, 'desc')) best = { partition, grain };
  });
  if (best === undefined) return fan.found('accumulate', input);
  const { partition, grain } = best;
  return change(grain.hash, () => fan.one(partition, 'accumulate', input));
}

/**
 * Checks in all partitions, then erases in all. If a check refuses, nothing has changed and the caller gets the
 * refusal. A refusal after the checks (a hold set in between) leaves a partial erasure: STO-E002, and a repeat
 * completes it.
 */
async function eraseEverywhere<M extends 'eraseUser' | 'eraseScope'>(
  fan: Fan,
  method: M,
  input: Input<M>,
): Promise<Output<M>[]> {
  const checks = await fan.all(method, { ...input, check: true });
  if (input.check === true) return checks;
  return fan.everywhere(method, input, 'the erasure');
}

/** An address that no grain has. */
const NO_GRAIN = '0'.repeat(64);

async function ifFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof EngineError && isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * Checks in all partitions and applies only if none refuses, so a refusal deletes nothing. With an idempotency key
 * every partition applies, even one that found nothing, and stores its reply. A repeat then gets the first answers in
 * both rounds, although by now there may be nothing to forget, or new grains that must not be forgotten.
 */
async function gatherForget(fan: Fan, input: Input<'forget'>): Promise<Output<'forget'>> {
  const checks = await settleForget(fan, { ...input, check: true }, everyPartition(fan));
  if (input.check) return mergeForgets(input, checks);
  const concerned =
    fan.context.idempotency === undefined
      ? everyPartition(fan).filter((_, index) => checks[index]!.hashes.length > 0)
      : everyPartition(fan);
  return mergeForgets(input, await settleForget(fan, input, concerned));
}

const everyPartition = (fan: Fan): number[] => Array.from({ length: fan.partitions }, (_, partition) => partition);

type Forgotten = Output<'forget'> & { readonly error?: EngineError | undefined };

async function settleForget(fan: Fan, input: Input<'forget'>, partitions: readonly number[]): Promise<Forgotten[]> {
  const results = await Promise.allSettled(
    partitions.map(async (partition): Promise<Forgotten> => {
      try {
        return await fan.one(partition, 'forget', input);
      } catch (error) {
        // Another partition may have it.
        if (error instanceof EngineError && isNotFound(error)) return { hashes: [], notFound: [], error };
        throw error;
      }
    }),
  );
  return valuesOf(results);
}

function mergeForgets(input: Input<'forget'>, answers: readonly Forgotten[]): Output<'forget'> {
  const hashes = [...new Set(answers.flatMap((answer) => answer.hashes))];
  const refused = answers.find(({ error }) => error !== undefined)?.error;
  if (refused !== undefined && answers.every(({ error }) => error !== undefined)) throw refused;
  const gone = new Set(hashes);
  return { hashes, notFound: [...new Set(input.hashes)].filter((address) => !gone.has(address)) };
}
