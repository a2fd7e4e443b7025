// CAL's output from grains that were already found: three sources in one text within 900 tokens, by format, and twenty
// grains of a recall as SML. One thread, no store; other scenarios measure the recalls.
import { FORMATS, type FormatName } from '../../src/engine/cal/ast.ts';
import { assemble } from '../../src/engine/cal/output/assembly/assemble.ts';
import type { Assembly } from '../../src/engine/cal/output/assembly/assembly.ts';
import { type Rendering, resolveFormats } from '../../src/engine/cal/output/formats/choice.ts';
import type { CalGrain } from '../../src/engine/cal/output/grain.ts';
import { renderGrains } from '../../src/engine/cal/output/render.ts';
import { ESTIMATE } from '../../src/engine/cal/output/tokens.ts';
import { type Measured, type Options, type Scenario, sized } from '../lib/scenario.ts';
import { median, rounded } from '../lib/statistics.ts';

const NOW_MS = Date.UTC(2026, 2, 10);
const BUDGET_TOKENS = 900;
/** The default LIMIT of each source. */
const GRAINS = 20;
const WARM_UP_ROUNDS = 5;
const ROUNDS = 11;
const TEMPLATE =
  '- [{{grain.type}}] {{grain.content}}{{#grain.confidence}} ({{grain.confidence}}){{/grain.confidence}}';

export const scenario: Scenario = {
  name: 'cal-assemble',
  about: 'three sources in one text within 900 tokens, by format',
  aims: [
    { metric: 'assemble_sml_ms', atMost: 0.5 },
    { metric: 'assemble_markdown_ms', atMost: 0.5 },
    { metric: 'assemble_toon_ms', atMost: 0.5 },
    { metric: 'assemble_template_ms', atMost: 0.5 },
    { metric: 'recall_sml_ms', atMost: 0.2 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const repeats = sized(size, { full: 400, quick: 100, smoke: 1 });
  const sources = [sourceOf('beliefs', belief), sourceOf('goals', goal), sourceOf('events', event)];
  const plan = (renderings: readonly Rendering[], more: Partial<Assembly> = {}): Assembly => ({
    ...{ name: 'agent_context', intent: 'prepare the review', sources, priority: ['goals'], renderings },
    ...{ budget: { value: BUDGET_TOKENS, unit: 'tokens' }, level: 'standard', nowMs: NOW_MS, ...more },
  });
  const metrics: Record<string, number> = {};
  for (const name of FORMATS) metrics[`assemble_${name}_ms`] = medianMs(() => assemble(plan(named(name))), repeats);
  const template = resolveFormats({ kind: 'one', format: { kind: 'template_text', text: TEMPLATE } }, () => undefined);
  metrics['assemble_template_ms'] = medianMs(() => assemble(plan(template)), repeats);
  metrics['assemble_full_squeezed_ms'] = medianMs(
    () => assemble(plan(named('sml'), { level: 'full', squeezes: true })),
    repeats,
  );
  metrics['recall_sml_ms'] = medianMs(
    () => renderGrains(sources[0]!.grains, named('sml'), { nowMs: NOW_MS, level: 'standard' }),
    repeats,
  );
  const result = assemble(plan(named('sml')));
  const text = String(result.renderings[0]!.content);
  metrics['estimate_us'] = medianMs(() => ESTIMATE.count(text), 50 * repeats) * 1000;
  return {
    parameters: { sources: sources.length, grains_a_source: GRAINS, budget_tokens: BUDGET_TOKENS, repeats },
    metrics: rounded({ ...metrics, grains_included: result.grains.length, tokens_used: result.tokensUsed }),
  };
}

function named(name: FormatName): readonly Rendering[] {
  return [{ key: name, format: { kind: 'named', name } }];
}

function sourceOf(
  label: string,
  make: (i: number) => Pick<CalGrain, 'grainType' | 'fields'>,
): Assembly['sources'][number] {
  return {
    label,
    grains: Array.from({ length: GRAINS }, (_, i) => ({
      ...make(i),
      hash: `${label}${i}`.padEnd(64, '0'),
      createdAtMs: NOW_MS - i * 3_600_000,
      namespace: 'shared',
      score: 1,
    })),
  };
}

const common = {
  confidence: 0.9,
  tags: ['review', 'quarter'],
  source_type: 'user',
  temporal_type: 'state',
  namespace: 'shared',
};

function belief(i: number): Pick<CalGrain, 'grainType' | 'fields'> {
  const object = `dashboards with the numbers of quarter ${i % 4} on one page, and no meeting before ${8 + (i % 3)}`;
  return { grainType: 'belief', fields: { ...common, subject: 'alice', relation: 'mg:prefers', object } };
}

function goal(i: number): Pick<CalGrain, 'grainType' | 'fields'> {
  const description = `finish part ${i} of the engineering review and send it to the reliability team`;
  const deadline = NOW_MS / 1000 + i * 86_400;
  return { grainType: 'goal', fields: { ...common, subject: 'alice', description, goal_state: 'active', deadline } };
}

function event(i: number): Pick<CalGrain, 'grainType' | 'fields'> {
  const content = `Can you pull the metrics of week ${i} together, with incidents first — "deployments" can wait?`;
  return { grainType: 'event', fields: { ...common, role: i % 2 === 0 ? 'user' : 'assistant', content } };
}

/**
 * Median over rounds of this thread's CPU milliseconds per call, after warming up: other load on the machine matters
 * less.
 */
function medianMs(work: () => unknown, repeats: number): number {
  let kept: unknown;
  const times: number[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    const start = process.threadCpuUsage();
    for (let repeat = 0; repeat < repeats; repeat++) kept = work();
    const { user, system } = process.threadCpuUsage(start);
    times.push((user + system) / (1000 * repeats));
  }
  if (kept === undefined) throw new Error('work was not done');
  return median(times.slice(WARM_UP_ROUNDS));
}
