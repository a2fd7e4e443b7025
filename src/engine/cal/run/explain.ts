// Runs EXPLAIN: shows how a statement would run. Opens no grain. The estimate for a condition comes from its index
// alone, within the session's namespace.

import { ask } from '../../asking/asking.ts';
import { defined } from '../../base/defined.ts';
import type { GrainFilter } from '../../calls/grain.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';
import type { Explain, Recall, Stage, Statement } from '../ast.ts';
import { EXTENSIONS } from '../vocabulary/extensions.ts';
import { fieldNamed } from '../vocabulary/fields.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { checkTime } from './bounds.ts';
import { type Conditions, conditionsOf, type Met } from './conditions.ts';
import { statementType, tierOf } from './kinds.ts';
import type { Running } from './running.ts';
import type { Run } from './session.ts';

/** Stands in for unknown parameter values, so that their conditions can be listed. It is valid as text and as time. */
const UNKNOWN = '2000-01-01';

export function* runExplain({ statement }: Explain, run: Run): Running<JsonObject> {
  const plan = yield* planOf(statement, run);
  if (run.extensions.length > 0) plan['extensions'] = run.extensions.map((name) => EXTENSIONS[name].says);
  return { type: 'explain', plan };
}

function* planOf(statement: Explain['statement'] | Statement, run: Run): Running<JsonObject> {
  const base: JsonObject = { statement_type: statementType(statement), tier: tierOf(statement) };
  switch (statement.kind) {
    case 'recall':
      return { ...base, ...(yield* recallPlan(statement, run)) };
    case 'set_op': {
      const operands: JsonObject[] = [];
      for (const operand of statement.operands) operands.push(yield* planOf(operand, run));
      return {
        ...base,
        operator: statement.operator,
        operands,
        stages: stageNames(statement.stages),
        limits: LIMITS,
        ...costOf(operands),
      };
    }
    case 'coalesce': {
      const branches: JsonObject[] = [];
      for (const branch of statement.branches) branches.push(yield* planOf(branch, run));
      return { ...base, branches, limits: LIMITS, ...costOf(branches) };
    }
    case 'batch': {
      const entries: JsonObject[] = [];
      for (const { label, statement: entry } of statement.entries)
        entries.push({ label: label.word, ...(yield* planOf(entry, run)) });
      return { ...base, entries, limits: LIMITS, ...costOf(entries) };
    }
    case 'assemble': {
      const sources: JsonObject[] = [];
      for (const [i, { label, from }] of statement.sources.entries()) {
        const name = label?.word ?? `s${i}`;
        sources.push(
          from.kind === 'parameter'
            ? { label: name, parameter: from.name }
            : { label: name, ...(yield* planOf(from, run)) },
        );
      }
      const { value, unit = 'tokens' } = statement.budget ?? {
        value: CAL_LIMITS.budgetTokensDefault,
        unit: 'tokens' as const,
      };
      return { ...base, sources, budget: { total: value, unit }, limits: LIMITS, ...costOf(sources) };
    }
    case 'add':
      return write(base, run, [`one new ${statement.grainType.word}`]);
    case 'supersede':
      return write(base, run, ['one new version of the grain', 'the grain that it is of becomes superseded']);
    case 'revert':
      return write(base, run, [
        'one new version with the content of the version before',
        'the newest version becomes superseded',
      ]);
    default:
      return { ...base, limits: LIMITS, estimated_cost: 1 };
  }
}

function write(base: JsonObject, run: Run, sideEffects: string[]): JsonObject {
  return {
    ...base,
    side_effects: sideEffects,
    tier1_enabled: run.session.tierOneEnabled,
    limits: LIMITS,
    estimated_cost: 1,
  };
}

const LIMITS: JsonObject = {
  limit_default: CAL_LIMITS.limitDefault,
  limit_max: CAL_LIMITS.limitMax,
  grains_scanned_max: CAL_LIMITS.grainsScannedMax,
};

function stageNames(stages: readonly Stage[]): string[] {
  return stages.map(({ stage }) => stage);
}

function costOf(plans: readonly JsonObject[]): JsonObject {
  const cost = plans.reduce(
    (sum, { estimated_cost }) => sum + (typeof estimated_cost === 'number' ? estimated_cost : 0),
    0,
  );
  return { estimated_cost: cost };
}

function* recallPlan(recall: Recall, run: Run): Running<JsonObject> {
  const meaning = {
    nowMs: run.nowMs,
    namespace: run.namespace,
    userId: run.userId ?? UNKNOWN,
    valuesOf: () => [UNKNOWN],
  };
  const conditions = conditionsOf(recall, meaning, () => undefined);
  const { counts } = yield* ask('estimate', { filters: estimates(conditions) });
  checkTime(run);
  const route = routeOf(recall, conditions);
  const filters = conditions.met.map(({ name }) => name);
  const indexes = conditions.met.map(
    (met, i): JsonObject => shownIndex(met, counts.find(({ name }) => name === String(i))?.grains),
  );
  const residual = conditions.met.filter(({ index }) => index === undefined).map(({ name }) => name);
  const all = counts.find(({ name }) => name === ALL)?.grains ?? 0;
  return defined({
    grain_type: recall.grainType?.word ?? null,
    route,
    about: recall.about === undefined ? undefined : 'subject, then query',
    filters,
    indexes,
    residual,
    order: orderName(recall, route),
    stages: stageNames(recall.stages),
    options: recall.with.map(({ option }) => option),
    limits: LIMITS,
    estimated_grains: all,
    estimated_cost: residual.length > 0 ? all : Math.min(all, CAL_LIMITS.limitDefault),
  });
}

const ALL = 'all';

function estimates({ met, filter }: Conditions): { name: string; filter: GrainFilter }[] {
  const single = met.flatMap(({ filter: one }, i) => (one === undefined ? [] : [{ name: String(i), filter: one }]));
  return [{ name: ALL, filter }, ...single].slice(0, ESTIMATES_MAX);
}

/** Maximum number of index lists to count for one plan. */
const ESTIMATES_MAX = 64;

function shownIndex({ name, index }: Met, grains: number | undefined): JsonObject {
  return defined({ filter: name, index: index ?? 'none: grains are opened', grains });
}

function routeOf({ about }: Recall, { text, met }: Conditions): 'structural' | 'search' | 'hybrid' {
  if (text === undefined) return about === undefined ? 'structural' : 'hybrid';
  return met.some(({ index }) => index !== 'text') ? 'hybrid' : 'search';
}

function orderName(recall: Recall, route: string): string {
  if (recall.recent !== undefined) return 'time descending';
  if (recall.thread !== undefined) return 'time ascending';
  const order = recall.stages.find((stage) => stage.stage === 'order_by');
  if (order !== undefined)
    return [order, ...(order.next === undefined ? [] : [order.next])]
      .map(({ field, descending }) => `${fieldNamed(field.word)} ${descending === true ? 'descending' : 'ascending'}`)
      .join(', then ');
  return route === 'structural' ? 'hash' : 'score, then hash';
}
