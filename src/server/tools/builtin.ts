// The tools of the server itself that a model may call: recall, add, supersede, forget and goals. Each runs with the
// rights of the request that the model answers, and within its conversation. The output of a tool is data: the caller
// marks it as such before a model reads it.
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { TOOL_HITS_MAX } from '../../engine/base/limits.ts';
import { GRAIN_TYPE_NAMES } from '../../engine/grain/grain.ts';
import type { JsonObject } from '../../shards/protocol.ts';
import { RECALL_TOOL } from '../harness/recall-actions.ts';
import { personsOf } from '../models/persons.ts';
import { Type } from '../operations/type.ts';
import { ownFields, ownGrain, type ToolCaller, versionFields } from './caller.ts';
import { goalsTool } from './goals.ts';
import { grainForModel } from './grain.ts';
import { recallFor } from './recall-for.ts';
import { type BuiltinTool, type ToolOutcome, toolOf } from './tool.ts';

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Hash of the grain, as recall shows it.' });
const Text = (description: string) => Type.String({ minLength: 1, description });
const Confidence = Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'How sure it is, from 0 to 1.' }));

const recallTool = toolOf({
  name: RECALL_TOOL,
  description: 'Search the memory. Returns records, best first, each with its hash.',
  annotations: { read_only: true, destructive: false, idempotent: true },
  input: Type.Object({
    query: Text('The words to look for.'),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: TOOL_HITS_MAX, description: 'Number of records at most; the default is 8.' }),
    ),
    grain_type: Type.Optional(Type.Enum([...GRAIN_TYPE_NAMES], { description: 'Only records of this type.' })),
    time: Type.Optional(Text('Only records of this time, such as "last month" or "2024-05".')),
  }),
  async run(caller, { query, limit = 8, grain_type: grainType, time: temporalExpr }) {
    const { hits, total, recallId } = await recallFor(caller, { query, limit, grainType, temporalExpr });
    const results = hits.map(({ grain }) => grainForModel(grain));
    return {
      output: defined({ results, found: total, recall_id: recallId }),
      shown: hits.map(({ grain }) => grain.hash),
      persons: personsOf(hits.map(({ grain }) => grain)),
    };
  },
});

const addTool = toolOf({
  name: 'add',
  description: 'Remember a fact: who or what it is about, how the two relate, and what is so.',
  annotations: { read_only: false, destructive: false, idempotent: true },
  input: Type.Object({
    subject: Text('The person or thing of the fact.'),
    relation: Text('How subject and object relate, such as "likes" or "lives in".'),
    object: Text('The statement of the fact.'),
    confidence: Confidence,
    tags: Type.Optional(Type.Array(Text('A tag.'), { maxItems: 16, description: 'Tags of the record.' })),
  }),
  async run(caller, fact) {
    const fields: JsonObject = { ...defined(fact), ...ownFields(caller) };
    const { hash, duplicate } = await caller.context.call('add', { grainType: 'belief', fields, sync: false });
    return { output: { status: duplicate ? 'known already' : 'added', hash }, shown: [] };
  },
});

const supersedeTool = toolOf({
  name: 'supersede',
  description: 'Correct a record: what is given replaces what the record says, the rest stays as it is.',
  annotations: { read_only: false, destructive: false, idempotent: false },
  input: Type.Object({
    hash: Hash,
    subject: Type.Optional(Text('New subject of a fact.')),
    relation: Type.Optional(Text('New relation of a fact.')),
    object: Type.Optional(Text('New object of a fact.')),
    content: Type.Optional(Text('New text of a record that has a text.')),
    confidence: Confidence,
    reason: Type.Optional(Text('Why the record is corrected.')),
  }),
  async run(caller, { hash, reason, ...given }) {
    const fields: JsonObject = defined(given);
    if (Object.keys(fields).length === 0) throw new EngineError('VAL-E001', 'nothing to replace: send a new value');
    const old = await ownGrain(caller, hash);
    const asked = { oldHash: old.hash, fields: { ...fields, ...versionFields(caller, old) } };
    const { newHash } = await caller.context.call('supersede', asked, defined({ reason }));
    return { output: { status: 'superseded', old_hash: old.hash, hash: newHash }, shown: [] };
  },
});

const forgetTool = toolOf({
  name: 'forget',
  description: 'Remove a record for good. Only when the person asks for it.',
  annotations: { read_only: false, destructive: true, idempotent: true },
  input: Type.Object({ hash: Hash, reason: Type.Optional(Text('Why the record is removed.')) }),
  async run(caller, { hash, reason }) {
    await ownGrain(caller, hash);
    await caller.context.call('forget', { hashes: [hash], check: false }, defined({ reason }));
    return { output: { status: 'forgotten', hash }, shown: [] };
  },
});

export const BUILTIN_TOOLS: readonly BuiltinTool[] = [recallTool, addTool, supersedeTool, forgetTool, goalsTool];

const BY_NAME: ReadonlyMap<string, BuiltinTool> = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));

export function builtinTool(name: string): BuiltinTool | undefined {
  return BY_NAME.get(name);
}

export interface ToolResult extends ToolOutcome {
  readonly isError: boolean;
}

/**
 * Runs a tool. A refusal by the caller's rights, the policy or the arguments is a result for the model, with the
 * error's code; so is a failure of the store. Only a bug throws.
 */
export async function callBuiltin(tool: BuiltinTool, caller: ToolCaller, args: unknown): Promise<ToolResult> {
  try {
    return { ...(await tool.run(caller, args)), isError: false };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { output: { error: error.code, message: error.message }, shown: [], isError: true };
  }
}
