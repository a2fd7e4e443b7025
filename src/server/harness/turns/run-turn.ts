// Runs a turn until it ends or awaits its caller. Each step is on disk before the next one begins (decision 120), so this
// code may stop anywhere: what it held in memory is not needed again.
import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { TURN_CALLS_AT_ONCE_MAX, TURN_CALLS_MAX, TURN_PAUSE_MS } from '../../../engine/base/limits.ts';
import type { TurnChange } from '../../../engine/calls/turns.ts';
import { isOver, type NewCall, pendingCalls, type ToolCall, type Turn } from '../../../engine/turn/turn.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import type { ToolRunners } from '../../executors/runners.ts';
import type { LanguageChoice } from '../../models/language.ts';
import { type Persons, personsOf, sourceFields } from '../../models/persons.ts';
import type { FinishReason, ModelMessage, TokenUsage } from '../../models/request.ts';
import { checkArguments } from '../arguments/check.ts';
import type { HarnessDefinition } from '../definition.ts';
import { instructionsOf } from '../instructions.ts';
import { DataMarks } from './data-marks.ts';
import { actionFields, answerFields, endedFields, saidFields } from './grains.ts';
import type { History } from './history.ts';
import { isRepeatable, locationOf, type OfferedTools, runsConcurrently } from './offered.ts';
import { type CallResult, isPolicyRefusal, runCall } from './tool-runs.ts';
import { argumentsOf, messagesOf, readTranscript, type Transcript } from './transcript.ts';

/** The context of a turn, as the harness's query assembles it. */
export interface Assembled {
  readonly text: string;
  /** Hashes of the grains in it. */
  readonly shown: readonly string[];
  readonly persons: Persons;
}

export interface Prepared {
  /** The turn as it was when it was prepared. */
  readonly transcript: Transcript;
  readonly assembled: Assembled;
  readonly history: History;
}

export interface TurnJob {
  readonly context: Context;
  readonly harness: HarnessDefinition;
  readonly tools: OfferedTools;
  readonly choice: LanguageChoice;
  readonly runners: ToolRunners;
  /** Reads what the model is shown besides the turn itself: what was said before, and what the memory holds. */
  readonly prepare: () => Promise<Prepared>;
  /** Ends the work: the turn was cancelled, its time is spent, or the server shuts down. */
  readonly signal: AbortSignal;
  /** Collects the hashes of the grains that the model is shown. */
  readonly shown: Set<string>;
  /** Collects the persons whose texts the model is shown. */
  readonly persons: Set<string | undefined>;
}

/** The turn when it has ended or awaits its caller. Throws what keeps it from going on; the turn has then failed. */
export async function runTurn(job: TurnJob, begun: Turn): Promise<Turn> {
  const run = new TurnRun(job, begun);
  try {
    return await run.toEnd();
  } catch (error) {
    return await run.failed(error);
  }
}

interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly AskedCall[];
  readonly reason: FinishReason;
  readonly usage: TokenUsage | undefined;
}

/** A call that a model asked for. */
interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
  /** Why it cannot be run; undefined if it can. */
  readonly fault?: string | undefined;
}

const NOTHING_PREPARED: Prepared = {
  transcript: { message: undefined, steps: [], answer: undefined },
  assembled: { text: '', shown: [], persons: new Set() },
  history: { messages: [], shown: [], persons: new Set() },
};

class TurnRun {
  readonly #job: TurnJob;
  readonly #marks = new DataMarks();
  /** By id: arguments as the model sent them, of which the action may hold a redacted form; and why a call cannot be run. */
  readonly #asked = new Map<string, AskedCall>();
  #turn: Turn;
  #prepared: Prepared = NOTHING_PREPARED;

  constructor(job: TurnJob, turn: Turn) {
    this.#job = job;
    this.#turn = turn;
  }

