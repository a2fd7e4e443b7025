// The tools of a turn: those of the harness, and those that the caller offers for this turn.

import { EngineError } from '../../../engine/base/errors.ts';
import { TURN_TOOLS_MAX } from '../../../engine/base/limits.ts';
import { parseJson, stringifyJson } from '../../../engine/grain/api/json.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import type { ModelTool } from '../../models/request.ts';
import { builtinTool } from '../../tools/builtin.ts';
import { modelName, modelTool } from '../arguments/check.ts';
import type { ToolSpec } from '../tool.ts';

/** How the server runs a tool, from its location. */
export type Location =
  | { readonly kind: 'client' }
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'http'; readonly uri: string }
  | { readonly kind: 'executor'; readonly name: string }
  | { readonly kind: 'unknown' };

export function locationOf(uri: string): Location {
  const [scheme = '', rest = ''] = uri.split(/:\/\/(.*)/s);
  switch (scheme) {
    case 'client':
      return { kind: 'client' };
    case 'builtin':
      return { kind: 'builtin', name: rest };
    case 'executor':
      return { kind: 'executor', name: rest };
    case 'http':
    case 'https':
      return { kind: 'http', uri };
    default:
      return { kind: 'unknown' };
  }
}

/** A tool of the caller: the caller runs it. */
export type ClientTool = Pick<ToolSpec, 'toolName' | 'description' | 'inputSchema'>;

export class OfferedTools {
  /** By the name that models use. */
  readonly #tools = new Map<string, ToolSpec>();
  /** Names of tools that the policy keeps back. */
  readonly withheld: readonly string[];

  /**
   * `overseen`: the policy wants a person at what destroys, so only the caller may run destructive tools. VAL-E001 when a
   * tool of the caller has the name of another one.
   */
  constructor(
    tools: readonly ToolSpec[],
    clientTools: readonly ClientTool[],
    { overseen }: { readonly overseen: boolean },
  ) {
    const withheld: string[] = [];
    for (const tool of tools) {
      if (overseen && isDestructive(tool) && locationOf(tool.executorUri).kind !== 'client')
        withheld.push(tool.toolName);
      else this.#tools.set(modelName(tool.toolName), tool);
    }
    for (const tool of clientTools) {
      const name = modelName(tool.toolName);
      if (this.#tools.has(name) || withheld.includes(tool.toolName)) throw taken(tool.toolName);
      this.#tools.set(name, { ...tool, ...CLIENT_TOOL, executorUri: `client://${tool.toolName}` });
    }
    if (this.#tools.size > TURN_TOOLS_MAX)
      throw new EngineError('VAL-E001', `a turn has at most ${TURN_TOOLS_MAX} tools`, {
        details: [{ field: 'client_tools', issue: 'too many' }],
      });
    this.withheld = withheld;
  }

  get size(): number {
    return this.#tools.size;
  }

  /** By the name that a model used, or by the tool's own. */
  find(name: string): ToolSpec | undefined {
    return this.#tools.get(modelName(name));
  }

  forModel(): readonly ModelTool[] {
    return [...this.#tools.values()].map(modelTool);
  }
}

const CLIENT_TOOL: Omit<ToolSpec, keyof ClientTool | 'executorUri'> = {
  executorKind: 'client',
  lockedParams: {},
  strict: false,
  examples: [],
  annotations: { readOnly: false, destructive: false, idempotent: false },
  asyncMode: false,
};

/** A tool of the server itself says so, whatever the definition says. */
export function isDestructive({ annotations, executorUri }: ToolSpec): boolean {
  const location = locationOf(executorUri);
  const own = location.kind === 'builtin' ? builtinTool(location.name)?.annotations.destructive : undefined;
  return own ?? annotations.destructive;
}

/** True when a second run of the tool does no harm. */
export function isRepeatable({ annotations, executorUri }: ToolSpec): boolean {
  const location = locationOf(executorUri);
  const own = location.kind === 'builtin' ? builtinTool(location.name)?.annotations : undefined;
  return own === undefined ? annotations.readOnly || annotations.idempotent : own.read_only || own.idempotent;
}

/** True when a call of the tool may run while others do: it only reads, or its definition says so. */
export function runsConcurrently({ annotations, asyncMode, executorUri }: ToolSpec): boolean {
  const location = locationOf(executorUri);
  const own = location.kind === 'builtin' ? builtinTool(location.name)?.annotations.read_only : undefined;
  return own ?? (asyncMode || annotations.readOnly);
}

function taken(name: string): EngineError {
  return new EngineError('VAL-E001', `the tool ${name} of \`client_tools\` has the name of another tool`, {
    details: [{ field: 'client_tools', issue: `${name} is taken` }],
  });
}

/** The tools of the caller as a turn keeps them. */
export function writeClientTools(tools: readonly ClientTool[] | undefined): string | undefined {
  return tools === undefined || tools.length === 0 ? undefined : stringifyJson(tools);
}

export function readClientTools(text: string | undefined): readonly ClientTool[] {
  if (text === undefined) return [];
  return parseJson(text) as { toolName: string; description: string; inputSchema: JsonObject }[]; // as written above
}
