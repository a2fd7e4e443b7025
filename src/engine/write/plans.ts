// Prepares and plans the engine's writes: calls that are a single plan, and the plans of calls and jobs that do more.

import { EngineError } from '../base/errors.ts';
import type { Input, Output, PlannedMethod } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { ErasureProof } from '../calls/erasure.ts';
import type { ConsentOutcome } from '../calls/govern.ts';
import type { AddItem } from '../calls/grain.ts';
import { checkTuple, type Tuple } from '../govern/access/tuple.ts';
import { personOfAgent } from '../govern/agents/identity.ts';
import type { AuditDraft } from '../govern/trail/audit.ts';
import type { EventMark } from '../govern/trail/event-kinds.ts';
import { PlainItem } from '../grain/plain/plain-item.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { Memory } from '../store/memory.ts';
import { oldBlobKeyState } from '../store/state-names.ts';
import { keyedText } from './actor.ts';
import { type Added, planAdd } from './add.ts';
import { planDeactivate, planRegister } from './agents.ts';
import { checkDrop, planAttach, planDrop, planDropped } from './attach.ts';
import { allowWrite } from './decided.ts';
import { planDropOutlived } from './drop-turns.ts';
import { planEraseScope } from './erase-scope.ts';
import { planExpire } from './expire.ts';
import { planEraseUser, planForget } from './forget.ts';
import { planChangeGoal } from './goal-change.ts';
import { planConsent, planConsentFacts, planRestrict, planSetPolicy } from './govern.ts';
import { type LinkInput, planLink } from './import-links.ts';
import type { MemoryWrite, WritePlan } from './job.ts';
import { planMerge } from './merge-grains.ts';
import { bindFields } from './narrow.ts';
import { type PreparedGrain, prepareGrain, prepareImport, preparePlain } from './prepare.ts';
import { planPreview } from './preview-removal.ts';
import { pseudonym } from './pseudonym.ts';
import { planRedact } from './redact.ts';
import { releaseReply, storedReply } from './reply.ts';
import { writeSetting } from './setting-record.ts';
import { planAccumulate, planSupersede } from './supersede.ts';
import { planGrant, planRevoke } from './tuples.ts';
import { planBeginTurn, planChangeTurn, planSettleTurn } from './turns.ts';

/** The memory must exist (MEM-E003). Attaching is the only write that creates one. */
export function known(memory: Memory | undefined): Memory {
  if (memory === undefined) throw new EngineError('MEM-E003');
  return memory;
}

/** For storage itself: a new index key for a memory whose key is gone, whatever the state of its index. */
export const renewIndexKeyPlan: WritePlan<{ readonly memory: number }, void> = {
  plan: (group, _memory, _context, { memory }) => {
    if (group.store.holds(memory)) group.renewIndexKey(group.store.memory(memory));
  },
};

export const addPlan: WritePlan<AddItem, Added> = {
  prepare: prepareAdd,
  plan: (group, memory, context, input, prepared) => {
    const opened = known(memory);
    const current = isCurrent(opened, prepared!) ? prepared! : prepareAdd(opened, context, input, group.nowMs);
    return planAdd(group, opened, context, current, input);
  },
};

export function prepareAdd(memory: Memory, context: CallContext, input: AddItem, nowMs: number): PreparedGrain {
  const isPlain = input instanceof PlainItem && context.namespace === undefined && context.userId === undefined;
  const plain = isPlain ? preparePlain(memory, input, nowMs) : undefined;
  if (plain !== undefined) return plain;
  return prepareGrain(memory, input.grainType, bindFields(context, input.fields), nowMs, context.purpose);
}

/** False when the policy has changed since. */
function isCurrent(memory: Memory, { policySeal }: PreparedGrain): boolean {
  return policySeal === memory.governed.policy.sealHash;
}

/** Imports one blob. */
export const importPlan: WritePlan<
  { blob: Uint8Array; hash?: string | undefined },
  Added & { readonly grainType: string }
> = {
  prepare: (memory, context, input) => prepareImport(memory, input.blob, input.hash, context.purpose),
  plan: (group, memory, context, input, before) => {
    const opened = known(memory);
    const prepared = isCurrent(opened, before!)
      ? before!
      : prepareImport(opened, input.blob, input.hash, context.purpose);
    const { fields, type } = prepared.grain;
    for (const [name, bound] of [
      ['namespace', context.namespace],
      ['user_id', context.userId],
    ] as const)
      if (bound !== undefined && fields[name] !== bound)
        throw new EngineError('AUT-E001', `this caller may only write grains with its own ${name}`);
    return { ...planAdd(group, opened, context, prepared, { event: 'memory.imported' }), grainType: type };
  },
};

