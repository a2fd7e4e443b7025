// Assembles the context of a turn: what the memory holds about the message, as the harness's query selects it. The query
// runs with the caller's binding and under the memory's policy, so it shows what a recall of the caller would show.
import { EngineError } from '../../../engine/base/errors.ts';
import { TOKEN_BUDGET_DEFAULT } from '../../../engine/base/limits.ts';
import { ESTIMATE } from '../../../engine/cal/output/tokens.ts';
import { isRefused } from '../../../engine/calls/cal.ts';
import { objectOfJson, stringifyJson } from '../../../engine/grain/api/json.ts';
import type { JsonObject, JsonValue } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { type Persons, personsOf } from '../../models/persons.ts';
import { answer } from '../../operations/cal/answer.ts';
import type { HarnessDefinition } from '../definition.ts';
import { instructionsOf } from '../instructions.ts';
import { boundText, textOf } from './query.ts';
import { type ShownGrain, withSources } from './sources.ts';

export interface AssembleFor {
  /** Conversation of the turn. */
  readonly sessionId: string;
  /** The person of the turn; the default is the one that the caller is bound to. */
  readonly userId?: string | undefined;
  /** The message. */
  readonly query: string;
}

export interface AssembledContext {
  /** Data for the model, without marks around it; empty if the memory holds nothing about the message. */
  readonly text: string;
  /** Hashes of the grains in it, in their order. */
  readonly shown: readonly string[];
  readonly persons: Persons;
  /** Estimate of the tokens of `text`. */
  readonly tokens: number;
  readonly warnings: readonly string[];
}

/** Tokens that a named query keeps, however long the definition is. */
const BUDGET_MIN = 1_000;

/**
 * CAL-E101 while CAL is switched off; the codes of CAL for a query that fails. The caller records what was shown.
 */
export async function assembleContext(
  context: Context,
  harness: HarnessDefinition,
  { sessionId, userId = context.userId, query }: AssembleFor,
): Promise<AssembledContext> {
  context.services.cal.requireOn();
  // Goal, workflow and tools are part of the context, so they take their tokens from its budget.
  const budget = Math.max(BUDGET_MIN, TOKEN_BUDGET_DEFAULT - definitionTokens(harness));
  const text = textOf(harness.assembleQuery, { forUser: userId !== undefined, budget });
  const bound = boundText(text, {
    user: userId ?? '',
    def_ns: harness.defNamespace,
    session_id: sessionId,
    query,
  });
  const { reply, warnings } = await answer(bound, context, { tier: 0, strict: false });
  if (isRefused(reply)) throw new EngineError(reply.refused, `the query of the harness: ${reply.message}`);
  const result = objectOfJson(reply.resultJson);
  const grains = grainsOf(result['grains']);
  if (grains.length === 0) return { text: '', shown: [], persons: new Set(), tokens: 0, warnings };
  const content = withSources(contentOf(result), grains);
  return {
    text: content,
    shown: grains.map(({ hash }) => hash),
    persons: personsOf(grains.map(({ fields }) => ({ userId: textIn(fields, 'user_id'), fields }))),
    tokens: ESTIMATE.count(content),
    warnings: [...reply.warnings.filter((warning) => !warning.startsWith('CAL-W008')), ...warnings],
  };
}

function textIn(fields: JsonObject, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function definitionTokens(harness: HarnessDefinition): number {
  const tools = harness.tools.map(({ toolName, description }) => `${toolName} ${description}`);
  return ESTIMATE.count([instructionsOf({ ...harness, systemPrompt: '' }), ...tools].join('\n'));
}

function grainsOf(list: JsonValue | undefined): readonly ShownGrain[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return [];
    const { hash, fields } = one;
    if (typeof hash !== 'string' || typeof fields !== 'object' || fields === null || Array.isArray(fields)) return [];
    return [{ hash: hash.replace(/^sha256:/, ''), fields }];
  });
}

/** The text, or the texts of several formats after one another. */
function contentOf({ content, formats }: JsonObject): string {
  if (typeof content === 'string') return content;
  if (typeof formats !== 'object' || formats === null || Array.isArray(formats)) return stringifyJson(content ?? '');
  return Object.values(formats)
    .map((one) => (typeof one === 'string' ? one : stringifyJson(one)))
    .join('\n\n');
}