  async toEnd(): Promise<Turn> {
    const { signal, harness, prepare, shown } = this.#job;
    const { version } = this.#turn;
    this.#prepared = await prepare();
    const { history, assembled } = this.#prepared;
    for (const hash of [...history.shown, ...assembled.shown]) shown.add(hash);
    this.#showPersons([...history.persons, ...assembled.persons]);
    for (;;) {
      for (const calls of this.#batches(pendingCalls(this.#turn, 'host'))) await this.#runPending(calls);
      if (pendingCalls(this.#turn, 'client').length > 0) return await this.#pause();
      signal.throwIfAborted();
      if (this.#turn.iteration >= harness.maxIterations)
        throw new EngineError('HRN-E007', `the model was asked ${harness.maxIterations} times and gave no answer`);
      const isAsPrepared = this.#turn.version === version;
      const answer = await this.#ask(isAsPrepared ? this.#prepared.transcript : undefined);
      if (answer.calls.length === 0) return await this.#complete(answer);
      await this.#take(answer);
    }
  }

  /** The turn after an error, if it is over; else the error, with the turn failed. */
  async failed(error: unknown): Promise<Turn> {
    const { signal, context } = this.#job;
    const reason = signal.aborted ? signal.reason : error;
    const isOwn = reason instanceof EngineError;
    // Another request has changed the turn, such as a cancellation.
    if (isOwn && (reason.code === 'HRN-E005' || reason.code === 'HRN-E010')) {
      const { turn } = await context.call('turn', { sessionId: this.#turn.sessionId });
      if (isOver(turn)) return turn;
    }
    // A server that shuts down leaves the turn as it is: the next one finds it interrupted.
    if (!(isOwn && reason.code === 'SYS-E005' && signal.aborted)) {
      const event = { kind: 'failed' as const, code: isOwn ? reason.code : ('SYS-E001' as const) };
      const { sessionId, conversationId } = this.#turn;
      await this.#change(event).catch(() => {
        // Such as a disk that refuses every write. The turn must not stay under way.
        context.services.turns.unended(context.memory.number, { sessionId, conversationId, event });
      });
    }
    throw reason;
  }

  async #change(event: TurnChange['event'], more: Partial<TurnChange> = {}): Promise<void> {
    const { sessionId, conversationId, version } = this.#turn;
    const change = { sessionId, conversationId, version, event, ...more };
    // The request's key is that of the turn as a whole.
    this.#turn = (await this.#job.context.call('changeTurn', change, { idempotency: undefined })).turn;
  }

  /** Calls that run at the same time, in the order of the model; a call that runs alone waits for those before it. */
  #batches(calls: readonly ToolCall[]): readonly ToolCall[][] {
    const batches: ToolCall[][] = [];
    let isOpen = false;
    for (const call of calls) {
      const tool = this.#job.tools.find(call.tool);
      const isConcurrent = tool !== undefined && runsConcurrently(tool);
      const last = batches.at(-1);
      if (isOpen && isConcurrent && last !== undefined && last.length < TURN_CALLS_AT_ONCE_MAX) last.push(call);
      else batches.push([call]);
      isOpen = isConcurrent;
    }
    return batches;
  }

  /** Runs tools of the server whose actions are pending on disk. Their results are written in the order of the calls. */
  async #runPending(calls: readonly ToolCall[]): Promise<void> {
    this.#job.signal.throwIfAborted();
    const running = calls.map((call) => this.#timed(call));
    try {
      for (const [at, call] of calls.entries()) await this.#end(call, await running[at]!);
    } finally {
      await Promise.allSettled(running);
    }
  }

  async #timed(call: ToolCall): Promise<{ readonly result: CallResult; readonly durationMs: number }> {
    const startedMs = performance.now();
    const result = await this.#result(call);
    return { result, durationMs: Math.round(performance.now() - startedMs) };
  }

  async #end(
    call: ToolCall,
    { result, durationMs }: { readonly result: CallResult; readonly durationMs: number },
  ): Promise<void> {
    const { signal, context } = this.#job;
    // The turn's own end says more than a tool that it cut off. Its action stays pending: the end of the turn settles it.
    signal.throwIfAborted();
    for (const hash of result.shown) this.#job.shown.add(hash);
    this.#showPersons(result.persons ?? []);
    const resolved = { kind: 'resolved' as const, callId: call.callId };
    try {
      const ended = { ...endedFields(result, durationMs), ...sourceFields(this.#job.persons, this.#turn.userId) };
      await this.#change({ ...resolved, failed: result.failed }, { outputs: [ended] });
    } catch (error) {
      if (!isPolicyRefusal(error)) throw error;
      // The tool has run: its end must be on disk, without what may not be stored.
      const reason = `the output of the tool may not be stored (${error.code})`;
      context.warnings.push(`${call.tool}: ${reason}`);
      const withheld: CallResult = { failed: true, cause: 'executor_error', reason, shown: [] };
      await this.#change({ ...resolved, failed: true }, { outputs: [endedFields(withheld, durationMs)] });
    }
  }

  #showPersons(persons: Iterable<string | undefined>): void {
    for (const person of persons) this.#job.persons.add(person);
  }

  async #result(call: ToolCall): Promise<CallResult> {
    const { context, runners, signal } = this.#job;
    const known = this.#asked.get(call.callId);
    const asked = known ?? this.#checked(call.callId, call.tool, await this.#storedArguments(call));
    const tool = this.#job.tools.find(call.tool);
    if (asked.fault !== undefined || tool === undefined)
      return {
        failed: true,
        cause: 'schema_validation_failed',
        reason: asked.fault ?? 'there is no such tool',
        shown: [],
      };
    const { sessionId, conversationId, userId } = this.#turn;
    return await runCall(
      runners,
      { key: `${sessionId}/${call.callId}`, tool, arguments: asked.arguments },
      { context, userId, conversationId, persons: this.#job.persons, signal },
    );
  }

  /** After a restart the arguments are those of the action. */
  async #storedArguments({ callId }: ToolCall): Promise<JsonObject> {
    const { steps } = await readTranscript(this.#job.context, this.#turn);
    const call = steps.at(-1)?.calls.find((one) => one.callId === callId);
    return call === undefined ? {} : argumentsOf(call);
  }

  async #pause(): Promise<Turn> {
    await this.#change({ kind: 'paused', untilMs: this.#job.context.services.clock.nowMs() + TURN_PAUSE_MS });
    return this.#turn;
  }

