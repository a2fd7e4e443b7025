// Every call of a memory, over several partitions. A memory of one partition never comes here.

import { EngineError } from '../../engine/base/errors.ts';
import { withSources } from '../gather-sources.ts';
import type { EmbedderStamp, GrainView, Input, MemoryCalls, Output } from '../protocol.ts';
import { gatherAuditPage } from './audit.ts';
import { gatherAddBatch, gatherImport } from './batch.ts';
import { gatherCalRead, runCal } from './cal.ts';
import { type Fan, isNotFound, valuesOf } from './fan.ts';
import { refuseCircle } from './goal-circle.ts';
import {
  gatherConsent,
  gatherConsents,
  gatherEnforceRetention,
  gatherPolicyImpact,
  gatherRestrict,
  gatherRestrictions,
  gatherRetentionStatus,
  gatherSetPolicy,
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
  sumOf,
} from './merge.ts';
import { gatherHashes, gatherNames, keepRecallWithNames, withHashes } from './names.ts';
import { comesBefore, gatherExportPage, gatherList, gatherPersonPage } from './pages.ts';
import { partitionFor } from './placement.ts';
import { fetchAnywhere, gatherAlike, gatherMeanings, gatherNamespaces, gatherStagedRecall } from './staged.ts';
import type { GatherTools } from './tools.ts';

export type MemoryMethod = keyof MemoryCalls;
type Gather<M extends MemoryMethod> = (fan: Fan, input: Input<M>, tools: GatherTools) => Promise<Output<M>>;

export const GATHER: { readonly [M in MemoryMethod]: Gather<M> } = {
  attachMemory: async (fan, input) => {
    await fan.all('attachMemory', input);
    return {};
  },
  dropMemory: async (fan, input) => {
    const answers = await fan.all('dropMemory', input);
    return { keyFingerprint: mergeFingerprints(answers.map(({ keyFingerprint }) => keyFingerprint)) };
  },
  claim: (fan, input) => fan.one(fan.home, 'claim', input),
  add: (fan, input) => fan.claimed(() => fan.one(partitionFor(input, fan.partitions, fan.context), 'add', input)),
  addBatch: (fan, input, tools) => fan.claimed(() => gatherAddBatch(fan, input, tools)),
  knownFacts: () => Promise.reject(new EngineError('SYS-E001', 'each partition answers for itself')),
  importBlobs: (fan, input, { placementOf }) => fan.claimed(() => gatherImport(fan, input, placementOf)),
  get: async (fan, input) => withSources(fan, await fan.found('get', input)),
  getRaw: (fan, input) => fan.found('getRaw', input),
  locate: async (fan, input) => {
    const answers = await fan.all('locate', input);
    return { held: input.hashes.map((_, index) => answers.some(({ held }) => held[index] === true)) };
  },
  list: (fan, input, { room }) => room.run((held) => gatherList(fan, input, held)),
  recallStatistics: async (fan, input) => mergeTextStatistics(await fan.all('recallStatistics', input)),
  recallCandidates: async (fan, input) => {
    const answers = await fan.all('recallCandidates', input);
    return {
      candidates: answers.flatMap(({ candidates }) => candidates),
      total: sumOf(answers, 'total'),
      termShares: answers[0]?.termShares ?? [],
    };
  },
  fetch: (fan, { hashes }, { room }) => room.run(async (held) => ({ grains: await fetchAnywhere(fan, hashes, held) })),
  recall: (fan, query, { room }) => room.run((held) => gatherStagedRecall(fan, query, held)),
  namespaces: gatherNamespaces,
  cal: (fan, input, tools) =>
    tools.room.runQuery(() => runCal((method, asked) => GATHER[method](fan, asked, tools), fan.context, input)),
  calRead: (fan, ask) => gatherCalRead(fan, 'calRead', ask),
  calScan: (fan, ask) => gatherCalRead(fan, 'calScan', ask),
  alike: gatherAlike,
  meanings: gatherMeanings,
  supersede: (fan, input) =>
    fan.claimed(async () => {
      await refuseCircle(fan, input);
      const partition = await fan.locate(input.oldHash);
      return partition === undefined ? fan.found('supersede', input) : fan.one(partition, 'supersede', input);
    }),
  accumulate: (fan, input) => fan.claimed(() => gatherAccumulate(fan, input)),
  forget: (fan, input) => (input.check ? gatherForget(fan, input) : fan.claimed(() => gatherForget(fan, input))),
  eraseUser: (fan, input) => fan.claimed(async () => mergeProofs(await eraseEverywhere(fan, 'eraseUser', input))),
  redactUser: async (fan, input) => {
    const answers = await fan.all('redactUser', input);
    return {
      redacted: sumOf(answers, 'redacted'),
      removed: sumOf(answers, 'removed'),
      more: answers.some(({ more }) => more),
    };
  },
  previewRemoval: async (fan, input) => mergePreviews(await fan.all('previewRemoval', input)),
  eraseScope: (fan, input) =>
    fan.claimed(async () => mergeScopeProofs(await eraseEverywhere(fan, 'eraseScope', input))),
  history: (fan, input) => fan.found('history', input),
  flush: async (fan, input) => {
    const answers = await fan.all('flush', input);
    return { flushed: sumOf(answers, 'flushed'), pending: sumOf(answers, 'pending') };
  },
  statistics: async (fan, input) => {
    const [parts, users] = await Promise.all([fan.all('statistics', input), fan.all('users', {})]);
    return { ...mergeStatistics(parts), userCount: countDistinct(users.map(({ hashes }) => hashes)) };
  },
  users: async (fan, input) => {
    const answers = await fan.all('users', input);
    return { hashes: Buffer.concat(answers.map(({ hashes }) => hashes)) };
  },
  vectorState: async (fan, input) => {
    const answers = await fan.all('vectorState', input);
    const serving = new Map<string, EmbedderStamp>();
    for (const stamp of answers.flatMap((answer) => answer.serving))
      serving.set(`${stamp.name}/${stamp.dimensions}`, stamp);
    const isLoading = answers.some(({ loading }) => loading === true);
    return {
      serving: [...serving.values()],
      lag: sumOf(answers, 'lag'),
      ...(isLoading ? { loading: true as const } : {}),
    };
  },
  vectorLag: async (fan, input) => {
    const answers = await fan.all('vectorLag', input);
    return { waiting: sumOf(answers, 'waiting'), upTo: answers.flatMap(({ upTo }) => upTo) };
  },
  statisticsHistory: async (fan, input) => mergeHistories(await fan.all('statisticsHistory', input)),
  verifyAudit: async (fan, input) => mergeAuditChecks(await fan.all('verifyAudit', input)),
  auditPage: (fan, input, { room }) => room.run(() => gatherAuditPage(fan, input)),
  keepRecall: keepRecallWithNames,
  grainNames: gatherNames,
  grainHashes: gatherHashes,
  recallRecords: (fan, input) => fan.one(0, 'recallRecords', input),
  recallRecord: async (fan, input) => withHashes(fan, await fan.one(0, 'recallRecord', input)),
  recallTotals: (fan, input) => fan.one(0, 'recallTotals', input),
  compliance: async (fan, input) => ({
    partitions: (await fan.all('compliance', input)).flatMap(({ partitions }) => partitions),
  }),
  rebuildIndexes: async (fan, input) => {
    const answers = await fan.all('rebuildIndexes', input);
    return {
      grainsScanned: sumOf(answers, 'grainsScanned'),
      ftsIndexed: sumOf(answers, 'ftsIndexed'),
      vectorsIndexed: sumOf(answers, 'vectorsIndexed'),
      errors: sumOf(answers, 'errors'),
      // They run side by side.
      elapsedMs: Math.max(...answers.map(({ elapsedMs }) => elapsedMs)),
    };
  },
  compact: async (fan, input) => ({ reclaimedBytes: sumOf(await fan.all('compact', input), 'reclaimedBytes') }),
  rotateKeys: async (fan, input) => {
    const answers = await fan.all('rotateKeys', input);
    return {
      rotated: sumOf(answers, 'rotated'),
      fingerprint: mergeFingerprints(answers.map(({ fingerprint }) => fingerprint)),
    };
  },
  policy: (fan, input) => fan.one(0, 'policy', input),
  simulatePolicy: (fan, input) => fan.one(0, 'simulatePolicy', input),
  policyImpact: gatherPolicyImpact,
  setPolicy: gatherSetPolicy,
  restrict: gatherRestrict,
  restrictions: gatherRestrictions,
  consent: gatherConsent,
  consentFacts: async (fan, input) => {
    await fan.all('consentFacts', input);
    return {};
  },
  consents: gatherConsents,
  retentionStatus: gatherRetentionStatus,
  enforceRetention: gatherEnforceRetention,
  note: (fan, input) => fan.one(0, 'note', input),
  exportPage: gatherExportPage,
  personPage: gatherPersonPage,
};

