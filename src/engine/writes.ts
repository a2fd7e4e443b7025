// The engine's writes and long calls, one row a method. All answer with a promise.

import { EngineError } from './base/errors.ts';
import { onDemand } from './base/on-demand.ts';
import type * as CalReads from './cal/reads/memory.ts';
import type { MemoryCalls } from './calls/calls.ts';
import type { CallContext } from './calls/context.ts';
import type { AddOutcome, ManifestEntry, RefusedEntry } from './calls/grain.ts';
import type { MemorySettings } from './calls/memory.ts';
import type { ShardWideCalls } from './calls/shard.ts';
import { UNKNOWN_FINGERPRINT } from './keys/key-store.ts';
import type { Door } from './maintain/compliance/door.ts';
import { gatherCompliance } from './maintain/compliance/gather.ts';
import { namedKeys } from './maintain/erasure/drop.ts';
import { enforceRetention, retentionStatus } from './maintain/erasure/retention.ts';
import { rewrapKeys } from './maintain/erasure/rewrap.ts';
import { compact } from './maintain/housekeeping/compact.ts';
import { keepVectors } from './maintain/housekeeping/embed.ts';
import { type RebuildServices, rebuild } from './maintain/housekeeping/rebuild.ts';
import { inSlices } from './maintain/housekeeping/slices.ts';
import { auditPage } from './maintain/reports/audit-page.ts';
import { backup } from './maintain/reports/backup.ts';
import { exportPage } from './maintain/reports/export.ts';
import { personPage } from './maintain/reports/person-page.ts';
import { policyImpact } from './maintain/reports/policy-impact.ts';
import { recallRecord, recallRecords, recallTotals } from './maintain/reports/recall-records.ts';
import { isBound, seenDocs, userHashes } from './maintain/reports/users.ts';
import { verify } from './maintain/reports/verify.ts';
import { verifyAudit } from './maintain/reports/verify-audit.ts';
import { auditRefusedRead } from './read-audit.ts';
import { readable } from './reads.ts';
import type { Memory } from './store/memory.ts';
import type { Store } from './store/store.ts';
import type { Added } from './write/add.ts';
import { dropShutPlan } from './write/drop-shut.ts';
import * as plans from './write/plans.ts';
import { itemContext } from './write/reply.ts';
import { writeTrail } from './write/write-trail.ts';

export interface WriteServices extends RebuildServices {
  readonly shard: number;
  /** The engine as its callers have it. */
  readonly door: Door;
}

type In<M extends keyof MemoryCalls> = MemoryCalls[M]['input'];
type Out<M extends keyof MemoryCalls> = Promise<MemoryCalls[M]['output']>;

const inCal = onDemand<typeof CalReads>(import.meta.url, './cal/reads/memory');

