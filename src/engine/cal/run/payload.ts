// Converts a statement's result to the members of `result_json`.

import { defined } from '../../base/defined.ts';
import { withoutMember } from '../../grain/api/json.ts';
import type { JsonObject, JsonValue } from '../../grain/api/json-value.ts';
import type { ProjectPart, Recall, Statement, WithOption } from '../ast.ts';
import { levelOf } from '../output/disclosure.ts';
import { storedValue } from '../output/fields.ts';
import { formatName, type Rendering, resolveFormats } from '../output/formats/choice.ts';
import type { CalGrain } from '../output/grain.ts';
import type { Project } from '../output/projection.ts';
import { renderGrains } from '../output/render.ts';
import { sentenceOf } from '../output/sentence.ts';
import { summaryOf } from '../output/summary.ts';
import { tokenCounter } from '../output/tokenizer.ts';
import { pace } from './bounds.ts';
import { OF_TEXT, warnOfIdle } from './idle.ts';
import { CAL_VERSION, statementType, tierOf } from './kinds.ts';
import type { Run } from './session.ts';
import type { Outcome } from './stages.ts';

/** An answer without its `_cal` block. */
export interface Answer {
  readonly payload: JsonObject;
  readonly count: number;
  readonly tokensUsed: number;
  readonly grainsReturned: number;
  /** Additional members of `_cal`. */
  readonly extra?: JsonObject | undefined;
}

/** The answer to `statement`, with the block that every answer has; `startedMs` of the performance clock, `scanned` grains. */
export function withBlock(
  { payload, tokensUsed, grainsReturned, extra }: Answer,
  statement: Pick<Statement, 'kind'>,
  {
    sourceHash,
    startedMs,
    scanned,
  }: { readonly sourceHash: string; readonly startedMs: number; readonly scanned: number },
): JsonObject {
  payload['_cal'] = {
    version: CAL_VERSION,
    statement_type: statementType(statement),
    tier: tierOf(statement),
    query_hash: `sha256:${sourceHash}`,
    duration_ms: Math.round((performance.now() - startedMs) * 1000) / 1000,
    budget: { tokens_used: tokensUsed, grains_returned: grainsReturned, grains_scanned: scanned },
    ...extra,
  };
  return payload;
}

export function shownHash(hash: string): string {
  return hash.startsWith('sha256:') ? hash : `sha256:${hash}`;
}

/** Fields as stored. The link to the next version is a member next to them. */
function shownFields(fields: JsonObject): JsonObject {
  return Object.hasOwn(fields, 'superseded_by') ? withoutMember(fields, 'superseded_by') : fields;
}

/** How options and stages want grains to be shown. */
export interface Shown {
  readonly select?: readonly string[] | undefined;
  readonly options: readonly WithOption[];
  /** Why each grain is included, in words. */
  readonly why?: string | undefined;
}

/** A grain of an answer. Its sentence tells no more than the fields that are shown. */
export function grainJson(grain: CalGrain, { select, options, why }: Shown): JsonObject {
  const { grainType } = grain;
  const isWhole = select === undefined;
  const fields = isWhole ? shownFields(grain.fields) : selected(grain, select);
  const shown: JsonObject = {
    hash: shownHash(grain.hash),
    grain_type: grainType,
    score: grain.score,
    text: sentenceOf({ grainType, fields, text: isWhole ? grain.text : undefined }),
    fields,
  };
  if (has(options, 'superseded'))
    shown['superseded_by'] = grain.supersededBy === undefined ? null : shownHash(grain.supersededBy);
  if (grain.contestedBy !== undefined && grain.contestedBy.length > 0)
    shown['contested_by'] = grain.contestedBy.map(shownHash);
  if (has(options, 'score_breakdown')) shown['score_breakdown'] = grain.scoreBreakdown ?? null;
  if (has(options, 'explanation') && why !== undefined) shown['explanation'] = why;
  if (has(options, 'provenance')) {
    const sources = grain.fields['derived_from'];
    const list = sources === undefined || sources === null ? [] : Array.isArray(sources) ? sources : [sources];
    shown['derived_from'] = list.map((source) => (typeof source === 'string' ? shownHash(source) : source));
  }
  return shown;
}

