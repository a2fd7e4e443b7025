// The engine's reads, one function for each call, and the calls that leave a record. Synchronous: they use published
// state and never wait.

import { defined } from './base/defined.ts';
import { EngineError } from './base/errors.ts';
import { RECALL_HELD_BYTES_MAX } from './base/limits.ts';
import { onDemand } from './base/on-demand.ts';
import type * as CalReads from './cal/reads/memory.ts';
import type { Input, Output, ReadMethod, RecordMethod } from './calls/calls.ts';
import type { CallContext } from './calls/context.ts';
import type { GrainFilter, GrainView } from './calls/grain.ts';
import type { RecallQuery } from './calls/recall.ts';
import type { SessionQuery } from './calls/session.ts';
import type { ShardHealth } from './calls/shard.ts';
import { checkAccess } from './govern/access/question.ts';
import {
  decideLimit,
  refuseAccessToHarness,
  refuseAccessToMemory,
  refuseDeactivated,
  refuseRestricted,
} from './govern/decide.ts';
import type { Restriction } from './govern/governed.ts';
import { decideChange, decisionJson, type PolicyChange } from './govern/policy/change.ts';
import { policyJson } from './govern/policy/seal.ts';
import { consentsOf, restrictionsOf } from './govern/view.ts';
import { AnswerRoom } from './grain/api/answer-room.ts';
import type { JsonObject } from './grain/api/json-value.ts';
import { embedPages, vectorLag, vectorState } from './maintain/housekeeping/embed.ts';
import { statisticsHistory } from './maintain/housekeeping/points.ts';
import { identityOf } from './maintain/reports/identities.ts';
import { memoryStatistics } from './maintain/reports/statistics.ts';
import { hasSeenGrain } from './maintain/reports/users.ts';
import { edges } from './recall/edges.ts';
import { hashesShown, viewWithSources } from './recall/filter/further-sources.ts';
import { inTree } from './recall/filter/scope.ts';
import { history } from './recall/history.ts';
import { alikeWords } from './recall/legs/alike.ts';
import { countedParts } from './recall/legs/counted.ts';
import { packedMeanings } from './recall/legs/meanings.ts';
import { isLoading, shardVectors, vectorsNote } from './recall/legs/shard-vectors.ts';
import { list } from './recall/list.ts';
import { namespaces } from './recall/namespaces.ts';
import { recallCandidates, recallStatistics } from './recall/recall.ts';
import { stagedRecall } from './recall/staged.ts';
import { actionChain } from './session/chain.ts';
import { contextParts } from './session/context.ts';
import { namedGoal } from './session/named-goal.ts';
import { type SessionPlaces, sessionPlaces } from './session/places.ts';
import { sessionSummary } from './session/summary.ts';
import { sessionSizes, threadState } from './session/thread.ts';
import { readTurn } from './session/turns.ts';
import { sessionView } from './session/view.ts';
import { whyGone } from './store/gone.ts';
import type { Memory } from './store/memory.ts';
import { refuseRead } from './store/readable.ts';
import { policyVersion } from './store/rules.ts';
import type { Store } from './store/store.ts';
import type { StoredGrain } from './store/stored-grain.ts';
import { memoriesWithTurns } from './store/turns.ts';
import { bindingOf, isBound, isViewed, isWithin } from './store/within.ts';
import { knownFacts } from './write/known-facts.ts';
import { noIdentity } from './write/no-identity.ts';
import type { ReadTrail } from './write/read-trail.ts';

/** Calls that are answered synchronously. */
export type AtOnce<M extends ReadMethod | RecordMethod> = {
  readonly [K in M]: (context: CallContext, input: Input<K>) => Output<K>;
};

