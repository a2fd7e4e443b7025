// Runs ASSEMBLE: all sources in parallel, each with its own limits and its share of the time, then one text from all of
// them.
import { assert } from '../../base/assert.ts';
import { defined } from '../../base/defined.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';
import type { Assemble, AssembleSource, FormatChoice, Recall, SetOperation, WithOption } from '../ast.ts';
import { CalError, calWarning } from '../errors.ts';
import { type Assembled, type AssembledSource, assemble } from '../output/assembly/assemble.ts';
import { levelOf } from '../output/disclosure.ts';
import type { Rendering } from '../output/formats/choice.ts';
import { resolveFormats } from '../output/formats/choice.ts';
import type { CalGrain } from '../output/grain.ts';
import type { Project } from '../output/projection.ts';
import { tokenCounter } from '../output/tokenizer.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { checkTime, pace } from './bounds.ts';
import { sharesOf } from './cap.ts';
import { contested, showsContested } from './contested.ts';
import { asCalError } from './failure.ts';
import { OF_ANSWER, warnOfIdle } from './idle.ts';
import { type Answer, disclosureOf, formatted, grainJson, has, lookUp, projectOf, shownHash } from './payload.ts';
import { runRecall } from './recall.ts';
import type { Running } from './running.ts';
import type { Run } from './session.ts';
import { runSetOperation } from './set-op.ts';
import type { Outcome } from './stages.ts';
import { together } from './together.ts';
import { whyOf } from './why.ts';

/** The default FORMAT of a statement (D-29). */
const DEFAULT_FORMAT: FormatChoice = { kind: 'one', format: { kind: 'named', name: 'sml' } };

export function* runAssemble(statement: Assemble, run: Run): Running<Answer> {
  if (statement.stream !== undefined)
    throw new CalError('CAL-E079', 'this method returns a single answer and cannot stream', {
      at: statement.stream.at,
    });
  const renderings = resolveFormats(statement.format ?? DEFAULT_FORMAT, (name) => lookUp(run, name));
  for (const { option } of statement.with)
    if (option === 'diversity')
      run.spent.warnings.push(calWarning('CAL-W004', `${option} has no effect on ASSEMBLE: write it in a source`));
  const sources = yield* runSources(statement, run);
  const failed = sources.flatMap(({ label, error }) => (error === undefined ? [] : [{ label, error }]));
  if (failed.length === sources.length) refuseAll(failed, run);
  const assembled = assembleSources(statement, sources, renderings, run);
  run.spent.warnings.push(...assembled.warnings);
  const payload = yield* payloadOf(statement, sources, renderings, assembled, run);
  return {
    payload,
    count: assembled.grains.length,
    tokensUsed: assembled.tokensUsed,
    grainsReturned: assembled.grains.length,
    extra: failed.length === 0 ? {} : { sources_failed: failed.map(({ label }) => label) },
  };
}

function refuseAll(failed: readonly { readonly label: string; readonly error: CalError }[], run: Run): void {
  const [first] = failed;
  if (first === undefined) return;
  if (run.clockMs() > run.untilMs) throw tookTooLong();
  throw new CalError('CAL-E076', `all sources failed, ${first.label} with ${first.error.code}: ${first.error.message}`);
}

/** One text, or one for each FORMAT, from the grains of all sources within the budget. */
function assembleSources(
  statement: Assemble,
  sources: readonly Resolved[],
  renderings: readonly Rendering[],
  run: Run,
): Assembled {
  const options = statement.with;
  const budget = statement.budget && { ...statement.budget, unit: statement.budget.unit ?? ('tokens' as const) };
  const disclosure = disclosureOf(options);
  return assemble({
    name: statement.name,
    intent: statement.for,
    sources: sources.map(({ label, grains, project, error }) => ({
      label,
      grains,
      project,
      failed: error !== undefined,
    })),
    priority: statement.priority.map(({ word }) => word),
    budget,
    renderings,
    dedupField: options.find((one) => one.option === 'dedup')?.field.word,
    level: levelOf({
      option: disclosure,
      budgetTokens:
        budget === undefined || budget.unit === 'tokens'
          ? (budget?.value ?? CAL_LIMITS.budgetTokensDefault)
          : undefined,
    }),
    squeezes: disclosure !== undefined,
    summarizes: has(options, 'summarize'),
    isoTimestamps: has(options, 'iso_timestamps'),
    autoToon: run.session.autoToon && statement.format === undefined,
    nowMs: run.nowMs,
    counter: tokenCounter(run.session.tokens ?? 'estimate'),
    step: pace(run, tookTooLong),
  });
}

