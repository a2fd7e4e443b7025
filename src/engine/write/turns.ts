// Plans the steps of a harness's turns. Each step is one transaction: the turn's record, the grains that belong to it, and
// the audit entry. So whatever a crash interrupts, the record names exactly the grains that are there.

import { unreachable } from '../base/assert.ts';
import { defined } from '../base/defined.ts';
import { EngineError } from '../base/errors.ts';
import { TURN_PAUSE_MS, TURNS_KEPT_MAX } from '../base/limits.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { NewTurn, TurnChange } from '../calls/turns.ts';
import { refuseAccess } from '../govern/decide.ts';
import type { AuditEvent } from '../govern/trail/audit.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import { supersedeFields } from '../grain/api/merge.ts';
import type { Memory } from '../store/memory.ts';
import { sequenceOf } from '../store/rules.ts';
import {
  type Conversation,
  hasOutlived,
  noTurn,
  openTurnState,
  openValue,
  ownedState,
  readTalk,
  refuseTurn,
  sealTurn,
  slugToken,
  talkAt,
  talkAtState,
  talkState,
  talkToken,
  talkValue,
  turnAt,
  turnState,
  turnToken,
} from '../store/turns.ts';
import {
  actionsOf,
  applyEvent,
  type Change,
  dueEvent,
  isOver,
  type Outcome,
  type Refusal,
  type Turn,
  type TurnEvent,
  withAction,
} from '../turn/turn.ts';
import { planAdd } from './add.ts';
import { allowWrite } from './decided.ts';
import { keepRule } from './govern.ts';
import type { Group } from './group.ts';
import { bindFields } from './narrow.ts';
import { type PreparedGrain, prepareGrain } from './prepare.ts';
import { auditedName, pseudonym } from './pseudonym.ts';
import { allowVersion, versionNamed } from './supersede.ts';

const NOTED = Uint8Array.of(1);
/** The reason of the change that ends a tool call, for policies that demand reasons. */
const CALL_ENDED = 'the call of the tool ended';

export function planBeginTurn(
  group: Group,
  memory: Memory,
  context: CallContext,
  { turn: stated, message }: MemoryCalls['beginTurn']['input'],
): MemoryCalls['beginTurn']['output'] {
  const prepared = preparedOf(group, memory, context, 'event', message);
  allowWrite(group, memory, context, prepared);
  const known = talkIn(group, memory, stated);
  const last = known?.turns.at(-1);
  const before = last === undefined ? undefined : turnIn(group, memory, last);
  const due =
    before === undefined || isOver(before) ? undefined : dueEvent(before, group.nowMs, stated.server, TURN_PAUSE_MS);
  if (before !== undefined && !isOver(before) && due?.kind !== 'expired') throw busy(before, due);
  if (before !== undefined && due !== undefined) endDue(group, memory, context, before, due);
  const added = planAdd(group, memory, context, prepared);
  const turn: Turn = defined({
    ...stated,
    status: 'running' as const,
    version: 1,
    iteration: 0,
    userEvent: added.hash,
    steps: [],
    createdAtMs: group.nowMs,
    updatedAtMs: group.nowMs,
  });
  keepTurn(group, memory, turn);
  // A conversation that has expired begins anew.
  keepTalk(group, memory, known !== undefined && hasOutlived(memory, known, group.nowMs) ? undefined : known, turn);
  return { sessionId: turn.sessionId, turn, warnings: added.warnings };
}

export function planChangeTurn(
  group: Group,
  memory: Memory,
  context: CallContext,
  change: TurnChange,
): MemoryCalls['changeTurn']['output'] {
  const turn = turnFor(group, memory, context, change.sessionId);
  if (change.version !== undefined && change.version !== turn.version)
    throw new EngineError('HRN-E005', `the turn has changed: it is ${turn.status}`);
  const { event } = change;
  const applied = accepted(applyEvent(turn, event, group.nowMs));
  // Everything is decided before anything is written.
  const said = change.said === undefined ? undefined : allowed(group, memory, context, 'event', change.said);
  const answer = change.answer === undefined ? undefined : allowed(group, memory, context, 'event', change.answer);
  const actions = change.actions?.map((fields) => allowed(group, memory, context, 'action', fields)) ?? [];
  const ended = endings(group, memory, context, applied.outcomes, change.outputs);
  const warnings: string[] = [];
  const add = (prepared: PreparedGrain): string => {
    const done = planAdd(group, memory, context, prepared);
    warnings.push(...done.warnings);
    return done.hash;
  };
  const written = {
    said: said === undefined ? undefined : add(said),
    answer: answer === undefined ? undefined : add(answer),
    actions: actions.map(add),
  };
  let next = accepted(applyEvent(turn, event, group.nowMs, written)).turn;
  for (const { action, write } of ended) next = withAction(next, action, write());
  keepTurn(group, memory, next);
  noteTurn(group, memory, context, next, event);
  return { turn: next, warnings };
}

