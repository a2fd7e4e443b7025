// The packages that speak to providers, and what they call our messages. They load with the first call: they cost a
// server some megabytes of heap, and most deployments have no provider.

import type { createAnthropic } from '@ai-sdk/anthropic';
import type { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { unreachable } from '../../engine/base/assert.ts';
import { defined } from '../../engine/base/defined.ts';
import { withRawIntegers } from '../../engine/grain/api/json.ts';
import type { ModelMessage, ModelRequest, ModelTool } from './request.ts';
import type { Provider } from './roles.ts';

/** A model object of the packages: one provider, one model, one step at a time. */
export type ModelClient = ReturnType<ReturnType<typeof createOpenAICompatible>['chatModel']>;
export type ClientOptions = Parameters<ModelClient['doStream']>[0];
export type ClientPart =
  Awaited<ReturnType<ModelClient['doStream']>>['stream'] extends ReadableStream<infer T> ? T : never;
type Prompt = ClientOptions['prompt'];

interface Packages {
  readonly createOpenAICompatible: typeof createOpenAICompatible;
  readonly createAnthropic: typeof createAnthropic;
}

let packages: Promise<Packages> | undefined;

async function load(): Promise<Packages> {
  const [compatible, anthropic] = await Promise.all([import('@ai-sdk/openai-compatible'), import('@ai-sdk/anthropic')]);
  return { createOpenAICompatible: compatible.createOpenAICompatible, createAnthropic: anthropic.createAnthropic };
}

/** The model object. `fetch` makes its requests. */
export async function clientOf(
  { id, kind, baseUrl: baseURL, apiKey }: Provider,
  model: string,
  fetch: typeof globalThis.fetch,
): Promise<ModelClient> {
  packages ??= load();
  const { createOpenAICompatible, createAnthropic } = await packages;
  switch (kind) {
    case 'anthropic':
      // An empty key keeps the package from looking for one in the environment.
      return createAnthropic({ baseURL, apiKey: apiKey ?? '', fetch, name: id })(model);
    case 'openai':
    case 'ollama':
    case 'openai_compatible':
      return createOpenAICompatible(
        defined({
          name: 'provider',
          baseURL,
          apiKey,
          fetch,
          includeUsage: true,
          supportsStructuredOutputs: true,
          transformRequestBody: kind === 'openai' ? forOpenAi : undefined,
        }),
      ).chatModel(model);
    case 'mock':
      throw new Error('a mock calls nobody');
    default:
      return unreachable(kind);
  }
}

/** OpenAI has another name for the limit of tokens, and its models that reason take no temperature. */
function forOpenAi(body: Record<string, unknown>): Record<string, unknown> {
  const { max_tokens: most, temperature, ...rest } = body;
  const reasons = /^(o\d|gpt-5)/.test(String(body['model']));
  return defined({
    ...rest,
    max_completion_tokens: most,
    temperature: temperature === undefined || reasons ? undefined : temperature,
  });
}

/** The request in the packages' words. */
export function clientRequest(
  request: Pick<ModelRequest, 'system' | 'messages' | 'tools'>,
): Pick<ClientOptions, 'prompt' | 'tools'> {
  const { system, messages, tools = [] } = request;
  const prompt: Prompt = messages.map(promptMessage);
  if (system !== undefined && system !== '') prompt.unshift({ role: 'system', content: system });
  return tools.length === 0 ? { prompt } : { prompt, tools: tools.map(clientTool) };
}

function promptMessage(message: ModelMessage): Prompt[number] {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.text === undefined || message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
          ...(message.toolCalls ?? []).map(({ id, name, arguments: input }) => ({
            type: 'tool-call' as const,
            toolCallId: id,
            toolName: name,
            input: withRawIntegers(input),
          })),
        ],
      };
    case 'tool': {
      const { toolCallId, toolName, text: value, isError = false } = message;
      const output = { type: isError ? ('error-text' as const) : ('text' as const), value };
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] };
    }
    default:
      return unreachable(message);
  }
}

function clientTool({ name, description, inputSchema }: ModelTool): NonNullable<ClientOptions['tools']>[number] {
  // JSON Schema, which the package only passes on.
  return { type: 'function', name, description, inputSchema: withRawIntegers(inputSchema) as never };
}
