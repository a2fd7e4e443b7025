// Runs the calls that a model makes in one step of a chat turn, and keeps each as an action of the thread.
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { CHAT_STEP_CALLS_MAX } from '../../engine/base/limits.ts';
import { stringifyJson } from '../../engine/grain/api/json.ts';
import type { JsonObject } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import { type Persons, sourceFields } from '../models/persons.ts';
import type { ModelPart, ToolCall } from '../models/request.ts';
import { builtinTool, callBuiltin, type ToolResult } from '../tools/builtin.ts';
import type { ToolCaller } from '../tools/caller.ts';
import { eventFields } from './messages.ts';
import type { Place } from './place.ts';

type Called = Extract<ModelPart, { readonly type: 'tool_call' | 'invalid_tool_call' }>;

export interface RunCall {
  readonly call: ToolCall;
  readonly result: ToolResult;
  /** The action that the thread keeps of it. */
  readonly actionHash: string | undefined;
}

export class ToolCalls {
  readonly #context: Context;
  readonly #place: Place;
  readonly #parent: string | undefined;
  readonly #persons: Persons;
  readonly #ids = new Set<string>();

  /** `parent`: the message that is answered. `persons`: whose texts the model has been shown, now and later. */
  constructor(
    context: Context,
    place: Place,
    { parent, persons }: { readonly parent: string | undefined; readonly persons: Persons },
  ) {
    this.#context = context;
    this.#place = place;
    this.#parent = parent;
    this.#persons = persons;
  }

  /** The calls as the model is told of them again: ids that differ, and arguments that are an object. */
  taken(called: readonly Called[]): readonly { readonly call: ToolCall; readonly wrong: string | undefined }[] {
    return called.map((part, at) => {
      const id = part.id === '' || this.#ids.has(part.id) ? `call_${this.#ids.size + 1}` : part.id;
      this.#ids.add(id);
      const tooMany = at >= CHAT_STEP_CALLS_MAX ? `at most ${CHAT_STEP_CALLS_MAX} calls in one answer` : undefined;
      return part.type === 'tool_call'
        ? { call: { id, name: part.name, arguments: part.arguments }, wrong: tooMany }
        : { call: { id, name: part.name, arguments: {} }, wrong: tooMany ?? part.reason };
    });
  }

  async run(call: ToolCall, wrong: string | undefined): Promise<RunCall> {
    // A model that was shown what was erased since must not write it again.
    if (this.#parent !== undefined) await this.#context.call('get', { hash: this.#parent });
    const startedMs = performance.now();
    const result = wrong === undefined ? await this.#result(call) : refusal(wrong);
    const durationMs = Math.round(performance.now() - startedMs);
    return { call, result, actionHash: await this.#kept(call, result, durationMs) };
  }

  async #result(call: ToolCall): Promise<ToolResult> {
    const tool = builtinTool(call.name);
    return tool === undefined
      ? refusal('there is no such tool')
      : await callBuiltin(tool, this.#callerOf(call), call.arguments);
  }

  /** The caller's own rights, within the conversation. */
  #callerOf({ name, arguments: given }: ToolCall): ToolCaller {
    const { call, services, memory } = this.#context;
    const { threadId, userId, namespace, deadlineMs } = this.#place;
    const keyed = this.#place.keyedTool(name, given);
    return {
      context: {
        services,
        memory,
        deadlineMs,
        call: (method, input, extras = {}) => call(method, input, { ...keyed, ...extras }),
      },
      namespace,
      userId,
      sessionId: threadId,
      persons: this.#persons,
    };
  }

  async #kept(
    { id, name, arguments: input }: ToolCall,
    { output, isError, persons = new Set() }: ToolResult,
    durationMs: number,
  ): Promise<string | undefined> {
    if (this.#place.threadId === undefined) return undefined;
    const fields: JsonObject = {
      ...eventFields(this.#place),
      ...sourceFields(this.#persons.union(persons), this.#place.userId),
      ...defined({ parent_task_id: this.#parent, error: isError ? String(output['error']) : undefined }),
      tool_name: name,
      tool_call_id: id,
      input: input as JsonObject, // it was parsed from JSON
      content: stringifyJson(output),
      is_error: isError,
      duration_ms: durationMs,
      source_type: 'agent',
    };
    try {
      const added = await this.#context.call(
        'add',
        { grainType: 'action', fields, answers: this.#parent, sync: false },
        this.#place.keyed(`action ${id}`),
      );
      return added.hash;
    } catch (error) {
      // A policy may refuse what a tool answered. The call has happened, and its own trail says so.
      if (error instanceof EngineError) return undefined;
      throw error;
    }
  }
}

function refusal(message: string): ToolResult {
  return { output: { error: 'VAL-E001', message }, shown: [], isError: true };
}
