// Language models: chooses the model of a role, and asks it for one step. This file decides by the policy of the memory
// which texts leave, and bounds the time and the length of a provider's answer.

import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  MODEL_CALL_MS,
  MODEL_OBJECT_CHARS_MAX,
  MODEL_RESPONSE_BYTES_MAX,
  MODEL_STREAMS_MAX,
} from '../../engine/base/limits.ts';
import { onDemand } from '../../engine/base/on-demand.ts';
import { isInt64, parseJson } from '../../engine/grain/api/json.ts';
import { isJsonObject, type JsonValue } from '../../engine/grain/api/json-value.ts';
import type * as Compiler from '../operations/schema-compiler.ts';
import { type ClientOptions, type ClientPart, clientOf, clientRequest, type ModelClient } from './clients.ts';
import { echo, echoText } from './echo.ts';
import { destinationOf, type HasGrants } from './egress.ts';
import { sentOf } from './leaving-request.ts';
import { type Outgoing, Rejected } from './outgoing.ts';
import type { Choosing } from './providers.ts';
import type { FinishReason, ModelPart, ModelRequest, TokenUsage } from './request.ts';
import type { Provider, ProviderKind, Role } from './roles.ts';

/** A model of a provider, as it was when it was chosen. */
export interface LanguageChoice {
  /** The provider's id. */
  readonly provider: string;
  readonly kind: ProviderKind;
  readonly model: string;
  /** False for a provider on this machine. */
  readonly external: boolean;
  readonly region?: string | undefined;
  /** The values of the settings for chat; a request's own values win. */
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/** The values that a request may give instead of the role's assignment. */
export interface Override {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

export interface GeneratedObject {
  /** It fits the schema. */
  readonly object: unknown;
  readonly usage?: TokenUsage | undefined;
}

export interface GeneratedText {
  readonly text: string;
  readonly reason: FinishReason;
  readonly usage?: TokenUsage | undefined;
}

/** Compiles a schema that an answer must fit. */
const compiler = onDemand<typeof Compiler>(import.meta.url, '../operations/schema-compiler');

export class LanguageModels {
  readonly #providers: Choosing;
  readonly #outgoing: Outgoing;
  readonly #hasGrants: HasGrants;
  /** Model objects of the providers' present records. */
  readonly #clients = new WeakMap<Provider, Map<string, Promise<ModelClient>>>();
  readonly #ending = new AbortController();
  #running = 0;

  constructor(parts: {
    readonly providers: Choosing;
    readonly outgoing: Outgoing;
    readonly hasGrants: HasGrants;
  }) {
    this.#providers = parts.providers;
    this.#outgoing = parts.outgoing;
    this.#hasGrants = parts.hasGrants;
  }

  /** Throws LLM-E001 when the role has no model that can be called, LLM-E003 for an unknown provider or model. */
  resolve(role: Role, override: Override = {}): LanguageChoice {
    const { provider, model, temperature, maxTokens } = this.#providers.choose(role, override);
    const { id, kind } = provider;
    return { provider: id, kind, model, ...destinationOf(provider), temperature, maxTokens };
  }

  /**
   * The parts of one answer; the last one is `finish`. Throws POL-E005 and POL-E007 when the memory's policy lets nothing
   * leave, LLM-E002 when the provider fails, LLM-E003 when it does not know the model, LIM-E001, and the signal's reason.
   * A reader that stops early ends the call.
   */
  async *stream(choice: LanguageChoice, request: ModelRequest): AsyncGenerator<ModelPart, void, void> {
    const call = this.#begin(request);
    try {
      yield* this.#parts(choice, await sentOf(request, choice, this.#hasGrants), call.signal);
    } catch (error) {
      throw call.failed(error, choice);
    } finally {
      call.end();
    }
  }