/** Ends a turn whose time has passed, or interrupts one that another run of the server left. Nothing refuses it. */
export function planSettleTurn(
  group: Group,
  memory: Memory,
  context: CallContext,
  { token, server }: { readonly token: string; readonly server: string },
): { readonly settled: boolean } {
  const known = group.peek(memory)?.turns.get(turnState(memory, token)) ?? turnAt(group.store.log, memory, token);
  const event = known === undefined ? undefined : dueEvent(known, group.nowMs, server, TURN_PAUSE_MS);
  if (known === undefined) group.setState(openTurnState(memory, token), null);
  if (known === undefined || event === undefined) return { settled: false };
  endDue(group, memory, context, known, event);
  return { settled: true };
}

/** HRN-E004 for a turn that is not there or that the caller does not see. */
function turnFor(group: Group, memory: Memory, context: CallContext, sessionId: string): Turn {
  const turn = turnIn(group, memory, sessionId);
  if (turn === undefined) throw noTurn(sessionId);
  const denied = refuseAccess(memory.governed, context, 'editor', turn.namespace);
  const refusal = denied ?? refuseTurn(memory, context, turn, group.nowMs);
  if (refusal !== undefined) throw refusal;
  return turn;
}

/** The turn as it is after this group. */
function turnIn(group: Group, memory: Memory, sessionId: string): Turn | undefined {
  const token = turnToken(memory, sessionId);
  return group.peek(memory)?.turns.get(turnState(memory, token)) ?? turnAt(group.store.log, memory, token);
}

function talkIn(group: Group, memory: Memory, stated: NewTurn): Conversation | undefined {
  const state = talkStateOf(memory, stated);
  return group.peek(memory)?.talks.get(state) ?? talkAt(group.store.log, memory, state);
}

function talkStateOf(memory: Memory, of: Pick<Turn, 'slug' | 'conversationId' | 'namespace' | 'userId'>): string {
  return talkState(memory, slugToken(memory, of.slug), talkToken(memory, of));
}

function busy(turn: Turn, due: TurnEvent | undefined): EngineError {
  const isPaused = due !== undefined || turn.status === 'awaiting_client';
  const how = isPaused ? 'waits to be resumed or cancelled' : 'is under way';
  return new EngineError('HRN-E010', `the turn ${turn.sessionId} of this conversation ${how}`, {
    details: [{ field: 'session_id', issue: turn.sessionId }],
  });
}

function accepted(change: Change | Refusal): Change {
  if (!('refused' in change)) return change;
  throw new EngineError(change.refused === 'outputs' ? 'HRN-E006' : 'HRN-E005', change.reason);
}

function preparedOf(
  group: Group,
  memory: Memory,
  context: CallContext,
  grainType: string,
  fields: JsonObject,
): PreparedGrain {
  return prepareGrain(memory, grainType, bindFields(context, fields), group.nowMs, context.purpose);
}

/** A grain that may be written. */
function allowed(
  group: Group,
  memory: Memory,
  context: CallContext,
  grainType: string,
  fields: JsonObject,
): PreparedGrain {
  const prepared = preparedOf(group, memory, context, grainType, fields);
  allowWrite(group, memory, context, prepared);
  return prepared;
}

interface Ending {
  readonly action: string;
  readonly write: () => string;
}

/**
 * The new versions of the actions that end. An output that may not be stored refuses the step. A call that the turn
 * itself ends must end: an action that may not be replaced is left as it is, and so is one that was forgotten.
 */
function endings(
  group: Group,
  memory: Memory,
  context: CallContext,
  outcomes: readonly Outcome[],
  outputs: readonly JsonObject[] | undefined,
): Ending[] {
  const isNeeded = memory.governed.rules['supersede.reason_required'] && (context.reason ?? '') === '';
  const reasoned = isNeeded ? { ...context, reason: CALL_ENDED } : context;
  return outcomes.flatMap((outcome, at): Ending[] => {
    const stated = outcome.cause === undefined ? (outputs?.[at] ?? {}) : failureFields(outcome);
    try {
      const old = versionNamed(group, memory, reasoned, outcome.action);
      const { fields } = supersedeFields(old.grain, stated, undefined);
      const by = outcome.by === 'host' ? ('server' as const) : undefined;
      const next = { fields, stated, by, event: 'memory.corrected' as const };
      const write = allowVersion(group, memory, reasoned, old, next);
      return [{ action: outcome.action, write: () => write().hash }];
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (/^MEM-/.test(error.code) || (outcome.cause !== undefined && /^(POL|AUT|SCP|AGT)-/.test(error.code)))
        return [];
      throw error;
    }
  });
}

function failureFields({ cause, detail, by }: Outcome): JsonObject {
  return defined({
    status: 'failed',
    is_error: true,
    error: detail,
    failure_cause: cause,
    failure_detail: detail,
    actor_execution_environment: by === 'host' ? 'server_side_host' : 'client_side_unattested',
  });
}