export function writeCalls(services: WriteServices) {
  const { store, queue, housekeeper } = services;
  const sealAll = (): Promise<void> => housekeeper.sealed(store.index.publishedSequence);
  /** Whoever looks at what reads left sees all of it; a log that takes nothing shows what it has. */
  const trailWritten = (): Promise<void> =>
    writeTrail(queue).catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
    });
  /** The memory's statistics have changed: the hour's end takes them. */
  const changed = async <T>(context: CallContext, write: Promise<T>): Promise<T> => {
    const output = await write;
    store.changedSincePoint.add(context.memory);
    return output;
  };
  /** The memory of a read that takes its time: refused as the others are. */
  const scanned = (context: CallContext, input: unknown): Memory => {
    try {
      return readable(store, context);
    } catch (error) {
      auditRefusedRead(store, queue.trail, context, { method: 'calScan', input, error });
      throw error;
    }
  };
  /** Queued before a batch's items: its key with another body refuses it, and every one of them. */
  const claimed = async (context: CallContext): Promise<void> => {
    if (context.idempotency !== undefined) await queue.push('batch', plans.claimPlan, context, { release: false });
  };
  /** Entries of a manifest are decided once their grains are stored; those that do not count are answered. */
  const standings = async (
    context: CallContext,
    { manifest, accepted = [] }: In<'importBlobs'>,
    outcomes: readonly AddOutcome[],
  ): Promise<RefusedEntry[]> => {
    const stored = new Set(accepted);
    for (const outcome of outcomes) if ('hash' in outcome) stored.add(outcome.hash);
    const plan = plans.underClaim(context, plans.standingPlan);
    const errors = await each<ManifestEntry, EngineError | undefined>(manifest, (entry, _, settle) =>
      queue.enqueue(
        'importStanding',
        plan,
        itemContext(context, `manifest ${entry.hash}`),
        { entry, isAccepted: stored.has(entry.hash) },
        (error) => settle(error, error),
      ),
    );
    return manifest.flatMap(({ hash }, i) => {
      const error = errors[i];
      return error === undefined ? [] : [{ hash, error: error.toWire() }];
    });
  };
  return {
    attachMemory: async (context: CallContext, input: In<'attachMemory'>): Out<'attachMemory'> => {
      const { number } = input.settings;
      if (store.holds(number) && !wantsAttach(store, input.settings)) return {};
      return queue.push('attachMemory', plans.attachPlan, { ...context, memory: number }, input);
    },
    dropMemory: async (context: CallContext, input: In<'dropMemory'>): Out<'dropMemory'> => {
      const { memory } = context;
      if (!store.isShut(memory)) return queue.push('dropMemory', plans.dropPlan, context, input);
      // What its policy says is lost with its key.
      if (input.check === true) return { keyFingerprint: UNKNOWN_FINGERPRINT };
      const named = await inSlices(namedKeys(store, memory));
      return queue.push('dropMemory', dropShutPlan, { ...context, memory: 0 }, { memory, named });
    },
    claim: async (context: CallContext, input: In<'claim'>): Out<'claim'> => {
      if (!input.release) return queue.push('claim', plans.claimPlan, context, input);
      const { idempotency, ...rest } = context;
      return idempotency === undefined ? {} : queue.push('release', plans.releasePlan, rest, idempotency);
    },
    add: async (context: CallContext, input: In<'add'>): Out<'add'> => {
      // One that does not open says so here: what waits behind a commit is prepared where nobody would hear it.
      if (store.holds(context.memory)) store.memory(context.memory);
      const added = await changed(context, queue.push('add', plans.addPlan, context, input));
      if (input.sync) await sealAll();
      return added;
    },
    addBatch: async (context: CallContext, input: In<'addBatch'>): Out<'addBatch'> => {
      store.memory(context.memory);
      const claim = claimed(context);
      const plan = plans.underClaim(context, plans.addPlan);
      const added = each(input.items, (item, i, settle) =>
        queue.enqueue('add', plan, itemContext(context, input.places?.[i] ?? i), item, (error, added) =>
          settle(error, outcomeOf(item.grainType, error, added)),
        ),
      );
      const [outcomes] = await Promise.all([added, claim]);
      store.changedSincePoint.add(context.memory);
      if (input.sync === true) await sealAll();
      return { outcomes };
    },
    importBlobs: async (context: CallContext, input: In<'importBlobs'>): Out<'importBlobs'> => {
      store.memory(context.memory);
      const claim = claimed(context);
      const plan = plans.underClaim(context, plans.importPlan);
      const imported = each(input.blobs, (blob, i, settle) =>
        queue.enqueue('importBlob', plan, itemContext(context, i), { blob }, (error, added) =>
          settle(error, outcomeOf(added?.grainType ?? '', error, added)),
        ),
      );
      const [outcomes] = await Promise.all([imported, claim]);
      const refused = await standings(context, input, outcomes);
      store.changedSincePoint.add(context.memory);
      return { outcomes, refused };
    },
    supersede: (context: CallContext, input: In<'supersede'>): Out<'supersede'> =>
      changed(context, queue.push('supersede', plans.supersedePlan, context, input)),
    accumulate: (context: CallContext, input: In<'accumulate'>): Out<'accumulate'> =>
      changed(context, queue.push('accumulate', plans.accumulatePlan, context, input)),
    forget: (context: CallContext, input: In<'forget'>): Out<'forget'> =>
      changed(context, queue.push('forget', plans.forgetPlan, context, input)),
    eraseUser: (context: CallContext, input: In<'eraseUser'>): Out<'eraseUser'> =>
      changed(context, queue.push('eraseUser', plans.eraseUserPlan, context, input)),
    redactUser: (context: CallContext, input: In<'redactUser'>): Out<'redactUser'> =>
      changed(context, queue.push('redactUser', plans.redactUserPlan, context, input)),
    previewRemoval: (context: CallContext, input: In<'previewRemoval'>): Out<'previewRemoval'> =>
      queue.push('previewRemoval', plans.previewRemovalPlan, context, input),
    eraseScope: (context: CallContext, input: In<'eraseScope'>): Out<'eraseScope'> =>
      changed(context, queue.push('eraseScope', plans.eraseScopePlan, context, input)),
    setPolicy: (context: CallContext, input: In<'setPolicy'>): Out<'setPolicy'> =>
      queue.push('setPolicy', plans.setPolicyPlan, context, input),
    restrict: (context: CallContext, input: In<'restrict'>): Out<'restrict'> =>
      queue.push('restrict', plans.restrictPlan, context, input),
    consent: (context: CallContext, input: In<'consent'>): Out<'consent'> =>
      changed(context, queue.push('consent', plans.consentPlan, context, input)),
    consentFacts: (context: CallContext, input: In<'consentFacts'>): Out<'consentFacts'> =>
      queue.push('consentFacts', plans.consentFactsPlan, context, input),
    policyImpact: async (context: CallContext, input: In<'policyImpact'>): Out<'policyImpact'> =>
      policyImpact(store, store.memory(context.memory), context, input),
    retentionStatus: async (context: CallContext, input: In<'retentionStatus'>): Out<'retentionStatus'> =>
      retentionStatus(store, store.memory(context.memory), context, input),
    enforceRetention: (context: CallContext, input: In<'enforceRetention'>): Out<'enforceRetention'> =>
      changed(context, enforceRetention({ store, queue }, context, input)),
    flush: async (context: CallContext, _input: In<'flush'>): Out<'flush'> => {
      store.memory(context.memory);
      await trailWritten();
      await queue.idle();
      const flushed = unsealedGrains(store, context);
      await sealAll();
      return { flushed, pending: 0 };
    },
    users: async (context: CallContext, _input: In<'users'>): Out<'users'> => ({
      hashes: await inSlices(userHashes(store, store.memory(context.memory), context)),
    }),
    calScan: async (context: CallContext, input: In<'calScan'>): Out<'calScan'> =>
      inSlices(inCal().calReadSteps(store, scanned(context, input), context, input)),
    verifyAudit: async (context: CallContext, input: In<'verifyAudit'>): Out<'verifyAudit'> => {
      await trailWritten();
      return verifyAudit(store, store.memory(context.memory).number, context.partition, input.limit);
    },
    auditPage: async (context: CallContext, input: In<'auditPage'>): Out<'auditPage'> => {
      await trailWritten();
      return auditPage(store, store.memory(context.memory), context, input);
    },
    recallRecords: async (context: CallContext, input: In<'recallRecords'>): Out<'recallRecords'> => {
      await trailWritten();
      return inSlices(recallRecords(store, store.memory(context.memory), context, input));
    },
    recallRecord: async (context: CallContext, { recallId }: In<'recallRecord'>): Out<'recallRecord'> => {
      await trailWritten();
      return recallRecord(store, store.memory(context.memory), context, recallId);
    },
    recallTotals: async (context: CallContext, input: In<'recallTotals'>): Out<'recallTotals'> => {
      await trailWritten();
      return inSlices(recallTotals(store, store.memory(context.memory), context, input));
    },
    compliance: async (context: CallContext, input: In<'compliance'>): Out<'compliance'> => ({
      partitions: [await gatherCompliance(services, context, input)],
    }),
    rebuildIndexes: async (context: CallContext, _input: In<'rebuildIndexes'>): Out<'rebuildIndexes'> =>
      rebuild(services, store.memory(context.memory).number),
    compact: (context: CallContext, _input: In<'compact'>): Out<'compact'> => compact(services, context),
    rotateKeys: (context: CallContext, input: In<'rotateKeys'>): Out<'rotateKeys'> =>
      queue.push('rotateKeys', plans.rotatePlan, context, input),
    note: (context: CallContext, input: In<'note'>): Out<'note'> => queue.push('note', plans.notePlan, context, input),
    exportPage: (context: CallContext, input: In<'exportPage'>): Out<'exportPage'> =>
      exportPage(store, store.memory(context.memory), context, input),
    personPage: async (context: CallContext, input: In<'personPage'>): Out<'personPage'> =>
      inSlices(personPage(store, store.memory(context.memory), context, input)),
    verify: (_context: CallContext, _input: ShardWideCalls['verify']['input']) => verify(services),
    backup: (_context: CallContext, input: ShardWideCalls['backup']['input']) => backup(services, input),
    keepVectors: async (_context: CallContext, input: ShardWideCalls['keepVectors']['input']) =>
      keepVectors(store, input),
    rewrapKeys: (_context: CallContext, input: ShardWideCalls['rewrapKeys']['input']) => rewrapKeys(store, input),
  };
}