function* payloadOf(
  statement: Assemble,
  sources: readonly Resolved[],
  renderings: readonly Rendering[],
  assembled: Assembled,
  run: Run,
): Running<JsonObject> {
  const options = statement.with;
  const why = has(options, 'explanation') ? reasonsOf(statement, assembled.sources) : undefined;
  const grains = has(options, 'contradiction_detection') ? yield* contested(assembled.grains, run) : assembled.grains;
  const { type: _, ...contents } = formatted(statement.format?.kind === 'list', renderings, assembled.renderings);
  // The server chose the format, because the query has none.
  if (assembled.warnings.some((warning) => warning.startsWith('CAL-W005'))) contents['format'] = 'toon';
  const about = new Map(sources.map((source) => [source.label, source.about]));
  return {
    type: 'assembled',
    context: statement.name ?? null,
    intent: statement.for ?? null,
    ...contents,
    grains: grains.map((grain) => grainJson(grain, { options, why: why?.get(grain.hash) })),
    sources: assembled.sources.map((source) => sourceJson(source, about.get(source.label))),
    budget: { ...assembled.budget },
    disclosure: assembled.disclosure,
  };
}

function sourceJson(source: AssembledSource, about: Resolved['about']): JsonObject {
  return defined({
    label: source.label,
    rank: source.rank,
    grain_count: source.grainCount,
    tokens_allocated: source.tokensAllocated,
    tokens_used: source.tokensUsed,
    truncated: source.truncated,
    about,
    summary: source.summary,
    grains: source.hashes.map(shownHash),
  });
}

export function tookTooLong(): CalError {
  return new CalError('CAL-E075', 'ASSEMBLE took too long');
}

interface Resolved {
  readonly label: string;
  readonly grains: readonly CalGrain[];
  readonly project: Project | undefined;
  /** How ABOUT found the grains. */
  readonly about?: NonNullable<Outcome['about']> | undefined;
  readonly error: CalError | undefined;
}

function* runSources(statement: Assemble, run: Run): Running<Resolved[]> {
  const { sources } = statement;
  const share = Math.min(run.session.assembleTimeoutMs / sources.length, CAL_LIMITS.sourceTimeoutMs);
  const within: Run = { ...run, untilMs: Math.min(run.untilMs, run.clockMs() + share) };
  const ended = yield* together(sources.map((source) => runSource(withOptions(source, statement.with), within)));
  const shares = sharesOf(
    ended.map((one) => ('value' in one ? one.value.grains.length : 0)),
    run.recallMax,
  );
  return ended.map((one, i): Resolved => {
    const source = sources[i];
    assert(source !== undefined, 'every source has ended');
    const label = source.label?.word ?? `s${i}`;
    if ('value' in one) return { label, ...one.value, grains: one.value.grains.slice(0, shares[i]), error: undefined };
    return { label, grains: [], project: undefined, error: asCalError(one.error) };
  });
}

/** Why each grain is included, by hash: the conditions of its source. */
function reasonsOf(
  { sources }: Assemble,
  assembled: readonly { readonly label: string; readonly hashes: readonly string[] }[],
): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const [i, { label, from }] of sources.entries()) {
    if (from.kind !== 'recall') continue;
    const why = whyOf(from);
    const hashes = assembled.find((one) => one.label === (label?.word ?? `s${i}`))?.hashes ?? [];
    for (const hash of hashes) reasons.set(hash, why);
  }
  return reasons;
}

/** The source, with old versions if they are wanted from all sources. A LET has its own options. */
function withOptions(source: AssembleSource, options: Assemble['with']): AssembleSource {
  const { from } = source;
  const old = options.find(({ option }) => option === 'superseded');
  return old === undefined || from.kind === 'parameter' ? source : { ...source, from: withOld(from, old) };
}

function withOld(from: Recall | SetOperation, old: WithOption): Recall | SetOperation {
  if (from.kind === 'set_op') return { ...from, operands: from.operands.map((operand) => withOld(operand, old)) };
  return has(from.with, old.option) ? from : { ...from, with: [...from.with, old] };
}

function* runSource({ from }: AssembleSource, run: Run): Running<Pick<Resolved, 'grains' | 'project' | 'about'>> {
  if (from.kind === 'parameter') {
    const bound = run.lets.get(from.name);
    if (bound?.kind === 'grains') return { grains: bound.grains, project: undefined, about: bound.about };
    throw new CalError('CAL-E020', `$${from.name} is not a set of grains`, { at: from.at });
  }
  if (from.kind === 'recall') warnOfIdle(from.with, OF_ANSWER, 'write it after the sources of ASSEMBLE', run);
  const outcome = yield* from.kind === 'recall' ? runRecall(from, run) : runSetOperation(from, run);
  checkTime(run);
  if (outcome.kind === 'grains') {
    const grains = showsContested(outcome) ? yield* contested(outcome.grains, run) : outcome.grains;
    return { grains, project: projectOf(outcome.project), about: outcome.about };
  }
  throw new CalError('CAL-E021', 'a source of ASSEMBLE must return grains', { at: from.at });
}
