// One turn of a chat: recall, the model's answers, the calls of tools between them, and what is kept of it. It is a
// generator of events, so the model is read no faster than the client takes them.
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  CHAT_ANSWER_CHARS_MAX,
  CHAT_RECALL_LIMIT,
  CHAT_STEPS_MAX,
  MODEL_QUESTION_CHARS_MAX,
} from '../../engine/base/limits.ts';
import { toNfc } from '../../engine/base/nfc.ts';
import type { JsonObject } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import type { Person } from '../imports/holds.ts';
import type { LanguageChoice } from '../models/language.ts';
import { type Persons, personsOf } from '../models/persons.ts';
import type { FinishReason, ModelMessage, ModelPart, ModelTool } from '../models/request.ts';
import { BUILTIN_TOOLS } from '../tools/builtin.ts';
import { grainForModel } from '../tools/grain.ts';
import { recallFor } from '../tools/recall-for.ts';
import { TEXTS_ERASED } from './chats.ts';
import type { ChatEvent } from './event.ts';
import { keepAnswer, keepRecord, noteTurn } from './kept.ts';
import { historyOf, type Said, type StoredMessage } from './messages.ts';
import type { Pace } from './pace.ts';
import type { Place } from './place.ts';
import { DataBlocks, systemPrompt } from './prompt.ts';
import { type RunCall, ToolCalls } from './tool-calls.ts';

export interface TurnAsked {
  readonly context: Context;
  readonly place: Place;
  readonly choice: LanguageChoice;
  readonly said: readonly Said[];
  /** The events that the request's messages became; empty without a thread. */
  readonly stored: readonly StoredMessage[];
  readonly contextLimit: number;
  readonly toolsEnabled: boolean;
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
  /** Throws when the caller may not go on. */
  readonly check: () => void;
}

const TOOLS: readonly ModelTool[] = BUILTIN_TOOLS.map(({ name, description, inputSchema }) => ({
  name,
  description,
  inputSchema,
}));

export class Turn {
  readonly #asked: TurnAsked;
  readonly #blocks = new DataBlocks();
  readonly #tools: ToolCalls;
  /** Hashes of the grains that the model was shown, in the order in which it saw them first. */
  readonly #shown = new Set<string>();
  /** The persons whose texts the model was shown. */
  readonly #persons: Set<string | undefined>;
  readonly #calls: RunCall[] = [];
  #text = '';
  #steps = 0;
  #isNoted = false;
  #isErased = false;
  #usage: { input_tokens: number; output_tokens: number } | undefined;

