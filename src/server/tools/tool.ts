// A tool of the server itself, as a model is told of it and as the server runs it.
import type { JsonObject } from '../../shards/protocol.ts';
import type { Persons } from '../models/persons.ts';
import type { Static, TSchema } from '../operations/type.ts';
import { compileCheck } from '../operations/validate.ts';
import type { ToolCaller } from './caller.ts';

export interface ToolOutcome {
  /** The text that the model reads. */
  readonly output: JsonObject;
  /** Hashes of the grains whose content `output` shows, for the record of the turn. */
  readonly shown: readonly string[];
  /** The persons of these grains. */
  readonly persons?: Persons | undefined;
}

export interface ToolAnnotations {
  readonly read_only: boolean;
  readonly destructive: boolean;
  /** A second call with the same arguments changes nothing more. */
  readonly idempotent: boolean;
}

export interface BuiltinTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema with an object at its root. */
  readonly inputSchema: JsonObject;
  readonly annotations: ToolAnnotations;
  /** Throws EngineError: VAL-E001 and VAL-E003 for wrong arguments, and what the calls on the memory throw. */
  readonly run: (caller: ToolCaller, args: unknown) => Promise<ToolOutcome>;
}

export function toolOf<In extends TSchema>(
  tool: Omit<BuiltinTool, 'inputSchema' | 'run'> & {
    readonly input: In;
    readonly run: (caller: ToolCaller, args: Static<In>) => Promise<ToolOutcome>;
  },
): BuiltinTool {
  const { name, description, annotations, input, run } = tool;
  const check = compileCheck(input, { paged: false });
  return {
    name,
    description,
    annotations,
    // Plain data: what the schema's own marks add does not reach a model.
    inputSchema: JSON.parse(JSON.stringify(input)) as JsonObject,
    run: async (caller, args) => run(caller, check(args)),
  };
}