/** The person that an agent is: its stored answer is lost with that person's key. */
function personOfIdentity({ identity }: { readonly identity: { readonly agentId: string } }): {
  readonly user?: string | undefined;
} {
  return { user: personOfAgent(identity.agentId) };
}

function stripConsents({ outcomes }: Output<'consent'>): unknown {
  return outcomes.map((outcome) => {
    if ('error' in outcome) return outcome;
    const { userId: _, purpose: __, ...fact } = outcome.fact;
    return { fact };
  });
}

function restoreConsents(kept: unknown, { items }: Input<'consent'>): Output<'consent'> {
  const outcomes = (kept as readonly ConsentOutcome[]).map((outcome, at): ConsentOutcome => {
    // as `strip` left them
    const item = items[at];
    if ('error' in outcome || item === undefined) return outcome;
    return { fact: { ...outcome.fact, userId: item.userId, purpose: item.purpose } };
  });
  return { outcomes };
}

/** A stored answer names nobody: the repeated request has the tuple. */
function restoreTuple<O extends { readonly tuple: Tuple }>(kept: unknown, { tuple }: { readonly tuple: Tuple }): O {
  return { ...(kept as Omit<O, 'tuple'>), tuple: checkTuple(tuple) } as O; // as `strip` left it
}

/** Removes a batch of expired grains. Grains under a hold stay. */
export const expirePlan: WritePlan<{ readonly ordinals: readonly Ordinal[] }, { readonly removed: number }> = {
  settled: true,
  plan: (group, memory, context, { ordinals }) => planExpire(group, known(memory), context, ordinals),
};

/** Drops records of turns and conversations that have outlived the policy's times to live. */
export const dropOutlivedPlan: WritePlan<{ readonly states: readonly string[] }, { readonly dropped: number }> = {
  settled: true,
  plan: (group, memory, _context, { states }) => planDropOutlived(group, known(memory), states),
};

export const attachPlan: MemoryWrite<'attachMemory'> = {
  settled: true,
  plan: (group, _memory, context, { settings }) => {
    planAttach(group, context, settings);
    return {};
  },
};

/** The queue stores the key with the answer. The plan itself does nothing. */
export const claimPlan: MemoryWrite<'claim'> = {
  noteOnly: true,
  plan: (_group, memory) => {
    known(memory);
    return {};
  },
};

/** Wraps a batch item: it is not done when the batch's own key was claimed for another body. */
export function underClaim<I, O>(batch: CallContext, plan: WritePlan<I, O>): WritePlan<I, O> {
  if (batch.idempotency === undefined) return plan;
  return {
    ...plan,
    plan: (group, memory, context, input, prepared) => {
      storedReply(group, known(memory), 'batch', batch);
      return plan.plan(group, memory, context, input, prepared);
    },
  };
}

/** Its context has no idempotency key; otherwise the queue would answer with the stored reply. */
export const releasePlan: WritePlan<NonNullable<CallContext['idempotency']>, Record<never, never>> = {
  settled: true,
  noteOnly: true,
  plan: (group, memory, context, idempotency) => {
    releaseReply(group, known(memory), 'claim', { ...context, idempotency });
    return {};
  },
};

export const forgetPlan: MemoryWrite<'forget'> = {
  reply: { isKept: ({ check }) => !check },
  settled: true,
  plan: (group, memory, context, input) => planForget(group, known(memory), context, input),
};

export const previewPlan: MemoryWrite<'previewRemoval'> = {
  settled: true,
  plan: (group, memory, context, input) => planPreview(group, known(memory), context, input),
};

export const dropPlan: MemoryWrite<'dropMemory'> = {
  settled: true,
  plan: (group, memory, context, { check }) => {
    if (check === true) return memory === undefined ? { keyFingerprint: '' } : checkDrop(memory);
    return memory === undefined ? planDropped(group, context.memory) : planDrop(group, memory);
  },
};

/** The audit entry of an enforcement of retention. With a key, its time is recorded as that of the memory's last one. */
export const enforcedPlan: WritePlan<
  { readonly key: string | undefined; readonly forgotten: number },
  Record<never, never>