  /** The whole text of one answer, without what a model says to itself in `<think>`. Throws as `stream`. */
  async generateText(choice: LanguageChoice, request: ModelRequest): Promise<GeneratedText> {
    const call = this.#begin(request);
    try {
      const sent = await sentOf(request, choice, this.#hasGrants);
      return await this.#generated(choice, sent, call.signal);
    } catch (error) {
      throw call.failed(error, choice);
    } finally {
      call.end();
    }
  }

  /**
   * An answer that is JSON of the schema. Throws as `stream`, and LLM-E002 for an answer that does not fit. `schema` is
   * JSON Schema; models see it.
   */
  async generateObject(
    choice: LanguageChoice,
    request: ModelRequest & { readonly schema: Readonly<Record<string, unknown>> },
  ): Promise<GeneratedObject> {
    const call = this.#begin(request);
    try {
      const sent = await sentOf(request, choice, this.#hasGrants);
      const { text, usage } = await this.#generated(choice, sent, call.signal, request.schema);
      // A long answer would be parsed and checked without a pause.
      const object = text.length > MODEL_OBJECT_CHARS_MAX ? undefined : parsedOf(withoutFence(text));
      if (object === undefined || !compiler().Compile(request.schema).Check(object))
        throw new EngineError('LLM-E002', `the provider ${choice.provider} answered with JSON that does not fit`);
      return { object, usage };
    } catch (error) {
      throw call.failed(error, choice);
    } finally {
      call.end();
    }
  }

  async #generated(
    choice: LanguageChoice,
    request: ModelRequest,
    signal: AbortSignal,
    schema?: Readonly<Record<string, unknown>>,
  ): Promise<GeneratedText> {
    if (choice.kind === 'mock') return { text: echoText(request.messages), reason: 'stop' };
    const client = await this.#clientOf(choice);
    const options = optionsOf(choice, request, signal);
    const { content, finishReason, usage } =
      schema === undefined
        ? await tolerant(options, (some) => client.doGenerate(some))
        : await withSchema(client, options, schema);
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return { text: withoutThinking(text), reason: reasonOf(finishReason.unified), usage: usageOf(usage) };
  }

  async *#parts(choice: LanguageChoice, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    if (choice.kind === 'mock') {
      for (const part of echo(request.messages)) {
        signal.throwIfAborted();
        yield part;
      }
      return;
    }
    const client = await this.#clientOf(choice);
    const options = optionsOf(choice, request, signal);
    const { stream } = await tolerant(options, (some) => client.doStream(some));
    const known = new Set((request.tools ?? []).map(({ name }) => name));
    // The calls of an answer that breaks off may be incomplete.
    const calls: ModelPart[] = [];
    for await (const part of stream) {
      signal.throwIfAborted();
      switch (part.type) {
        case 'text-delta':
          if (part.delta !== '') yield { type: 'text', delta: part.delta };
          break;
        case 'tool-call':
          calls.push(toolCallOf(part, known));
          break;
        case 'error':
          throw ownError(part.error) ?? new EngineError('LLM-E002', broken(choice));
        case 'finish':
          yield* calls;
          yield { type: 'finish', reason: reasonOf(part.finishReason.unified), usage: usageOf(part.usage) };
          return;
      }
    }
    throw new EngineError('LLM-E002', broken(choice));
  }

  /** The model object of a choice. Throws LLM-E003 when its provider was removed since. */
  #clientOf({ provider: id, model }: LanguageChoice): Promise<ModelClient> {
    const provider = this.#providers.callable(id);
    let clients = this.#clients.get(provider);
    if (clients === undefined) {
      clients = new Map();
      this.#clients.set(provider, clients);
    }
    let client = clients.get(model);
    if (client === undefined) {
      client = clientOf(provider, model, this.#outgoing.asker(id, MODEL_RESPONSE_BYTES_MAX));
      clients.set(model, client);
    }
    return client;
  }