/** Loaded on demand: CAL is a fifth of the engine's files. */
const inCal = onDemand<typeof CalReads>(import.meta.url, './cal/reads/memory');

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table with one row for each call
export function readCalls(store: Store, health: () => ShardHealth): AtOnce<ReadMethod> {
  return {
    get: (context, input) => {
      const memory = store.memory(context.memory);
      return viewWithSources(store, memory, context, named(store, memory, context, input.hash));
    },
    getRaw: (context, input) => {
      const memory = store.memory(context.memory);
      return { blob: named(store, memory, context, input.hash).blob };
    },
    locate: (context, input) => {
      const memory = store.memory(context.memory);
      return { held: input.hashes.map((hash) => isPresent(store, memory, context, hash)) };
    },
    list: (context, input) => list(store, readable(store, context, input.filter), context, input),
    edges: (context, input) => edges(store, readable(store, context), context, input),
    recallStatistics: (context, input) => recallStatistics(store, recallable(store, context, input), context, input),
    recallCandidates: (context, input) => {
      const memory = recallable(store, context, input.query);
      // The router has resolved the scope path of a plain recall, but not of a recall inside a query.
      const query = { ...input.query, filter: inTree(memory.settings, input.query.filter) };
      const vectors = shardVectors(store, context.memory, query);
      return {
        ...recallCandidates(store, memory, context, query, input.statistics, { vectors }),
        ...vectorsNote(store, context.memory, query),
      };
    },
    fetch: (context, input) => {
      const startedMs = performance.now();
      const memory = store.memory(context.memory);
      const room = new AnswerRoom(input.bytesMax ?? RECALL_HELD_BYTES_MAX);
      const grains: (GrainView | null)[] = [];
      for (const hash of input.hashes) {
        const grain = viewed(store, memory, context, hash);
        if (grain !== null && !room.takesBytes(grain.sizeBytes)) break;
        grains.push(grain);
      }
      store.counters.stage('fetch', startedMs);
      return { grains };
    },
    recall: (context, input) => {
      const memory = recallable(store, context, input);
      const query = { ...input, filter: inTree(memory.settings, input.filter) };
      const found = stagedRecall(store, memory, context, query, (hash) => viewed(store, memory, context, hash));
      return { ...found, ...vectorsNote(store, context.memory, input) };
    },
    grainNames: (context, { hashes }) => {
      const memory = store.memory(context.memory);
      return { names: hashes.map((hash) => store.nameOfHash(memory, hash) ?? '') };
    },
    namesAt: (_context, { ordinals }) => ({ names: ordinals.map((ordinal) => store.nameHint(ordinal)) }),
    grainHashes: (context, { names, shown }) => {
      const memory = store.memory(context.memory);
      const hashOf =
        shown === true
          ? hashesShown(store, memory, context)
          : (name: string) => {
              const hash = store.hashOfName(memory, name);
              return hash !== undefined && isOwn(store, memory, context, hash) ? hash : undefined;
            };
      return { hashes: names.map((name) => hashOf(name) ?? '') };
    },
    knownFacts: (context, input) => knownFacts(store, store.memory(context.memory), context, input),
    namespaces: (context, input) => namespaces(store, store.memory(context.memory), context, input.filter),
    alike: (context, { words, limit }) => {
      const memory = store.memory(context.memory);
      return alikeWords(countedParts(store, store.parts(memory.number), context), memory.analyzer, words, limit);
    },
    meanings: (context, input) => packedMeanings(store, store.memory(context.memory), input),
    vectorState: (context) => {
      const { number } = store.memory(context.memory);
      const { serving, lag } = vectorState(store, number);
      return defined({
        serving: serving === undefined ? [] : [serving],
        lag,
        loading: isLoading(store, number) || undefined,
      });
    },
    vectorLag: (context, { upTo }) => {
      const last = upTo?.[context.partition] ?? store.index.publishedSequence;
      return { waiting: vectorLag(store, store.memory(context.memory).number, last), upTo: [last] };
    },
    cal: (context, input) => inCal().cal(store, readable(store, context), context, input),
    calRead: (context, input) => inCal().calRead(store, readable(store, context), context, input),
    session: (context, input) => sessionView(placesOf(store, context, input), input),
    sessionSummary: (context, input) => sessionSummary(placesOf(store, context, input)),
    sessionContext: (context, input) => contextParts(placesOf(store, context, input), input),
    thread: (context, { threadId }) => ({
      state: threadState(store, store.memory(context.memory), context, threadId),
    }),
    sessionSizes: (context, { sessionIds }) => ({
      sizes: sessionSizes(store, readable(store, context), context, sessionIds),
    }),
    namedGoals: (context, { hashes }) => {
      const memory = store.memory(context.memory);
      return { goals: hashes.map((hash) => namedGoal(store, memory, context, hash) ?? null) };
    },
    sessionChain: (context, input) => actionChain(placesOf(store, context, input), input),
    policy: (context, { version }) => {
      const memory = store.memory(context.memory);
      const policy = version === undefined ? memory.governed.policy : policyVersion(store.log, memory, version);
      return { policy: policy === undefined ? null : (policyJson(policy) as JsonObject) }; // a policy is an object
    },
    simulatePolicy: (context, { change, isAdmin }) => {
      const { policy } = store.memory(context.memory).governed;
      const decision = decideChange(policy, change as PolicyChange, { isAdmin }); // its overrides are JSON
      return { decision: decisionJson(policy, decision) as JsonObject }; // a decision is an object
    },
    restrictions: (context, input) => {
      const { governed } = store.memory(context.memory);
      const named = context.userId ?? input.userId;
      const visible = ofSeen(store, context, named, restrictionsOf(governed, named));
      const isTold = isToldOf(store, context, named);
      return {
        restrictions: visible.map(({ userId, reason, atMs, by }) => ({
          userId,
          reason: isTold ? reason : '',
          restrictedAt: Math.floor(atMs / 1000),
          restrictedBy: isTold ? by : '',
        })),
      };
    },
    consents: (context, input) => {
      const userId = context.userId ?? input.userId;
      const facts = consentsOf(store.memory(context.memory).governed, { ...input, userId });
      return { facts: isToldOf(store, context, userId) ? facts : facts.map((fact) => ({ ...fact, hash: '' })) };
    },
    granted: ({ memory }, { userIds, purpose }) => {
      const { governed } = store.memory(memory);
      const nowMs = store.clock.nowMs();
      const isGranted = (userId: string): boolean =>
        !governed.isRestricted(userId) && governed.isGranted(userId, purpose, nowMs);
      return { granted: userIds.every(isGranted) };
    },
    checkAccess: (context, { tuple }) => checkAccess(store.memory(context.memory), context, tuple),
    requireAccess: (context, { relations }) => {
      const denied = refuseAccessToMemory(store.memory(context.memory).governed, context, relations);
      if (denied !== undefined) throw denied;
      return {};
    },
    requireHarness: (context, input) => {
      const denied = refuseAccessToHarness(store.memory(context.memory).governed, context, input);
      if (denied !== undefined) throw denied;
      return {};
    },
    usableHarnesses: (context, { slugs }) => {
      const { governed } = store.memory(context.memory);
      return {
        usable: slugs.map((slug) => refuseAccessToHarness(governed, context, { slug, relation: 'user' }) === undefined),
      };
    },
    identity: (context, { agentId }) => {
      const identity = identityOf(store, store.memory(context.memory), agentId);
      if (identity === undefined) throw noIdentity(agentId);
      return { identity };
    },
    requireActive: (context) => {
      const refused = refuseDeactivated(store.memory(context.memory).governed, context);
      if (refused !== undefined) throw refused;
      return {};
    },
    history: (context, input) => history(store, store.memory(context.memory), context, input),
    statistics: (context) => {
      const memory = store.memory(context.memory);
      return memoryStatistics(store, memory.number, {
        binding: bindingOf(memory, context),
        pendingWrites: health().pendingWrites,
      });
    },
    statisticsHistory: (context, input) => {
      if (isBound(context))
        throw new EngineError(
          'AUT-E001',
          'past statistics cover the whole memory, but this caller may see only a part of it',
        );
      return statisticsHistory(store, store.memory(context.memory).number, input);
    },
    embedPages: (_context, input) => embedPages(store, input),
    health: () => health(),
    counters: () => store.counters.counts(store.opened.counts, store.purgePending.size, store.uploads?.pending ?? 0),
    turn: (context, { sessionId }) => ({ turn: readTurn(store, store.memory(context.memory), context, sessionId) }),
    openTurns: () => ({ memories: memoriesWithTurns(store.log) }),
    takeStages: () => store.stageTimes.take(),
  };
}

