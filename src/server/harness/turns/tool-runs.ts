// Runs one call of a tool that the server runs: its own, a program of the operator, or one at a URL.
import { hash } from 'node:crypto';
import { EngineError } from '../../../engine/base/errors.ts';
import type { FailureCause } from '../../../engine/turn/turn.ts';
import { type JsonObject, type JsonValue, MEMORY_ROWS } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { failure, type ToolOutcome } from '../../executors/outcome.ts';
import type { ToolRunners } from '../../executors/runners.ts';
import type { Persons } from '../../models/persons.ts';
import { builtinTool, callBuiltin } from '../../tools/builtin.ts';
import { faultsOf } from '../arguments/schema.ts';
import { canonicalText, type ToolSpec } from '../tool.ts';
import { locationOf } from './offered.ts';

export interface CallToRun {
  /** Unique over all calls of all turns, and the same when the call is run again. */
  readonly key: string;
  readonly tool: ToolSpec;
  readonly arguments: JsonObject;
}

/** For whom it runs. */
export interface RunFor {
  readonly context: Context;
  readonly userId: string | undefined;
  readonly conversationId: string;
  /** The persons whose texts the model has been shown. */
  readonly persons: Persons;
  readonly signal: AbortSignal;
}

export interface CallResult {
  readonly output?: JsonValue | undefined;
  readonly failed: boolean;
  readonly cause?: FailureCause | undefined;
  readonly reason?: string | undefined;
  /** Hashes of the grains that the output shows. */
  readonly shown: readonly string[];
  /** The persons of these grains. */
  readonly persons?: Persons | undefined;
}

/** Never rejects for what a tool did: that is for the model to read. */
export async function runCall(runners: ToolRunners, call: CallToRun, of: RunFor): Promise<CallResult> {
  const { tool } = call;
  const location = locationOf(tool.executorUri);
  const input = { tool: tool.toolName, arguments: call.arguments };
  switch (location.kind) {
    case 'builtin':
      return runBuiltin(location.name, call, of);
    case 'http':
      return checked(tool, await runners.http.call({ uri: location.uri, callKey: call.key }, input, of.signal));
    case 'executor': {
      const executor = runners.executors.get(location.name);
      return checked(
        tool,
        executor === undefined
          ? failure('executor_error', `the server has no executor ${JSON.stringify(location.name)}`)
          : await runners.hosts.run(executor, input, of.signal),
      );
    }
    default:
      return { failed: true, cause: 'executor_error', reason: 'the tool has no location where it can run', shown: [] };
  }
}

async function runBuiltin(name: string, { key, arguments: args }: CallToRun, of: RunFor): Promise<CallResult> {
  const tool = builtinTool(name);
  if (tool === undefined)
    return { failed: true, cause: 'executor_error', reason: 'the server has no such tool', shown: [] };
  const caller = {
    context: withKey(of.context, key),
    namespace: of.context.namespace,
    userId: of.userId,
    sessionId: of.conversationId,
    persons: of.persons,
  };
  const { output, isError, shown, persons } = await callBuiltin(tool, caller, args);
  if (!isError) return { output, failed: false, shown, persons };
  const reason = typeof output['message'] === 'string' ? output['message'] : 'the tool failed';
  return { output, failed: true, cause: 'executor_error', reason, shown };
}

/** Under a key of the call, a write of a tool that runs again is answered as the first time. */
function withKey(context: Context, key: string): Pick<Context, 'call' | 'services' | 'memory' | 'deadlineMs'> {
  let changes = 0;
  return {
    services: context.services,
    memory: context.memory,
    deadlineMs: context.deadlineMs,
    call: (method, input, extras = {}) => {
      if (!('retry' in MEMORY_ROWS[method])) return context.call(method, input, extras);
      const bodyHash = hash('sha256', `${method}\n${canonicalText(input as JsonValue)}`, 'hex'); // writes take JSON
      return context.call(method, input, { ...extras, idempotency: { key: `${key}:${changes++}`, bodyHash } });
    },
  };
}

/** An output that does not fit the tool's own schema is a failure of the tool. */
function checked(tool: ToolSpec, outcome: ToolOutcome): CallResult {
  if (!outcome.ok) return { failed: true, cause: outcome.cause, reason: outcome.reason, shown: [] };
  const fault = tool.outputSchema === undefined ? undefined : outputFault(tool.outputSchema, outcome.output);
  if (fault === undefined) return { output: outcome.output, failed: false, shown: [] };
  return {
    failed: true,
    cause: 'schema_validation_failed',
    reason: `the output of the tool is wrong: ${fault}`,
    shown: [],
  };
}

/** The first place where an output does not fit; undefined if it fits. */
export function outputFault(schema: JsonObject, output: JsonValue): string | undefined {
  const [fault] = faultsOf(output, schema, { strict: false });
  return fault === undefined ? undefined : `${fault.path === '' ? 'it' : fault.path} ${fault.issue}`;
}

/** Errors of a policy refuse to store an output; anything else is not the tool's. */
export function isPolicyRefusal(error: unknown): error is EngineError {
  return error instanceof EngineError && /^(POL|SCP|MEM-E10|VAL)/.test(error.code);
}
