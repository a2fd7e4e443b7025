import { steadyMs } from '../../../engine/base/clock.ts';
import { CONTEXT_OPENED_MAX, TOKEN_BUDGET_DEFAULT, TOKEN_BUDGET_MAX } from '../../../engine/base/limits.ts';
import type { ContextFound, ContextQuery } from '../../../engine/calls/session.ts';
import { CHARS_OF_TOKEN, compileContext } from '../../../engine/session/compile.ts';
import type { Context } from '../../context.ts';
import { defineOperation } from '../define.ts';
import { described, Type } from '../type.ts';
import { SessionId, SessionIdOutput, sessionIdOf } from './schema.ts';

/** Best matches of a query that raise the value of a grain, and the candidates from which they are taken. */
const MATCHES_MAX = 200;
const MATCH_CANDIDATES = 500;

const count = (what: string) => Type.Integer({ description: `Number of ${what} that were left out.` });
/** Open, as the fields that are shown depend on the type of the grain. */
const Piece = Type.Unsafe<object>({ type: 'object', additionalProperties: true });
const pieces = (description: string) => Type.Optional(Type.Array(described(Piece, 'A grain.'), { description }));

export const sessionContext = defineOperation({
  name: 'session_context',
  summary: 'Compile what a prompt needs to know of a session into a budget of tokens.',
  description:
    'The state comes first with at most 30 % of the budget, then active goals by priority, then actions and beliefs by value; a token is four characters.',
  example: { sid: 'support-4711', token_budget: 2_000, query: 'refund', format: 'text' },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  input: Type.Object({
    sid: SessionId,
    tokenBudget: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: TOKEN_BUDGET_MAX,
        description: 'Tokens that the context may have, from 1 to 200,000; the default is 4,000.',
        default: TOKEN_BUDGET_DEFAULT,
      }),
    ),
    query: Type.Optional(
      Type.String({ description: 'Question that the context is for: what matches it is worth more. No default.' }),
    ),
    format: Type.Optional(
      Type.Enum(['json', 'text'], {
        description: 'Grains with the fields that matter (json), or a page for a prompt (text); the default is json.',
        default: 'json',
      }),
    ),
  }),
  output: Type.Object({
    sessionId: SessionIdOutput,
    tokenBudget: Type.Integer({ description: 'Tokens that the context may have.' }),
    estimatedTokens: Type.Integer({
      description: 'Tokens of the context: the characters of text, or of state, goals, actions and beliefs, by four.',
    }),
    truncated: Type.Boolean({ description: 'True when something was left out.' }),
    state: Type.Optional(
      Type.Union([described(Piece, 'The state.'), Type.Null()], {
        description: 'The current state, without its largest keys where they do not fit; only with the format json.',
      }),
    ),
    goals: pieces('Active goals by priority; only with the format json.'),
    actions: pieces('Actions, the most valuable first; only with the format json.'),
    beliefs: pieces('Beliefs, the most valuable first; only with the format json.'),
    text: Type.Optional(Type.String({ description: 'The context as a page; only with the format text.' })),
    dropped: Type.Object(
      {
        states: count('states'),
        stateKeys: count('keys of the state'),
        goals: count('active goals'),
        actions: count('actions'),
        beliefs: count('beliefs'),
      },
      { description: 'The parts that were left out because they do not fit.' },
    ),
  }),
  errors: ['VAL-E001'],
  http: [{ verb: 'GET', path: 'M/sessions/{sid}/context' }],
  async run({ sid, tokenBudget = TOKEN_BUDGET_DEFAULT, query = '', format = 'json' }, context) {
    const sessionId = sessionIdOf(sid);
    const relevance = query.trim() === '' ? undefined : await relevanceOf(sessionId, query, context);
    const found = await contextParts({ sessionId, tokenBudget, format, relevance }, context);
    const { text, estimatedTokens, truncated, dropped, ...shown } = compileContext(found, { tokenBudget, format });
    const head = { sessionId: sid, tokenBudget, estimatedTokens, truncated, dropped: { ...dropped } };
    if (text !== undefined) return { ...head, text };
    const { state, goals, actions, beliefs } = shown;
    return { ...head, state, goals: [...goals], actions: [...actions], beliefs: [...beliefs] };
  },
});

/** The parts of the context, call by call while there is room for more of them. */
async function contextParts(asked: ContextQuery, context: Context): Promise<ContextFound> {
  const { tokenBudget, format } = asked;
  const first = await context.call('sessionContext', asked);
  if (!first.more) return first;
  const items = [...first.items];
  let left = tokenBudget - compileContext(first, { tokenBudget, format }).estimatedTokens;
  let isMore = true;
  for (let offset = CONTEXT_OPENED_MAX; isMore && left > 0; offset += CONTEXT_OPENED_MAX) {
    const found = await context.call('sessionContext', { ...asked, tokenBudget: left, offset });
    for (const item of found.items) items.push(item);
    const chars = found.items.reduce((sum, item) => sum + item.chars[format], 0);
    left -= Math.floor(chars / CHARS_OF_TOKEN);
    isMore = found.more;
  }
  return { ...first, items, more: isMore };
}

/** How well actions and beliefs of the session match the query, by words and vectors. */
async function relevanceOf(
  sessionId: string,
  query: string,
  context: Context,
): Promise<readonly (readonly [string, number])[]> {
  const { queryVectors, clock } = context.services;
  const { vector, warning } = await queryVectors.of(
    context.memory,
    { text: query, userId: context.userId },
    context.deadlineMs - steadyMs(clock),
  );
  if (warning !== undefined) context.warnings.push(warning);
  const { hits } = await context.call('recall', {
    query,
    vector,
    filter: { sessionId, grainTypes: ['action', 'belief'] },
    limit: MATCHES_MAX,
    candidateLimit: MATCH_CANDIDATES,
    structural: false,
  });
  // Unlike its score, the evidence of a hit does not depend on the other hits.
  return hits.map(({ grain, score, evidence = score }) => [grain.hash, evidence] as const);
}
