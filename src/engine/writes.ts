// The engine's writes and long calls, all asynchronous. Calls with a single plan come from `PLANS`; the others are
// defined below.

import { EngineError } from './base/errors.ts';
import { TURNS_SETTLED_MAX } from './base/limits.ts';
import { onDemand } from './base/on-demand.ts';
import type * as CalReads from './cal/reads/memory.ts';
import {
  CALL_ROWS,
  type Input,
  type LongMethod,
  type Output,
  type PlannedMethod,
  type WriteMethod,
} from './calls/calls.ts';
import type { CallContext } from './calls/context.ts';
import type { AddOutcome, RefusedEntry } from './calls/grain.ts';
import type { MemorySettings } from './calls/memory.ts';
import { UNKNOWN_FINGERPRINT } from './keys/key-store.ts';
import type { Door } from './maintain/compliance/door.ts';
import type * as Compliance from './maintain/compliance/gather.ts';
import { namedKeys } from './maintain/erasure/drop.ts';
import { enforceRetention, retentionStatus } from './maintain/erasure/retention.ts';
import type * as Rewrap from './maintain/erasure/rewrap.ts';
import { compact } from './maintain/housekeeping/compact.ts';
import { keepVectors } from './maintain/housekeeping/embed.ts';
import { type RebuildServices, rebuild } from './maintain/housekeeping/rebuild.ts';
import { inSlices, readInSlices } from './maintain/housekeeping/slices.ts';
import type * as Metrics from './maintain/metrics/calls.ts';
import { agentColumns, agentReport } from './maintain/reports/agents.ts';
import { auditPage } from './maintain/reports/audit-page.ts';
import type * as Backup from './maintain/reports/backup.ts';
import { eventPage } from './maintain/reports/event-page.ts';
import type * as Export from './maintain/reports/export.ts';
import { listIdentities } from './maintain/reports/identities.ts';
import type * as PersonPage from './maintain/reports/person-page.ts';
import type * as PolicyImpact from './maintain/reports/policy-impact.ts';
import { recallRecord, recallRecords, recallTotals } from './maintain/reports/recall-records.ts';
import { listTuples } from './maintain/reports/tuples.ts';
import { consentedUsers, seenDocs, userHashes } from './maintain/reports/users.ts';
import type * as Verify from './maintain/reports/verify.ts';
import type * as VerifyAudit from './maintain/reports/verify-audit.ts';
import type * as Viewing from './maintain/reports/viewing.ts';
import { auditRefusedRead } from './read-audit.ts';
import { readable } from './reads.ts';
import { duplicateGroups } from './session/duplicates.ts';
import { goalNodes } from './session/goal-tree.ts';
import { sessionPlaces } from './session/places.ts';
import { listConversations } from './session/turns.ts';
import type { Memory } from './store/memory.ts';
import type { Store } from './store/store.ts';
import { dueTurns } from './store/turns.ts';
import { bindingOf, isBound } from './store/within.ts';
import type { Added } from './write/add.ts';
import { dropClosedPlan } from './write/drop-closed.ts';
import { ForgetRounds } from './write/forget-rounds.ts';
import type { MemoryWrite, Settler } from './write/job.ts';
import * as plans from './write/plans.ts';
import type { WriteQueue } from './write/queue.ts';
import { itemContext } from './write/reply.ts';
import { writeTrail } from './write/write-trail.ts';

export interface WriteServices extends RebuildServices {
  readonly shard: number;
  /** The engine's public interface. */
  readonly door: Door;
}

type Promised<M extends WriteMethod | LongMethod> = {
  readonly [K in M]: (context: CallContext, input: Input<K>) => Promise<Output<K>>;
};
export type EngineWrites = Promised<WriteMethod | LongMethod>;
type OwnCalls = Promised<Exclude<WriteMethod | LongMethod, PlannedMethod>>;
/** A write function of any method. */
type AnyWrite = (context: CallContext, input: never) => Promise<unknown>;

const inCompliance = onDemand<typeof Compliance>(import.meta.url, './maintain/compliance/gather');
const inMetrics = onDemand<typeof Metrics>(import.meta.url, './maintain/metrics/calls');
const inCal = onDemand<typeof CalReads>(import.meta.url, './cal/reads/memory');
// These are asked for seldom, most of them by operators.
const inRewrap = onDemand<typeof Rewrap>(import.meta.url, './maintain/erasure/rewrap');
const inBackup = onDemand<typeof Backup>(import.meta.url, './maintain/reports/backup');
const inExport = onDemand<typeof Export>(import.meta.url, './maintain/reports/export');
const inPersonPage = onDemand<typeof PersonPage>(import.meta.url, './maintain/reports/person-page');
const inPolicyImpact = onDemand<typeof PolicyImpact>(import.meta.url, './maintain/reports/policy-impact');
const inVerify = onDemand<typeof Verify>(import.meta.url, './maintain/reports/verify');
const inVerifyAudit = onDemand<typeof VerifyAudit>(import.meta.url, './maintain/reports/verify-audit');
const inViewing = onDemand<typeof Viewing>(import.meta.url, './maintain/reports/viewing');