/** Fields by the names in the query, without missing ones. */
function selected(grain: CalGrain, names: readonly string[]): JsonObject {
  const fields: JsonObject = {};
  for (const name of names) {
    const value: JsonValue | undefined = name === 'hash' ? shownHash(grain.hash) : storedValue(grain, name);
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

/** A version of a history. `createdAt` in seconds. */
export function versionJson(
  version: {
    readonly hash: string;
    readonly grainType: string;
    readonly fields: JsonObject;
    /** As in `CalGrain`. */
    readonly text?: string | undefined;
    readonly createdAt: number;
  },
  supersededBy: string | undefined,
): JsonObject {
  const { grainType, text } = version;
  const fields = shownFields(version.fields);
  return {
    hash: shownHash(version.hash),
    grain_type: grainType,
    text: sentenceOf({ grainType, fields, text }),
    fields,
    created_at: version.createdAt,
    superseded_by: supersededBy === undefined ? null : shownHash(supersededBy),
  };
}

export function has(options: readonly WithOption[], name: WithOption['option']): boolean {
  return options.some(({ option }) => option === name);
}

/** The members of a statement that recalls, formatted where it asks for that. */
export function outcomeAnswer(
  outcome: Outcome,
  recall: Partial<Pick<Recall, 'with' | 'format' | 'stages' | 'recent'>>,
  run: Run,
  why?: string,
): Answer {
  const options = recall.with ?? [];
  const extra: JsonObject = outcome.about === undefined ? {} : { about: outcome.about };
  switch (outcome.kind) {
    case 'count':
      return {
        payload: {
          type: 'count',
          count: outcome.count,
          ...defined({ count_is_lower_bound: outcome.isLeast || undefined }),
        },
        count: 1,
        tokensUsed: 0,
        grainsReturned: 0,
        extra,
      };
    case 'values':
      return {
        payload: { type: 'values', extractor: outcome.extractor, values: [...outcome.values] },
        count: outcome.values.length,
        tokensUsed: 0,
        grainsReturned: 0,
        extra,
      };
    case 'groups': {
      const shown: Shown = { options, why };
      const groups = outcome.groups.map(
        ({ key, count, grains }): JsonObject => ({
          key,
          count,
          grains: grains.map((grain) => grainJson(grain, shown)),
        }),
      );
      const grainsReturned = outcome.groups.reduce((sum, { grains }) => sum + grains.length, 0);
      return {
        payload: { type: 'groups', field: outcome.field, groups },
        count: groups.length,
        tokensUsed: 0,
        grainsReturned,
        extra,
      };
    }
    case 'grains':
      return { ...grainsAnswer(outcome, { ...recall, with: options }, run, why), extra };
  }
}

function grainsAnswer(
  outcome: Extract<Outcome, { kind: 'grains' }>,
  recall: Partial<Pick<Recall, 'format' | 'stages' | 'recent'>> & { readonly with: readonly WithOption[] },
  run: Run,
  why: string | undefined,
): Answer {
  const { grains, total, select } = outcome;
  const shown: Shown = { select, options: recall.with, why };
  const payload: JsonObject = {
    type: 'grains',
    grains: grains.map((grain) => grainJson(grain, shown)),
    total,
    ...defined({ total_is_lower_bound: outcome.isLeast || undefined }),
    next_cursor: null,
  };
  if (has(recall.with, 'summarize')) payload['summary'] = summaryOf(grains) ?? null;
  const count = grains.length;
  if (recall.format === undefined) warnOfIdle(recall.with, OF_TEXT, 'no format is asked for', run);
  if (recall.format === undefined) return { payload, count, tokensUsed: 0, grainsReturned: count };
  const renderings = resolveFormats(recall.format, (name) => lookUp(run, name));
  const limit = recall.recent ?? recall.stages?.find((stage) => stage.stage === 'limit')?.count;
  const { renderings: rendered, warnings } = renderGrains(grains, renderings, {
    nowMs: run.nowMs,
    counter: tokenCounter(run.session.tokens ?? 'estimate'),
    level: levelOf({ option: disclosureOf(recall.with), budgetTokens: undefined, limit }),
    isoTimestamps: has(recall.with, 'iso_timestamps'),
    project: projectOf(outcome.project),
    step: pace(run),
  });
  run.spent.warnings.push(...warnings);
  const tokensUsed = rendered.reduce((sum, one) => sum + one.tokensUsed, 0);
  const grainCount = Math.max(0, ...rendered.map((one) => one.grainCount));
  Object.assign(payload, formatted(recall.format.kind === 'list', renderings, rendered), { grain_count: grainCount });
  return { payload, count, tokensUsed, grainsReturned: count };
}

/** One text, or one for each key of a list. */
export function formatted(
  isList: boolean,
  renderings: readonly Rendering[],
  rendered: readonly { readonly key: string; readonly content: string | JsonObject[] }[],
): JsonObject {
  const [first] = rendered;
  const [rendering] = renderings;
  if (isList || first === undefined || rendering === undefined)
    return { type: 'multi_formatted', formats: Object.fromEntries(rendered.map(({ key, content }) => [key, content])) };
  return { type: 'formatted', format: formatName(rendering.format), content: first.content };
}

export function lookUp(run: Run, name: string) {
  const { templates } = run.session;
  return Object.hasOwn(templates, name) ? templates[name] : undefined;
}

export function disclosureOf(options: readonly WithOption[]) {
  return options.find((one) => one.option === 'progressive_disclosure');
}

export function projectOf(parts: readonly ProjectPart[] | undefined): Project | undefined {
  if (parts === undefined) return undefined;
  const fieldsOf = (into: ProjectPart['into']): string[] =>
    parts.filter((part) => part.into === into).flatMap(({ fields }) => fields.map(({ word }) => word));
  return { content: fieldsOf('content'), attributes: fieldsOf('attr') };
}
