// The acts on turns: a message begins one, a resume continues it, a cancellation ends it. Each resolves to the turn and what the
// caller gets of it.
import { defined } from '../../../engine/base/defined.ts';
import { EngineError, type ErrorCode, isErrorCode } from '../../../engine/base/errors.ts';
import { TURN_PAUSE_MS } from '../../../engine/base/limits.ts';
import { dueEvent, isOver, pendingCalls, type Turn } from '../../../engine/turn/turn.ts';
import type { JsonValue } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { randomId } from '../../control/ids.ts';
import type { LanguageChoice } from '../../models/language.ts';
import { personsOf } from '../../models/persons.ts';
import { assembleContext } from '../assemble/assemble.ts';
import { grainsOf, type HarnessDefinition } from '../definition.ts';
import { readHarness, requireHarness } from '../store.ts';
import { endedFields, messageFields } from './grains.ts';
import { readHistory } from './history.ts';
import {
  type ClientTool,
  isDestructive,
  locationOf,
  OfferedTools,
  readClientTools,
  writeClientTools,
} from './offered.ts';
import { runTurn } from './run-turn.ts';
import { outputFault } from './tool-runs.ts';
import { readTranscript } from './transcript.ts';
import { recordTurn } from './turn-record.ts';
import { answerText, type InlineResult, inlineResults, type PendingCall, pendingOf } from './turn-result.ts';

/** A turn as its caller gets it. */
export interface TurnAnswer {
  readonly turn: Turn;
  readonly text: string;
  readonly pending: readonly PendingCall[];
  readonly inline: readonly InlineResult[];
  readonly recallId?: string | undefined;
}

export interface Message {
  readonly slug: string;
  readonly conversationId: string;
  readonly text: string;
  readonly userId?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly clientTools?: readonly ClientTool[] | undefined;
}

export interface ToolOutput {
  readonly toolCallId: string;
  readonly output?: JsonValue | undefined;
  readonly error?: string | undefined;
  readonly isError?: boolean | undefined;
}

/** Data that a turn needs besides its record. */
interface Setting {
  readonly harness: HarnessDefinition;
  readonly tools: OfferedTools;
  readonly choice: LanguageChoice;
}

const NAMESPACE_DEFAULT = 'default';

export function beginTurn(context: Context, message: Message): Promise<TurnAnswer> {
  return context.services.turns.within(() => begin(context, message));
}

async function begin(context: Context, message: Message): Promise<TurnAnswer> {
  const { slug, conversationId, provider, model } = message;
  const { turns } = context.services;
  const [, harness] = await Promise.all([
    requireHarness(context, slug, 'user'),
    readHarness(context, context.memory, slug),
  ]);
  const setting = await settingOf(context, harness, { provider, model }, message.clientTools ?? []);
  const stated = defined({
    sessionId: randomId('ses'),
    slug,
    conversationId,
    // A caller that is bound to another person is refused with the message.
    userId: message.userId ?? context.userId,
    namespace: context.namespace ?? NAMESPACE_DEFAULT,
    server: turns.server,
    provider,
    model,
    clientTools: writeClientTools(message.clientTools),
  });
  const begun = await context.call('beginTurn', { turn: stated, message: messageFields(stated, message.text) });
  context.warnings.push(...begun.warnings);
  if (begun.turn === undefined) return await again(context, setting, begun.sessionId);
  return await go(context, setting, begun.turn);
}

interface Resumed {
  readonly slug: string;
  readonly sessionId: string;
  readonly outputs: readonly ToolOutput[];
}

export function resumeTurn(context: Context, resumed: Resumed): Promise<TurnAnswer> {
  return context.services.turns.within(() => resume(context, resumed));
}

async function resume(context: Context, { slug, sessionId, outputs }: Resumed): Promise<TurnAnswer> {
  const [, harness, found] = await Promise.all([
    requireHarness(context, slug, 'user'),
    readHarness(context, context.memory, slug),
    findTurn(context, slug, sessionId),
  ]);
  const setting = await settingOf(context, harness, found, readClientTools(found.clientTools));
  const ended = outputs.map((given) => clientResult(setting.tools, found, given));
  const { turn, warnings } = await context.call('resumeTurn', {
    sessionId,
    conversationId: found.conversationId,
    event: {
      kind: 'resumed',
      server: context.services.turns.server,
      outputs: ended.map(({ failed }, at) => ({ callId: outputs[at]!.toolCallId, failed })),
    },
    outputs: ended.map((result) => endedFields(result, undefined, 'client')),
  });
  context.warnings.push(...warnings);
  if (turn === undefined) return await again(context, setting, sessionId);
  return await go(context, setting, turn);
}

export async function cancelTurn(context: Context, slug: string, sessionId: string): Promise<Turn> {
  await requireHarness(context, slug, 'user');
  const { conversationId } = await findTurn(context, slug, sessionId);
  const change = { sessionId, conversationId, event: { kind: 'cancelled' as const } };
  const { turn } = await context.call('changeTurn', change, { idempotency: undefined });
  context.services.turns.cancelled(sessionId);
  return turn;
}

/** The turn as it is now. HRN-E004 for a turn of another harness. */
export async function findTurn(context: Context, slug: string, sessionId: string): Promise<Turn> {
  const { turns, clock } = context.services;
  const read = async (): Promise<Turn> => {
    const { turn } = await context.call('turn', { sessionId });
    if (turn.slug === slug) return turn;
    throw new EngineError('HRN-E004', `the harness has no session ${sessionId}`);
  };
  const turn = await read();
  const isDue = dueEvent(turn, clock.nowMs(), turns.server, TURN_PAUSE_MS) !== undefined;
  if (!isDue && !turns.isUnended(sessionId)) return turn;
  // Its time has passed, or the start of the server has not come to it yet.
  await turns.settle(context.memory.number);
  return await read();
}