export function writeCalls(services: WriteServices): EngineWrites {
  const { store, queue } = services;
  const calls = new Map<string, AnyWrite>(Object.entries(ownCalls(services)));
  // The keys of the table are the methods.
  for (const method of Object.keys(plans.PLANS) as PlannedMethod[]) calls.set(method, planned(queue, method));
  for (const [method, row] of Object.entries(CALL_ROWS)) {
    const call = calls.get(method);
    if (call === undefined || !('changes' in row) || row.changes !== 'grains') continue;
    calls.set(method, async (context, input) => {
      const output = await call(context, input);
      store.changedSincePoint.add(context.memory);
      return output;
    });
  }
  // The types of `ownCalls` and `PLANS` cover every method with its own input and output.
  return Object.fromEntries(calls) as EngineWrites;
}

function planned<M extends PlannedMethod>(queue: WriteQueue, method: M): AnyWrite {
  const plan: MemoryWrite<M> = plans.PLANS[method];
  return (context, input: Input<M>) => queue.push(method, plan, context, input);
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table with one row for each call
function ownCalls(services: WriteServices): OwnCalls {
  const { store, queue, housekeeper } = services;
  const rounds = new ForgetRounds(services);
  const sealAll = (): Promise<void> => housekeeper.sealed(store.index.publishedSequence);
  /** The grains are stored and count in the statistics, even if the seal fails. */
  const sealStored = (context: CallContext): Promise<void> => {
    store.changedSincePoint.add(context.memory);
    return sealAll();
  };
  /** Flushes pending entries of reads before the trail is listed; if the log rejects writes, what is stored is listed. */
  const trailWritten = (): Promise<void> =>
    writeTrail(queue).catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
    });
  /** The memory for a long read, with the same refusals as for other reads. */
  const readableFor = (
    context: CallContext,
    method: 'calScan' | 'goalTree' | 'events' | 'sessionDuplicates',
    input: unknown,
  ): Memory => {
    try {
      return readable(store, context);
    } catch (error) {
      auditRefusedRead(store, queue.trail, context, { method, input, error });
      throw error;
    }
  };
  /** Claims the key before a batch's items are queued: the same key with another body refuses the whole batch. */
  const claimed = async (context: CallContext): Promise<void> => {
    if (context.idempotency !== undefined) await queue.push('batch', plans.claimPlan, context, { release: false });
  };
  /** Checks manifest entries after their grains are stored and returns the refused ones. */
  const links = async (
    context: CallContext,
    { manifest, accepted = [] }: Input<'importBlobs'>,
    outcomes: readonly AddOutcome[],
  ): Promise<RefusedEntry[]> => {
    const stored = new Set(accepted);
    for (const outcome of outcomes) if ('hash' in outcome) stored.add(outcome.hash);
    const plan = plans.underClaim(context, plans.linkPlan);
    const links = new BatchOutcomes(manifest.length, (_, error) => error);
    const queued = { method: 'importStatuses', write: plan, settler: links, queuedAtMs: performance.now() };
    for (let i = 0; i < manifest.length; i++) {
      const entry = manifest[i]!;
      const input = { entry, isAccepted: stored.has(entry.hash) };
      queue.enqueue(queued, itemContext(context, `manifest ${entry.hash}`), input, i);
    }
    const errors = await links.settled;
    return manifest.flatMap(({ hash }, i) => {
      const error = errors[i];
      return error === undefined ? [] : [{ hash, error: error.toWire() }];
    });
  };
  return {
    attachMemory: async (context, input) => {
      const { number } = input.settings;
      if (store.holds(number) && !wantsAttach(store, input.settings)) return {};
      return queue.push('attachMemory', plans.attachPlan, { ...context, memory: number }, input);
    },
    dropMemory: async (context, input) => {
      const { memory } = context;
      if (!store.isClosed(memory)) return queue.push('dropMemory', plans.dropPlan, context, input);
      // The policy was lost with its key, so there is nothing to check.
      if (input.check === true) return { keyFingerprint: UNKNOWN_FINGERPRINT };
      const named = await inSlices(namedKeys(store, memory));
      return queue.push('dropMemory', dropClosedPlan, { ...context, memory: 0 }, { memory, named });
    },
    claim: async (context, input) => {
      if (!input.release) return queue.push('claim', plans.claimPlan, context, input);
      const { idempotency, ...rest } = context;
      return idempotency === undefined ? {} : queue.push('release', plans.releasePlan, rest, idempotency);
    },
    add: async (context, input) => {
      // Open the memory here to report a failure: a plan that waits behind a commit is prepared where no caller would
      // get the error.
      if (store.holds(context.memory)) store.memory(context.memory);
      const added = await queue.push('add', plans.addPlan, context, input);
      if (input.sync) await sealStored(context);
      return added;
    },
    addBatch: async (context, input) => {
      store.memory(context.memory);
      const claim = claimed(context);
      const { items, places } = input;
      const write = plans.underClaim(context, plans.addPlan);
      const added = new BatchOutcomes(items.length, (i, error, one: Added) =>
        outcomeOf(items[i]!.grainType, error, one),
      );
      const queued = { method: 'add', write, settler: added, queuedAtMs: performance.now() };
      for (let i = 0; i < items.length; i++)
        queue.enqueue(queued, itemContext(context, places?.[i] ?? i), items[i]!, i);
      const [outcomes] = await Promise.all([added.settled, claim]);
      if (input.sync === true) await sealStored(context);
      return { outcomes };
    },
    importBlobs: async (context, input) => {
      store.memory(context.memory);
      const claim = claimed(context);
      const { blobs } = input;
      const write = plans.underClaim(context, plans.importPlan);
      const imported = new BatchOutcomes(blobs.length, (_, error, one: Added & { readonly grainType: string }) =>
        outcomeOf(error === undefined ? one.grainType : '', error, one),
      );
      const queued = { method: 'importBlob', write, settler: imported, queuedAtMs: performance.now() };
      for (let i = 0; i < blobs.length; i++) queue.enqueue(queued, itemContext(context, i), { blob: blobs[i]! }, i);
      const [outcomes] = await Promise.all([imported.settled, claim]);
      const refused = await links(context, input, outcomes);
      return { outcomes, refused };
    },
    forget: async (context, input) =>
      rounds.isNeededFor(context, input)
        ? rounds.forget(context, input)
        : queue.push('forget', plans.forgetPlan, context, input),
    previewRemoval: async (context, input) =>
      input.of === 'grains' && rounds.isNeededFor(context, input)
        ? rounds.preview(context, input)
        : queue.push('previewRemoval', plans.previewPlan, context, input),
    policyImpact: async (context, input) =>
      inPolicyImpact().policyImpact(store, store.memory(context.memory), context, input),
    retentionStatus: async (context, input) => retentionStatus(store, store.memory(context.memory), context, input),
    enforceRetention: (context, input) => enforceRetention({ store, queue }, context, input),
    flush: async (context) => {
      store.memory(context.memory);
      await trailWritten();
      await queue.idle();
      const flushed = unsealedGrains(store, context);
      await sealAll();
      return { flushed, pending: 0 };
    },
    users: async (context) => ({
      hashes: await readInSlices(
        store,
        userHashes(store, store.memory(context.memory), bindingOf(store.memory(context.memory), context)),
      ),
    }),
    agents: async (context) => readInSlices(store, agentColumns(store, store.memory(context.memory))),
    agent: async (context, input) =>
      readInSlices(store, agentReport(store, store.memory(context.memory), context, input)),
    identities: async (context, input) =>
      readInSlices(store, listIdentities(store, store.memory(context.memory), input)),
    viewing: async (context, input) =>
      readInSlices(store, inViewing().viewing(store, store.memory(context.memory), input)),
    consentPage: async (context, input) =>
      readInSlices(store, consentedUsers(store, store.memory(context.memory), context, input)),
    tuples: async (context, input) => readInSlices(store, listTuples(store, store.memory(context.memory), input)),
    calScan: async (context, input) =>
      readInSlices(store, inCal().calReadSteps(store, readableFor(context, 'calScan', input), context, input)),
    verifyAudit: async (context, input) => {
      await trailWritten();
      return inVerifyAudit().verifyAudit(store, store.memory(context.memory).number, context.partition, input.limit);
    },
    auditPage: async (context, input) => {
      await trailWritten();
      return auditPage(store, store.memory(context.memory), context, input);
    },
    events: async (context, input) =>
      readInSlices(store, eventPage(services, readableFor(context, 'events', input), context, input)),
    goalTree: async (context, input) => {
      const places = sessionPlaces(store, readableFor(context, 'goalTree', input), context, input.sessionId);
      return readInSlices(store, goalNodes(places, input));
    },
    conversations: async (context, input) =>
      readInSlices(store, listConversations(store, store.memory(context.memory), context, input)),
    settleTurns: async (context, { server }) => {
      const memory = store.memory(context.memory);
      const nowMs = store.clock.nowMs();
      const { due, nextMs } = dueTurns(store.log, memory, { nowMs, server, limit: TURNS_SETTLED_MAX });
      const done = await Promise.all(
        due.map((token) => queue.push('settleTurns', plans.settleTurnPlan, context, { token, server })),
      );
      return { settled: done.filter(({ settled }) => settled).length, nextMs };
    },
    awaitEvents: (_context, { after, release }) => store.eventBell.next(after, release),
    recallRecords: async (context, input) => {
      await trailWritten();
      return readInSlices(store, recallRecords(store, store.memory(context.memory), context, input));
    },
    recallRecord: async (context, { recallId }) => {
      await trailWritten();
      return recallRecord(store, store.memory(context.memory), context, recallId);
    },
    recallTotals: async (context, input) => {
      await trailWritten();
      return readInSlices(store, recallTotals(store, store.memory(context.memory), context, input));
    },
    compliance: async (context, input) => ({
      partitions: [await inCompliance().gatherCompliance(services, context, input)],
    }),
    measureOps: async (context) => {
      await trailWritten();
      return inMetrics().opsOf(services, store.memory(context.memory), context);
    },
    measureIntel: async (context) => {
      await trailWritten();
      return inMetrics().intelOf(store, store.memory(context.memory), context);
    },
    compareSamples: async (context, input) =>
      inMetrics().comparisonOf(store, store.memory(context.memory), context, input),
    rebuildIndexes: async (context) => rebuild(services, store.memory(context.memory).number),
    compact: (context) => compact(services, context),
    exportPage: (context, input) => inExport().exportPage(store, store.memory(context.memory), context, input),
    sessionDuplicates: async (context, input) => {
      const memory = readableFor(context, 'sessionDuplicates', input);
      return readInSlices(
        store,
        duplicateGroups(sessionPlaces(store, memory, context, input.sessionId), input.threshold),
      );
    },
    personPage: async (context, input) =>
      readInSlices(store, inPersonPage().personPage(store, store.memory(context.memory), context, input)),
    verify: () => inVerify().verify(services),
    backup: (_context, input) => inBackup().backup(services, input),
    keepVectors: async (_context, input) => keepVectors(store, input),
    rewrapKeys: (_context, input) => inRewrap().rewrapKeys(services, input),
  };
}