function placesOf(
  store: Store,
  context: CallContext,
  { sessionId, only }: Pick<SessionQuery, 'sessionId' | 'only'>,
): SessionPlaces {
  return sessionPlaces(store, readable(store, context), context, sessionId, only);
}

/** Calls that leave a record of a read. */
export function recordCalls(store: Store, trail: ReadTrail): AtOnce<RecordMethod> {
  return {
    keepRecall: (context, input) => {
      const recallId = trail.recall(store.memory(context.memory), context, input);
      return defined({ recallId });
    },
  };
}

/**
 * Filters restrictions for a caller who is bound to a namespace. A call that names a person gets that person's, because
 * writes check it. Any other call gets only those of people of whom the caller sees a grain, so that the memory's other
 * people stay unknown to it. An unbound caller gets all.
 */
function ofSeen(
  store: Store,
  context: CallContext,
  named: string | undefined,
  all: readonly Restriction[],
): readonly Restriction[] {
  const memory = store.memory(context.memory);
  const binding = bindingOf(memory, context);
  if (named !== undefined || !isBound(binding)) return all;
  return all.filter(({ userId }) => hasSeenGrain(store, memory, userId, binding));
}

/**
 * False for a person whom a caller names that sees no grain of that person. It learns what its writes would meet: that the person
 * is restricted, or what was consented to. It does not learn why, from whom, or which grain says so.
 */