/** The view of a turn that a caller gets. */
export async function showTurn(context: Context, turn: Turn): Promise<TurnAnswer> {
  const transcript = await readTranscript(context, turn);
  const uris = await urisOf(context, turn);
  return {
    turn,
    text: answerText(transcript),
    pending: pendingOf(turn, transcript, (tool) => uris.get(tool)),
    inline: inlineResults(transcript),
  };
}

async function urisOf(context: Context, turn: Turn): Promise<ReadonlyMap<string, string>> {
  if (turn.status !== 'awaiting_client' || pendingCalls(turn).length === 0) return new Map();
  const { tools } = await readHarness(context, context.memory, turn.slug);
  return new Map(tools.map(({ toolName, executorUri }) => [toolName, executorUri]));
}

/** HRN-E003; LLM-E001 and LLM-E003 before anything is stored. */
async function settingOf(
  context: Context,
  harness: HarnessDefinition,
  { provider, model }: Pick<Turn, 'provider' | 'model'>,
  clientTools: readonly ClientTool[],
): Promise<Setting> {
  if (harness.goal === undefined)
    throw new EngineError('HRN-E003', `the harness ${harness.slug} has no goal: provision it with one`, {
      details: [{ field: 'goal', issue: 'missing' }],
    });
  const choice = context.services.models.resolve('chat', {
    provider: provider ?? harness.provider,
    // The harness's model is one of its own provider.
    model: model ?? (provider === undefined ? harness.model : undefined),
  });
  const isRisky = harness.tools.some((tool) => isDestructive(tool) && locationOf(tool.executorUri).kind !== 'client');
  const tools = new OfferedTools(harness.tools, clientTools, { overseen: isRisky && (await isOverseen(context)) });
  for (const name of tools.withheld)
    context.warnings.push(
      `the tool ${name} is not offered: it is destructive, and the policy requires a person to run such tools`,
    );
  return { harness, tools, choice };
}

/** The policy's `ai.oversight_required`: a person decides on what destroys. */
async function isOverseen(context: Context): Promise<boolean> {
  const { policy } = await context.call('policy', {});
  const rules = policy?.['rules'];
  return typeof rules === 'object' && rules !== null && !Array.isArray(rules) && ruleOf(rules) === true;
}

function ruleOf(rules: Readonly<Record<string, JsonValue>>): JsonValue | undefined {
  const ai = rules['ai'];
  return typeof ai === 'object' && ai !== null && !Array.isArray(ai) ? ai['oversight_required'] : undefined;
}

async function go(context: Context, setting: Setting, begun: Turn): Promise<TurnAnswer> {
  const { turns } = context.services;
  const shown = new Set<string>();
  const persons = personsOf([begun]);
  let query = '';
  const prepare = async () => {
    const { userId, conversationId: sessionId } = begun;
    const transcript = await readTranscript(context, begun);
    query = transcript.message ?? '';
    const [history, assembled] = await Promise.all([
      readHistory(context, begun),
      assembleContext(context, setting.harness, { sessionId, userId, query }),
    ]);
    context.warnings.push(...assembled.warnings);
    return { transcript, history, assembled };
  };
  const turn = await turns.run(begun.sessionId, (signal) =>
    runTurn({ ...setting, context, runners: turns.runners, prepare, signal, shown, persons }, begun),
  );
  if (turn.status === 'awaiting_client') turns.paused(context.memory.number, turn.expiresAtMs ?? 0);
  // The model was told the definition too. It comes last, since it says nothing of the message.
  const { harness, tools } = setting;
  const offered = harness.tools.filter(({ toolName }) => !tools.withheld.includes(toolName));
  for (const hash of grainsOf({ ...harness, tools: offered })) shown.add(hash);
  const [recallId, answer] = await Promise.all([
    recordTurn(context, turn, { choice: setting.choice, shown, query }),
    showTurn(context, turn),
  ]);
  return { ...answer, recallId };
}

/** The turn of a request that is repeated under its key. */
async function again(context: Context, setting: Setting, sessionId: string): Promise<TurnAnswer> {
  const { turns } = context.services;
  // The first request may still be at work on it.
  await turns.workOn(sessionId)?.catch(() => undefined);
  const turn = await findTurn(context, setting.harness.slug, sessionId);
  if (turn.status === 'failed') {
    const code: ErrorCode = isErrorCode(turn.failure) ? turn.failure : 'SYS-E001';
    throw new EngineError(
      code,
      'the turn that this request began has failed: send the message with another idempotency key',
    );
  }
  if (turn.interrupted !== true || pendingCalls(turn, 'client').length > 0 || isOver(turn))
    return await showTurn(context, turn);
  const { conversationId } = turn;
  const event = { kind: 'resumed' as const, server: turns.server, outputs: [] };
  const resumed = await context.call('changeTurn', { sessionId, conversationId, event }, { idempotency: undefined });
  return await go(context, setting, resumed.turn);
}

/** The result of the caller's own tool. */
function clientResult(tools: OfferedTools, turn: Turn, { toolCallId, output, error, isError }: ToolOutput) {
  const failed = isError ?? error !== undefined;
  if (failed) {
    const reason = error ?? 'the tool of the caller failed';
    return { output, failed, cause: 'executor_error' as const, reason };
  }
  const call = pendingCalls(turn).find(({ callId }) => callId === toolCallId);
  const schema = call === undefined ? undefined : tools.find(call.tool)?.outputSchema;
  const fault = schema === undefined ? undefined : outputFault(schema, output ?? null);
  if (fault === undefined) return { output, failed };
  return {
    output,
    failed: true,
    cause: 'schema_validation_failed' as const,
    reason: `the output of the tool is wrong: ${fault}`,
  };
}