> = {
  plan: (group, memory, context, { key, forgotten }) => {
    if (key !== undefined) {
      const at = Buffer.alloc(6);
      at.writeUIntBE(group.nowMs, 0, 6);
      group.setState(key, at);
    }
    const details = { forgotten };
    group.audit(known(memory), { event: 'retention.enforced', actor: context.actor, subject: '', details });
    return {};
  },
};

/** Adds audit entries of maintenance that changes nothing else in the log. */
export const auditPlan: WritePlan<AuditDraft, Record<never, never>> = {
  noteOnly: true,
  plan: (group, memory, _context, draft) => {
    group.audit(known(memory), draft);
    return {};
  },
};

/** The server ends or interrupts a turn. */
export const settleTurnPlan: WritePlan<
  { readonly token: string; readonly server: string },
  { readonly settled: boolean }
> = {
  plan: (group, memory, context, input) => planSettleTurn(group, known(memory), context, input),
};

/** Applies one entry of an imported file's manifest. */
export const linkPlan: WritePlan<LinkInput, Record<never, never>> = {
  plan: (group, memory, context, input) => {
    planLink(group, known(memory), context, input);
    return {};
  },
};

/** Notes of whole runs, whose grains have entries of the same type. */
const NOTE_MARKS: Readonly<Record<string, EventMark>> = {
  'memory.extracted': 'memories_extracted',
  'memory.imported': 'import_finished',
};