/** False for a memory that is as wanted, and for one that is damaged: it keeps no server from starting, calls on it tell. */
function wantsAttach(store: Store, settings: MemorySettings): boolean {
  try {
    return JSON.stringify(store.memory(settings.number).settings) !== JSON.stringify(settings);
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

/** Items of a batch answer one by one; a bad one hurts no other. Only storage trouble fails the call. */
function each<T, O = AddOutcome>(
  items: readonly T[],
  enqueue: (item: T, index: number, settle: (error: EngineError | undefined, outcome: O) => void) => void,
): Promise<O[]> {
  return new Promise((resolve, reject) => {
    const outcomes: O[] = new Array(items.length);
    let left = items.length;
    if (left === 0) resolve(outcomes);
    items.forEach((item, i) => {
      enqueue(item, i, (error, outcome) => {
        if (error !== undefined && isTrouble(error)) reject(error);
        outcomes[i] = outcome;
        left -= 1;
        if (left === 0) resolve(outcomes);
      });
    });
  });
}

function outcomeOf(grainType: string, error: EngineError | undefined, added: Added): AddOutcome {
  return error === undefined ? { ...added, grainType } : { error: error.toWire(), grainType };
}

/** Counts only what the caller sees. */
function unsealedGrains(store: Store, context: CallContext): number {
  let count = 0;
  for (const part of store.index.unsealedParts(context.memory))
    count += isBound(context) ? seenDocs(part, context).length : part.docCount;
  return count;
}

/** What is not about one item: the caller may try the whole batch again. */
function isTrouble(error: EngineError): boolean {
  return error.code.startsWith('STO-') || error.code.startsWith('SYS-');
}