function endDue(group: Group, memory: Memory, context: CallContext, turn: Turn, event: TurnEvent): void {
  const { turn: changed, outcomes } = accepted(applyEvent(turn, event, group.nowMs));
  let next = changed;
  for (const { action, write } of endings(group, memory, context, outcomes, undefined))
    next = withAction(next, action, write());
  keepTurn(group, memory, next);
  noteTurn(group, memory, context, next, event);
}

function keysOf(group: Group, memory: Memory, { userId, namespace }: Pick<Turn, 'userId' | 'namespace'>) {
  const user = userId === undefined ? 0 : group.keyOfUser(memory, userId);
  return { user, scope: group.keyOfScope(memory, namespace) };
}

/** Replaces the record of a turn. */
function keepTurn(group: Group, memory: Memory, turn: Turn): void {
  const token = turnToken(memory, turn.sessionId);
  const state = turnState(memory, token);
  const overlay = group.overlay(memory);
  const committed = group.store.log.getState(state);
  // A record of this group cannot be removed with it; it becomes history.
  if (committed !== undefined && !overlay.turns.has(state)) group.removeValues([sequenceOf(committed)]);
  const keys = keysOf(group, memory, turn);
  group.setState(state, keepRule(group, memory, 'turn', keys.user, sealTurn(memory, 'turn', keys, turn)));
  group.setState(
    openTurnState(memory, token),
    isOver(turn) ? null : openValue(turn.status === 'running' ? 0 : (turn.expiresAtMs ?? 0), turn.server),
  );
  group.setState(`${ownedState(memory, turn)}t${token}`, NOTED);
  overlay.turns.set(state, turn);
}

/** Notes a new turn of a conversation, and drops the record of one that is too old to be kept. */
function keepTalk(group: Group, memory: Memory, known: Conversation | undefined, turn: Turn): void {
  const { conversationId, slug, userId, namespace } = turn;
  const turns = [...(known?.turns ?? []), turn.sessionId];
  const dropped = turns.length > TURNS_KEPT_MAX ? turns.shift() : undefined;
  const talk: Conversation = defined({
    conversationId,
    slug,
    userId,
    namespace,
    turnCount: (known?.turnCount ?? 0) + 1,
    firstEvent: known?.firstEvent ?? turn.userEvent,
    createdAtMs: known?.createdAtMs ?? turn.createdAtMs,
    updatedAtMs: turn.createdAtMs,
    turns,
  });
  const slugged = slugToken(memory, slug);
  const token = talkToken(memory, turn);
  const state = talkState(memory, slugged, token);
  const overlay = group.overlay(memory);
  const committed = group.store.log.getState(state);
  if (committed !== undefined && !overlay.talks.has(state)) {
    const { sequence, updatedAtMs } = readTalk(committed);
    group.removeValues([sequence]);
    group.setState(talkAtState(memory, slugged, updatedAtMs, token), null);
  }
  const planned = overlay.talks.get(state);
  if (planned !== undefined) group.setState(talkAtState(memory, slugged, planned.updatedAtMs, token), null);
  const keys = keysOf(group, memory, turn);
  const kept = keepRule(group, memory, 'conversation', keys.user, sealTurn(memory, 'conversation', keys, talk));
  group.setState(state, talkValue(sequenceOf(kept), talk.updatedAtMs));
  group.setState(talkAtState(memory, slugged, talk.updatedAtMs, token), NOTED);
  group.setState(`${ownedState(memory, turn)}c${slugged}.${token}`, NOTED);
  overlay.talks.set(state, talk);
  if (dropped !== undefined) dropTurn(group, memory, turnToken(memory, dropped), turn);
}

function dropTurn(group: Group, memory: Memory, token: string, of: Turn): void {
  const state = turnState(memory, token);
  const committed = group.store.log.getState(state);
  if (committed !== undefined && group.peek(memory)?.turns.has(state) !== true)
    group.removeValues([sequenceOf(committed)]);
  group.setState(state, null);
  group.setState(`${ownedState(memory, of)}t${token}`, null);
}

/** The entry of a change in the trail; most steps have those of their grains. */
function noteTurn(group: Group, memory: Memory, context: CallContext, turn: Turn, event: TurnEvent): void {
  const name = auditEventOf(event);
  if (name === undefined) return;
  group.audit(memory, {
    event: name,
    actor: context.actor,
    subject: pseudonym(memory, turn.userId),
    details: defined({
      harness: auditedName(memory, `harness:${turn.slug}`),
      status: turn.status,
      iterations: turn.iteration,
      actions: actionsOf(turn).length,
      code: turn.failure,
      interrupted: event.kind === 'interrupted' ? true : undefined,
    }),
  });
}

function auditEventOf(event: TurnEvent): AuditEvent | undefined {
  switch (event.kind) {
    case 'completed':
    case 'failed':
    case 'expired':
      return 'harness.turn';
    case 'paused':
    case 'interrupted':
      return 'harness.paused';
    case 'resumed':
      return 'harness.resumed';
    case 'cancelled':
      return 'harness.cancelled';
    case 'answered':
    case 'resolved':
      return undefined;
    default:
      return unreachable(event);
  }
}