/** The calls that are a single plan in the queue, as their rows say. */
export const PLANS: { readonly [M in PlannedMethod]: MemoryWrite<M> } = {
  checkAdd: {
    prepare: prepareAdd,
    plan: (group, memory, context, input, prepared) => {
      const opened = known(memory);
      const current = isCurrent(opened, prepared!) ? prepared! : prepareAdd(opened, context, input, group.nowMs);
      allowWrite(group, opened, context, current);
      return {};
    },
  },
  supersede: {
    plan: (group, memory, context, input) => planSupersede(group, known(memory), context, input),
  },
  accumulate: {
    reply: {
      ofWhom: ({ oldHash, newHash, fields: { user_id: user, namespace } }) => ({
        user: typeof user === 'string' && user !== '' ? user : undefined,
        namespace: typeof namespace === 'string' ? namespace : undefined,
        shows: { hash: newHash, predecessor: oldHash },
      }),
      // They may name a person whom an erasure removes from others' grains.
      strip: ({ fields: _, ...kept }) => kept,
    },
    plan: (group, memory, context, input) => planAccumulate(group, known(memory), context, input),
  },
  mergeGrains: {
    reply: { isKept: () => false },
    plan: (group, memory, context, input) => planMerge(group, known(memory), context, input),
  },
  changeGoal: {
    reply: {
      ofWhom: ({ hash, previousHash, fields: { user_id: user, namespace } }) => ({
        user: typeof user === 'string' && user !== '' ? user : undefined,
        namespace: typeof namespace === 'string' ? namespace : undefined,
        shows: { hash, predecessor: previousHash },
      }),
      strip: ({ fields: _, ...kept }) => kept,
    },
    plan: (group, memory, context, input) => planChangeGoal(group, known(memory), context, input),
  },
  eraseUser: {
    reply: {
      // Every repeat of the request contains the name that must be forgotten.
      isKept: ({ check }) => check !== true,
      strip: ({ userId: _, ...kept }) => kept,
      restore: (kept, { userId }) => ({ ...(kept as Omit<ErasureProof, 'userId'>), userId }), // as `strip` left it
    },
    settled: true,
    plan: (group, memory, context, input) => planEraseUser(group, known(memory), context, input),
  },
  /** The rest of an erasure. Its answer is not stored. */
  redactUser: {
    settled: true,
    reply: { isKept: () => false },
    plan: (group, memory, context, input) => planRedact(group, known(memory), context, input),
  },
  eraseScope: {
    reply: { isKept: ({ check }) => check !== true },
    settled: true,
    plan: (group, memory, context, input) => planEraseScope(group, known(memory), context, input),
  },
  setPolicy: {
    reply: { isKept: (input) => !('check' in input) && !('sealed' in input) },
    settled: true,
    plan: (group, memory, context, input) => planSetPolicy(group, known(memory), context, input),
  },
  restrict: {
    settled: true,
    plan: (group, memory, context, input) => planRestrict(group, known(memory), context, input),
  },
  /** Stored for a repeat without the names in it: the repeated request contains them again. */
  consent: {
    reply: { strip: stripConsents, restore: restoreConsents },
    settled: true,
    plan: (group, memory, context, input) => planConsent(group, known(memory), context, input),
  },
  consentFacts: {
    settled: true,
    plan: (group, memory, _context, input) => planConsentFacts(group, known(memory), input),
  },
  grantTuple: {
    reply: { strip: ({ created }) => ({ created }), restore: restoreTuple },
    plan: (group, memory, context, input) => planGrant(group, known(memory), context, input),
  },
  revokeTuple: {
    reply: { strip: ({ existed }) => ({ existed }), restore: restoreTuple },
    plan: (group, memory, context, input) => planRevoke(group, known(memory), context, input),
  },
  registerAgent: {
    reply: { isKept: ({ check, decided }) => check !== true && decided !== true, ofWhom: personOfIdentity },
    settled: true,
    plan: (group, memory, context, input) => planRegister(group, known(memory), context, input),
  },
  deactivateAgent: {
    reply: { ofWhom: personOfIdentity },
    settled: true,
    plan: (group, memory, context, input) => planDeactivate(group, known(memory), context, input),
  },
  /** Kept for a repeat: which turn it began. */
  beginTurn: {
    reply: {
      ofWhom: ({ turn }) => ({ user: turn?.userId, namespace: turn?.namespace }),
      strip: ({ sessionId }) => ({ sessionId }),
      restore: (kept) => ({ ...(kept as { readonly sessionId: string }), warnings: [] }), // as `strip` left it
    },
    plan: (group, memory, context, input) => planBeginTurn(group, known(memory), context, input),
  },
  resumeTurn: {
    reply: {
      ofWhom: ({ turn }) => ({ user: turn?.userId, namespace: turn?.namespace }),
      strip: ({ sessionId }) => ({ sessionId }),
      restore: (kept) => ({ ...(kept as { readonly sessionId: string }), warnings: [] }), // as `strip` left it
    },
    plan: (group, memory, context, input) => ({
      sessionId: input.sessionId,
      ...planChangeTurn(group, known(memory), context, input),
    }),
  },
  changeTurn: {
    reply: { isKept: () => false },
    plan: (group, memory, context, input) => planChangeTurn(group, known(memory), context, input),
  },
  /** Names the person whose grains these were, when the caller was narrowed to one. */
  note: {
    noteOnly: true,
    plan: (group, memory, context, { event, details: plain, texts = {}, userId = context.userId }) => {
      const opened = known(memory);
      // A person whose grains are in another partition gets a key here, so that an erasure covers what the trail says
      // of them.
      const elsewhere = userId !== undefined && Number(plain['count'] ?? 0) > 0 ? userId : undefined;
      if (elsewhere !== undefined && group.store.namedKeys.user(opened, elsewhere) === undefined)
        group.keyOfUser(opened, elsewhere);
      const details: Record<string, string | number | boolean> = { ...plain };
      for (const [name, text] of Object.entries(texts)) {
        const keyed = keyedText(group, opened, text, userId);
        if (keyed !== undefined) details[`${name}_hmac`] = keyed;
      }
      const subject = pseudonym(opened, userId);
      group.audit(opened, { event, actor: context.actor, subject, details, mark: NOTE_MARKS[event] });
      return {};
    },
  },
  /** A new version of the memory's blob key, for new grains without a user. */
  rotateKeys: {
    settled: true,
    plan: (group, memory, context) => {
      const opened = known(memory);
      const { store } = group;
      const { id } = store.keys.allocate('blob');
      group.keyAllocated();
      const renewed = { ...opened.keyIds, blob: id };
      writeSetting(group, opened.number, renewed, opened.sealedSettings, true);
      group.setState(oldBlobKeyState(opened.number, opened.keyIds.blob), Uint8Array.of(1));
      group.onPublish(() => {
        opened.keyIds = renewed;
      });
      const fingerprint = store.keys.fingerprint(id);
      group.audit(opened, {
        event: 'key.rotated',
        actor: context.actor,
        subject: '',
        details: { key_fingerprint: fingerprint },
      });
      return { rotated: 1, fingerprint };
    },
  },
};