  constructor(asked: TurnAsked) {
    this.#asked = asked;
    this.#persons = personsOf([asked.place]);
    this.#tools = new ToolCalls(asked.context, asked.place, {
      parent: asked.stored.at(-1)?.hash,
      persons: this.#persons,
    });
  }

  /** Ends with `done`. Throws what ended it before: EngineError, or the signal's reason. */
  async *events(signal: AbortSignal): AsyncGenerator<ChatEvent, void, void> {
    try {
      yield { event: 'progress', data: { stage: 'recall', detail: 'memory and history' } };
      await this.#pace.step();
      const { system, messages } = await this.#begun();
      const finish = yield* this.#answered(system, messages, signal);
      await this.#pace.step();
      this.#checkErased();
      yield { event: 'done', data: await this.#done(finish) };
    } catch (error) {
      await this.#note(error instanceof EngineError ? error.code : signal.aborted ? 'gone' : 'SYS-E001').catch(
        () => undefined,
      );
      throw error;
    } finally {
      // A reader that stops, because its client took no more, ends the generator without an error.
      if (!this.#isNoted) await this.#note('gone').catch(() => undefined);
    }
  }

  /** True for a person or a scope whose texts the model may have been shown: the turn then keeps nothing more. */
  erased({ memory, userId, isWithin }: Person): boolean {
    const { context, place } = this.#asked;
    const persons = [...this.#persons].flatMap((person) => (person === undefined ? [] : [toNfc(person)]));
    const isAbout =
      userId === undefined
        ? isWithin !== undefined && (place.namespace === undefined || isWithin(toNfc(place.namespace)))
        : persons.includes(toNfc(userId));
    if (memory === context.memory.number && isAbout) this.#isErased = true;
    return this.#isErased;
  }

  #checkErased(): void {
    if (this.#isErased) throw new EngineError('MEM-E001', TEXTS_ERASED);
  }

  async #begun(): Promise<{ readonly system: string; readonly messages: ModelMessage[] }> {
    const { context, place, said, stored, contextLimit, toolsEnabled } = this.#asked;
    const question = said.at(-1)?.content.slice(0, MODEL_QUESTION_CHARS_MAX).toWellFormed() ?? '';
    const caller = {
      context: { ...context, call: this.#call, memory: context.memory, deadlineMs: place.deadlineMs },
      namespace: place.namespace,
      userId: place.userId,
    };
    const [recalled, history] = await Promise.all([
      // The thread's own messages are in the history.
      recallFor(
        caller,
        { query: question, limit: CHAT_RECALL_LIMIT },
        place.threadId === undefined ? [] : [{ sessionId: place.threadId }],
      ),
      historyOf({ call: this.#call }, place, { before: stored[0], limit: contextLimit }),
    ]);
    const grains = [...recalled.hits, ...history].map(({ grain }) => grain);
    this.#show(
      [...grains, ...stored].map(({ hash }) => hash),
      personsOf(grains),
    );
    const system = systemPrompt(this.#blocks, {
      own: said.filter(({ role }) => role === 'system').map(({ content }) => content),
      recalled: recalled.hits.map(({ grain }) => grainForModel(grain)),
      hasTools: toolsEnabled,
    });
    const own = said.flatMap(({ role, content }): ModelMessage[] =>
      role === 'system' ? [] : [{ role, text: content }],
    );
    return { system, messages: [...history.map(({ message }) => message), ...own] };
  }

  get #pace(): Pace {
    return this.#asked.context.services.chats.pace;
  }

  /** Calls of the turn outlive the request's own deadline. */
  readonly #call: Context['call'] = (method, input, extras = {}) =>
    this.#asked.context.call(method, input, { deadlineMs: this.#asked.place.deadlineMs, ...extras });

  #show(hashes: readonly string[], persons: Persons): void {
    for (const hash of hashes) this.#shown.add(hash);
    for (const person of persons) this.#persons.add(person);
  }

  /** The last step has no tools, so that it must end with an answer. */
  async *#answered(
    system: string,
    messages: ModelMessage[],
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, FinishReason, void> {
    const { context, choice, toolsEnabled, temperature, maxTokens, check } = this.#asked;
    for (this.#steps = 1; ; this.#steps++) {
      check();
      const hasTools = toolsEnabled && this.#steps < CHAT_STEPS_MAX;
      yield { event: 'progress', data: { stage: 'generate', detail: choice.model } };
      const called: Extract<ModelPart, { readonly type: 'tool_call' | 'invalid_tool_call' }>[] = [];
      let said = '';
      let reason: FinishReason = 'other';
      await this.#pace.step();
      const parts = context.services.models.stream(choice, {
        memory: context.memory,
        persons: this.#persons,
        system,
        messages,
        tools: hasTools ? TOOLS : undefined,
        temperature,
        maxTokens,
        signal,
      });
      for await (const part of parts) {
        if (part.type === 'text') {
          const room = CHAT_ANSWER_CHARS_MAX - this.#text.length;
          const delta = part.delta.length > room ? part.delta.slice(0, room).toWellFormed() : part.delta;
          said += delta;
          this.#text += delta;
          yield { event: 'text', data: { delta } };
          if (part.delta.length > room) return 'length';
        } else if (part.type === 'finish') {
          ({ reason } = part);
          this.#count(part.usage);
        } else called.push(part);
      }
      if (!hasTools || called.length === 0) return reason;
      yield* this.#ran(called, { said, messages, signal });
    }
  }

  async *#ran(
    called: readonly Extract<ModelPart, { readonly type: 'tool_call' | 'invalid_tool_call' }>[],
    {
      said,
      messages,
      signal,
    }: { readonly said: string; readonly messages: ModelMessage[]; readonly signal: AbortSignal },
  ): AsyncGenerator<ChatEvent, void, void> {
    const taken = this.#tools.taken(called);
    messages.push({
      role: 'assistant',
      text: said === '' ? undefined : said,
      toolCalls: taken.map(({ call }) => call),
    });
    for (const { call, wrong } of taken) {
      const { id, name } = call;
      yield { event: 'tool_call', data: { id, name, arguments: call.arguments as JsonObject } }; // parsed JSON
      yield { event: 'progress', data: { stage: 'tool', detail: name } };
      signal.throwIfAborted();
      this.#asked.check();
      this.#checkErased();
      const run = await this.#tools.run(call, wrong);
      this.#calls.push(run);
      const { output, isError, shown, persons = new Set() } = run.result;
      this.#show(shown, persons);
      yield { event: 'tool_result', data: { id, name, result: output, is_error: isError } };
      messages.push({ role: 'tool', toolCallId: id, toolName: name, text: this.#blocks.block(name, output), isError });
    }
  }

  #count(usage: { readonly input_tokens: number; readonly output_tokens: number } | undefined): void {
    if (usage === undefined) return;
    const { input_tokens = 0, output_tokens = 0 } = this.#usage ?? {};
    this.#usage = {
      input_tokens: input_tokens + usage.input_tokens,
      output_tokens: output_tokens + usage.output_tokens,
    };
  }

  async #done(finish: FinishReason): Promise<JsonObject> {
    const { place, choice, stored, said } = this.#asked;
    const ended = { text: this.#text, persons: this.#persons, calls: this.#calls, usage: this.#usage, finish, choice };
    const messageHash = await keepAnswer(this.#call, place, { ...ended, answers: stored.at(-1) });
    const recallId = await keepRecord(this.#call, place, {
      shown: [...this.#shown],
      question: said.at(-1)?.content ?? '',
      options: [...(this.#asked.toolsEnabled ? ['tools'] : []), ...(place.threadId === undefined ? [] : ['thread'])],
    });
    await this.#note('ok', recallId);
    return defined({
      finish_reason: finish,
      usage: this.#usage === undefined ? undefined : { ...this.#usage },
      thread_id: place.threadId,
      message_hash: messageHash,
      recall_id: recallId,
      provider: choice.provider,
      model: choice.model,
    });
  }

  #note(ended: string, recallId?: string | undefined): Promise<void> {
    this.#isNoted = true;
    const { place, choice } = this.#asked;
    return noteTurn(this.#call, place, {
      ended,
      recallId,
      provider: choice.provider,
      model: choice.model,
      steps: this.#steps,
      calls: this.#calls.length,
    });
  }
}
