// A request to a language model, and its answer. Providers differ; these types do not.
import type { Governed } from './egress.ts';
import type { Persons } from './persons.ts';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text?: string | undefined;
      readonly toolCalls?: readonly ToolCall[] | undefined;
    }
  /** The result of one call of the assistant message before it. */
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly text: string;
      readonly isError?: boolean | undefined;
    };

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  /** The memory that the texts come from: its policy decides what may leave. */
  readonly memory: Governed;
  /** The persons whose texts the request holds. */
  readonly persons: Persons;
  readonly system?: string | undefined;
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ModelTool[] | undefined;
  /** Default: what the settings say for chat, else the provider's own. */
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** Ends the call: it rejects with the signal's reason, and the provider's connection is closed. */
  readonly signal: AbortSignal;
  /** Maximum time for the whole answer; at most and by default MODEL_CALL_MS. */
  readonly timeoutMs?: number | undefined;
  /** Tries in all, while the provider has not begun to answer; default: MODEL_ATTEMPTS_MAX. */
  readonly tries?: number | undefined;
}

export interface TokenUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'other';

export type ModelPart =
  | { readonly type: 'text'; readonly delta: string }
  /** Tool calls come together, after the text, and only of an answer that came to its end. */
  | ({ readonly type: 'tool_call' } & ToolCall)
  | {
      readonly type: 'invalid_tool_call';
      readonly id: string;
      readonly name: string;
      /** The arguments as the model wrote them. */
      readonly text: string;
      readonly reason: string;
    }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage?: TokenUsage | undefined };