  #begin({ signal, timeoutMs = MODEL_CALL_MS, tries }: ModelRequest): RunningCall {
    signal.throwIfAborted();
    if (this.#running >= MODEL_STREAMS_MAX)
      throw new EngineError('LIM-E001', 'too many answers of models are running: try again later');
    this.#running += 1;
    const bound = Math.max(1, Math.min(timeoutMs, MODEL_CALL_MS));
    const late = AbortSignal.timeout(bound);
    const all = AbortSignal.any([signal, late, this.#ending.signal]);
    if (tries !== undefined) this.#outgoing.limitTries(all, tries);
    return {
      signal: all,
      end: () => {
        this.#running -= 1;
      },
      failed: (error, { provider }) => {
        if (signal.aborted) return signal.reason;
        if (late.aborted)
          return new EngineError('LLM-E002', `the provider ${provider} did not finish its answer within ${bound} ms`);
        return ownError(error) ?? new EngineError('LLM-E002', `the provider ${provider} gave no usable answer`);
      },
    };
  }

  /** Ends what is under way. */
  close(): void {
    this.#ending.abort(new EngineError('SYS-E005', 'the server is shutting down'));
  }
}

interface RunningCall {
  readonly signal: AbortSignal;
  end(): void;
  /** The error that the caller gets: the packages' own quote requests and answers. */
  failed(error: unknown, choice: LanguageChoice): unknown;
}

/** The packages wrap what the request threw. */
function ownError(error: unknown): EngineError | undefined {
  for (let [cause, depth] = [error, 0]; cause instanceof Error && depth < 8; cause = cause.cause, depth++)
    if (cause instanceof EngineError) return cause;
  return undefined;
}

/** Servers that know no schemas reject them: then the words of the request have it. */
async function withSchema(client: ModelClient, options: ClientOptions, schema: Readonly<Record<string, unknown>>) {
  try {
    // JSON Schema, which the package only passes on.
    const responseFormat = { type: 'json' as const, schema: schema as never };
    return await client.doGenerate({ ...options, responseFormat, providerOptions: NOT_STRICT });
  } catch (error) {
    if (!(ownError(error) instanceof Rejected)) throw error;
    const content = `Answer with JSON of this schema and nothing else: ${JSON.stringify(schema)}`;
    const asked: ClientOptions = { ...options, prompt: [{ role: 'system', content }, ...options.prompt] };
    return tolerant(asked, (some) => client.doGenerate(some));
  }
}

/**
 * A model's name does not say what it takes. A rejected request is sent once more without a temperature, which models that
 * reason refuse. Tools are not left out: an answer without them would pass for one that needed none.
 */
async function tolerant<T>(options: ClientOptions, ask: (options: ClientOptions) => PromiseLike<T>): Promise<T> {
  const { temperature, ...others } = options;
  try {
    return await ask(options);
  } catch (error) {
    const rejected = ownError(error);
    if (!(rejected instanceof Rejected)) throw error;
    if (temperature === undefined) throw explained(rejected, options);
  }
  try {
    return await ask(others);
  } catch (error) {
    const rejected = ownError(error);
    throw rejected instanceof Rejected ? explained(rejected, options) : error;
  }
}

function explained(rejected: Rejected, { tools = [] }: ClientOptions): EngineError {
  if (tools.length === 0) return rejected;
  const message = rejected.message.slice(rejected.code.length + 2);
  return new Rejected(rejected.code, `${message}; the request has tools, which not every model supports`);
}

/** Strict schemas need every member, and no other; schemas of ours need not be so. */
const NOT_STRICT = { openaiCompatible: { strictJsonSchema: false } };

function optionsOf(choice: LanguageChoice, request: ModelRequest, abortSignal: AbortSignal): ClientOptions {
  const { temperature = choice.temperature, maxTokens = choice.maxTokens } = request;
  return defined({
    ...clientRequest(request),
    abortSignal,
    temperature,
    maxOutputTokens: maxTokens,
  });
}

function toolCallOf(
  { toolCallId: id, toolName: name, input: text }: Extract<ClientPart, { readonly type: 'tool-call' }>,
  known: ReadonlySet<string>,
): ModelPart {
  const invalid = (reason: string): ModelPart => ({ type: 'invalid_tool_call', id, name, text, reason });
  if (!known.has(name)) return invalid('there is no such tool');
  // Some models write nothing for no arguments.
  const value = text.trim() === '' ? {} : argumentsIn(text);
  if (value === undefined) return invalid('the arguments are not JSON');
  if (!isJsonObject(value)) return invalid('the arguments are not an object');
  if (!isOfInt64(value)) return invalid('an integer of the arguments has more than 64 bits');
  return { type: 'tool_call', id, name, arguments: value };
}

/** With all digits of integers: ids of 64 bits are common. */
function argumentsIn(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isOfInt64(value: JsonValue): boolean {
  if (typeof value === 'bigint') return isInt64(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isOfInt64);
}

function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(unified: string): FinishReason {
  switch (unified) {
    case 'stop':
    case 'length':
      return unified;
    case 'content-filter':
      return 'content_filter';
    case 'tool-calls':
      return 'tool_calls';
    default:
      return 'other';
  }
}

function usageOf({
  inputTokens: { total: input },
  outputTokens: { total: output },
}: Extract<ClientPart, { readonly type: 'finish' }>['usage']): TokenUsage | undefined {
  if (input === undefined && output === undefined) return undefined;
  return { input_tokens: input ?? 0, output_tokens: output ?? 0 };
}

/** Some models wrap JSON as Markdown has code. */
function withoutFence(text: string): string {
  return /^```(?:json)?[^\S\n]*\n([\s\S]*?)\n?```$/.exec(text.trim())?.[1] ?? text;
}

function withoutThinking(text: string): string {
  let kept = '';
  let from = 0;
  for (;;) {
    const start = text.indexOf('<think>', from);
    const end = start < 0 ? -1 : text.indexOf('</think>', start);
    if (end < 0) return (kept + text.slice(from)).trim();
    kept += text.slice(from, start);
    from = end + '</think>'.length;
  }
}

function broken({ provider }: LanguageChoice): string {
  return `the provider ${provider} broke off its answer`;
}