  /** `known`: what the turn has said and done, if it has been read. */
  async #ask(known: Transcript | undefined): Promise<ModelAnswer> {
    const { context, choice, tools, signal } = this.#job;
    const transcript = known ?? (await readTranscript(context, this.#turn));
    const calls: AskedCall[] = [];
    let text = '';
    let reason: FinishReason = 'other';
    let usage: TokenUsage | undefined;
    const request = defined({
      memory: context.memory,
      persons: this.#job.persons,
      system: this.#system(),
      messages: this.#messages(transcript),
      tools: tools.size === 0 ? undefined : tools.forModel(),
      signal,
    });
    for await (const part of context.services.models.stream(choice, request))
      switch (part.type) {
        case 'text':
          text += part.delta;
          break;
        case 'tool_call':
          calls.push(this.#checked(part.id, part.name, part.arguments as JsonObject)); // parsed from JSON
          break;
        case 'invalid_tool_call':
          calls.push({ id: part.id, name: part.name, arguments: {}, fault: part.reason });
          break;
        case 'finish':
          reason = part.reason;
          usage = part.usage;
          break;
      }
    return { text, calls, reason, usage };
  }

  #checked(id: string, name: string, args: JsonObject): AskedCall {
    const tool = this.#job.tools.find(name);
    if (tool === undefined) return { id, name, arguments: args, fault: 'there is no such tool' };
    const checked = checkArguments(tool, args);
    if (checked.ok) return { id, name, arguments: checked.arguments };
    const faults = checked.faults.map(({ path, issue }) => `${path === '' ? 'the arguments' : path} ${issue}`);
    return { id, name, arguments: args, fault: `the arguments do not fit: ${faults.join('; ')}` };
  }

  #system(): string {
    const { harness, tools } = this.#job;
    const { assembled } = this.#prepared;
    const hasData = assembled.text !== '' || tools.size > 0;
    return [
      instructionsOf(harness),
      hasData ? this.#marks.rule : '',
      assembled.text === '' ? '' : `What the memory holds on this:\n${this.#marks.around(assembled.text)}`,
    ]
      .filter((part) => part !== '')
      .join('\n\n');
  }