function isToldOf(store: Store, context: CallContext, named: string | undefined): boolean {
  const memory = store.memory(context.memory);
  const binding = bindingOf(memory, context);
  if (named === undefined || !isBound(binding) || context.userId === named) return true;
  return hasSeenGrain(store, memory, named, binding);
}

/**
 * True if this partition holds the grain within the caller's binding. A grain outside it counts as missing, so that it
 * cannot influence where a call goes.
 */
function isPresent(store: Store, memory: Memory, context: CallContext, hash: string): boolean {
  const ordinal = store.findOrdinal(memory.number, hash);
  const binding = bindingOf(memory, context);
  if (ordinal === undefined || !isBound(binding)) return ordinal !== undefined;
  const stored = store.readGrain(memory, ordinal);
  return stored !== undefined && isWithin(context, stored.grain) && isViewed(binding, stored.grain);
}

/** False for a grain outside the caller's binding. */
function isOwn(store: Store, memory: Memory, context: CallContext, hash: string): boolean {
  if (!isBound(context)) return true;
  const ordinal = store.findOrdinal(memory.number, hash);
  const stored = ordinal === undefined ? undefined : store.readGrain(memory, ordinal);
  return stored !== undefined && isWithin(context, stored.grain);
}

function viewed(store: Store, memory: Memory, context: CallContext, hash: string): GrainView | null {
  const stored = find(store, memory, context, hash);
  return stored === undefined ? null : viewWithSources(store, memory, context, stored);
}

function find(store: Store, memory: Memory, context: CallContext, hash: string): StoredGrain | undefined {
  const ordinal = store.findOrdinal(memory.number, hash);
  const stored = ordinal === undefined ? undefined : store.readShown(memory, ordinal);
  if (stored === undefined || !isWithin(context, stored.grain)) return undefined;
  return refuseRead(memory, context, stored.grain, store.clock.nowMs()) === undefined ? stored : undefined;
}

/** Reports a damaged record only to a caller that sees the whole memory: the grain may be outside a binding. */
function readNamed(store: Store, memory: Memory, context: CallContext, ordinal: number): StoredGrain | undefined {
  return isBound(bindingOf(memory, context)) ? store.readShown(memory, ordinal) : store.readNamed(memory, ordinal);
}

function named(store: Store, memory: Memory, context: CallContext, hash: string): StoredGrain {
  const ordinal = store.findOrdinal(memory.number, hash);
  const stored = ordinal === undefined ? undefined : readNamed(store, memory, context, ordinal);
  if (stored === undefined || !isWithin(context, stored.grain)) throw whyGone(store, memory, context, hash);
  const refusal = refuseRead(memory, context, stored.grain, store.clock.nowMs());
  if (refusal !== undefined) throw refusal;
  return stored;
}

/** Like `readable`; also throws POL-E013 if the caller asks for more hits than the policy allows. */
function recallable(store: Store, context: CallContext, { filter, askedLimit = 0 }: RecallQuery): Memory {
  const memory = readable(store, context, filter);
  const refusal = decideLimit(memory.governed, askedLimit);
  if (refusal !== undefined) throw refusal;
  return memory;
}

/** The memory for a read. Throws POL-E008 if the read is about a user whose processing is restricted. */
export function readable(store: Store, context: CallContext, filter?: GrainFilter): Memory {
  const memory = store.memory(context.memory);
  const refusal =
    refuseRestricted(memory.governed, context.userId) ??
    refuseRestricted(memory.governed, filter?.userId) ??
    refuseRestricted(memory.governed, filter?.forUser);
  if (refusal !== undefined) throw refusal;
  return memory;
}