/** By hash: in the partition that holds it. By triple: in the partition with the newest current grain of it. */
async function gatherAccumulate(fan: Fan, input: Input<'accumulate'>): Promise<Output<'accumulate'>> {
  const { target } = input;
  if ('hash' in target) {
    const partition = await fan.locate(target.hash);
    return partition === undefined ? fan.found('accumulate', input) : fan.one(partition, 'accumulate', input);
  }
  if (fan.context.idempotency !== undefined) {
    // The newest grain may lie elsewhere by now: the partition that remembers the key answers, whatever is asked for.
    const remembered = await ifFound(fan.found('accumulate', { ...input, target: { hash: NO_GRAIN } }));
    if (remembered !== undefined) return remembered;
  }
  const newest = await fan.withoutIdempotency().all('list', { filter: target, limit: 1, order: 'desc' });
  let best: { readonly partition: number; readonly grain: GrainView } | undefined;
  newest.forEach(({ grains: [grain] }, partition) => {
    if (grain === undefined) return;
    if (best === undefined || comesBefore(grain, best.grain, 'desc')) best = { partition, grain };
  });
  return best === undefined ? fan.found('accumulate', input) : fan.one(best.partition, 'accumulate', input);
}

/**
 * All partitions check, then all erase. A refusal of the check is the caller's: nothing was done. What comes after it (a hold
 * that was set in between) leaves an erasure that was begun and is to be gone on with: STO-E002.
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

/** No grain has this address. */
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
 * All partitions check, and only when none refuses do they apply: a refusal deletes nothing. With an idempotency key
 * all of them apply, whatever they found, and keep that: a repeat finds nothing to forget, or what came since and may not
 * be forgotten, and gets the first answers again in both rounds.
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

type Forgotten = Output<'forget'> & { readonly error?: EngineError };

async function settleForget(fan: Fan, input: Input<'forget'>, partitions: readonly number[]): Promise<Forgotten[]> {
  const results = await Promise.allSettled(
    partitions.map(async (partition): Promise<Forgotten> => {
      try {
        return await fan.one(partition, 'forget', input);
      } catch (error) {
        // Not here; another partition may have it.
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