  #messages(transcript: Transcript): readonly ModelMessage[] {
    const { shown } = this.#job;
    if (transcript.message === undefined)
      throw new EngineError('MEM-E001', 'the message of the turn was removed from the memory');
    shown.add(this.#turn.userEvent);
    for (const { calls } of transcript.steps)
      for (const { action, grain } of calls) {
        shown.add(action);
        // Grains shown before a pause, or by another run of the server.
        if (grain !== undefined) this.#showPersons(personsOf([grain]));
      }
    return [
      ...this.#prepared.history.messages,
      { role: 'user', text: transcript.message },
      ...messagesOf(transcript, this.#marks),
    ];
  }

  /** Writes the actions of an answer that asks for tools. */
  async #take({ text, calls, reason, usage }: ModelAnswer): Promise<void> {
    if (calls.length > TURN_CALLS_MAX)
      throw new EngineError(
        'LLM-E002',
        `the model called ${calls.length} tools at once; the limit is ${TURN_CALLS_MAX}`,
      );
    const { choice, persons } = this.#job;
    const nowMs = this.#job.context.services.clock.nowMs();
    const ids = uniqueIds(calls, this.#turn);
    const asked = calls.map((call, at) => ({ ...call, id: ids[at]! }));
    const news = asked.map((call): NewCall => {
      const tool = call.fault === undefined ? this.#job.tools.find(call.name) : undefined;
      const isClient = tool !== undefined && locationOf(tool.executorUri).kind === 'client';
      return {
        callId: call.id,
        tool: tool?.toolName ?? toolNameOf(call.name),
        by: isClient ? 'client' : 'host',
        // A call that is not run may be found wrong again.
        repeatable: tool === undefined || isRepeatable(tool),
      };
    });
    for (const call of asked) this.#asked.set(call.id, call);
    const said =
      text.trim() === '' ? undefined : saidFields(this.#turn, text, { persons, model: choice.model, reason, usage });
    await this.#change(
      { kind: 'answered', calls: news },
      defined({
        said,
        actions: news.map((call, at) =>
          actionFields(this.#turn, call, {
            input: asked[at]!.arguments,
            persons,
            expiresAtMs: call.by === 'client' ? nowMs + TURN_PAUSE_MS : undefined,
          }),
        ),
      }),
    );
  }

  async #complete({ text, reason, usage }: ModelAnswer): Promise<Turn> {
    const { choice, persons } = this.#job;
    if (text.trim() === '') throw new EngineError('LLM-E002', `the provider ${choice.provider} gave an empty answer`);
    const answer = answerFields(this.#turn, text, { persons, model: choice.model, reason, usage });
    await this.#change({ kind: 'completed' }, { answer });
    return this.#turn;
  }
}

const ID = /^[A-Za-z0-9_-]{1,64}$/;
const TOOL_NAME_CHARS_MAX = 64;

/** Ids of calls as the model gave them, if they are usable and no other call of the turn has them. */
function uniqueIds(calls: readonly { readonly id: string }[], turn: Turn): string[] {
  const taken = new Set(turn.steps.flatMap((step) => step.calls.map(({ callId }) => callId)));
  return calls.map(({ id }, at) => {
    let unique = ID.test(id) && !taken.has(id) ? id : `call_${turn.iteration + 1}_${at + 1}`;
    while (taken.has(unique)) unique = `${unique}_`;
    taken.add(unique);
    return unique;
  });
}

/** A model may invent a name of any form. */
function toolNameOf(name: string): string {
  return name.replace(/[^\w.-]/g, '_').slice(0, TOOL_NAME_CHARS_MAX) || 'unknown';
}