/**
 * False if the memory already has these settings or is damaged. A damaged memory must not keep the server from
 * starting; calls on it report the damage.
 */
function wantsAttach(store: Store, settings: MemorySettings): boolean {
  try {
    return JSON.stringify(store.memory(settings.number).settings) !== JSON.stringify(settings);
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

/**
 * The outcomes of a batch's items. An invalid item does not affect the others; only a storage failure fails the call.
 */
class BatchOutcomes<O, Outcome> implements Settler<O> {
  readonly settled: Promise<Outcome[]>;
  readonly #outcomes: Outcome[];
  readonly #outcomeOf: (index: number, error: EngineError | undefined, output: O) => Outcome;
  #left: number;
  #resolve: (outcomes: Outcome[]) => void;
  #reject: (error: EngineError) => void;

  constructor(count: number, outcomeOf: (index: number, error: EngineError | undefined, output: O) => Outcome) {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome[]>();
    this.settled = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#outcomes = new Array(count);
    this.#outcomeOf = outcomeOf;
    this.#left = count;
    if (count === 0) resolve(this.#outcomes);
  }

  settle(index: number, error: EngineError | undefined, output: O): void {
    if (error !== undefined && isStorageFailure(error)) this.#reject(error);
    this.#outcomes[index] = this.#outcomeOf(index, error, output);
    this.#left -= 1;
    if (this.#left === 0) this.#resolve(this.#outcomes);
  }
}

function outcomeOf(grainType: string, error: EngineError | undefined, added: Added): AddOutcome {
  if (error !== undefined) return { error: error.toWire(), grainType };
  const { hash, duplicate, warnings } = added;
  return { hash, duplicate, warnings, grainType };
}

/** Counts only grains that the caller sees. */
function unsealedGrains(store: Store, context: CallContext): number {
  const binding = bindingOf(store.memory(context.memory), context);
  let count = 0;
  for (const part of store.index.unsealedParts(context.memory))
    count += isBound(binding) ? seenDocs(part, binding).length : part.docCount;
  return count;
}

/** True for an error that is not about a single item: the caller may repeat the whole batch. */
function isStorageFailure(error: EngineError): boolean {
  return error.code.startsWith('STO-') || error.code.startsWith('SYS-');
}
