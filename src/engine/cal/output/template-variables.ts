// The variables of templates. The set is closed: a template can read nothing else of the server, the session or a grain.
import { fieldValue } from './fields.ts';
import { type Group, type Setting, type Tally, tagOf } from './formats/format.ts';
import type { CalGrain } from './grain.ts';
import { humanizeRelation, isoInstant, relativeTime } from './humanize.ts';
import { project, type View } from './projection.ts';

/** The values that a section can use. Header and footer have no `group` and no `grain`; a source break has no `grain`. */
export interface Scope {
  readonly setting: Setting;
  readonly sourceCount: number;
  readonly grainCount: number;
  readonly tally?: Tally | undefined;
  readonly group?: Omit<Group, 'elements' | 'omissions'> & { readonly grainCount: number };
  readonly grain?: CalGrain;
  readonly view?: View;
}

type Read = (scope: Scope) => string | number | boolean | undefined;

const ofGrain =
  (read: (grain: CalGrain, scope: Scope) => ReturnType<Read>): Read =>
  (scope) =>
    scope.grain === undefined ? undefined : read(scope.grain, scope);
const ofField = (field: string): Read =>
  ofGrain((grain) => {
    const value = fieldValue(grain, field);
    return typeof value === 'object' ? value.join(', ') : value;
  });

const READS = {
  'assembly.name': ({ setting }) => setting.name,
  'assembly.intent': ({ setting }) => setting.intent,
  'assembly.source_count': ({ sourceCount }) => sourceCount,
  'assembly.grain_count': ({ grainCount }) => grainCount,
  'budget.total': ({ tally }) => tally?.total,
  'budget.used': ({ tally }) => tally?.used,
  'budget.remaining': ({ tally }) => tally && Math.max(0, tally.total - tally.used),
  'budget.unit': ({ tally }) => tally?.unit,
  'budget.utilization': ({ tally }) => tally && utilization(tally),
  'disclosure.level': ({ setting, view }) => view?.level ?? setting.level,
  timestamp: ({ setting }) => isoInstant(setting.nowMs),
  'source.label': ({ group }) => group?.label,
  'source.index': ({ group }) => group?.index,
  'source.priority': ({ group }) => group?.rank,
  'source.grain_count': ({ group }) => group?.grainCount,
  'source.tokens_used': ({ group }) => group?.tokensUsed,
  'source.truncated': ({ group }) => group?.truncated,
  'grain.content': ofGrain((grain, { view }) => view && project(grain, view).text),
  'grain.type': ofGrain((grain) => tagOf(grain.grainType)),
  'grain.subject': ofField('subject'),
  'grain.relation': ofField('relation'),
  'grain.humanized_relation': ofGrain((grain) => {
    const relation = fieldValue(grain, 'relation');
    return typeof relation === 'string' ? humanizeRelation(relation) : undefined;
  }),
  'grain.object': ofField('object'),
  'grain.confidence': ofField('confidence'),
  'grain.importance': ofField('importance'),
  'grain.tags': ofField('tags'),
  'grain.created_at': ofGrain((grain) => isoInstant(grain.createdAtMs)),
  'grain.relative_time': ofGrain((grain, { setting }) => {
    const time = Number(fieldValue(grain, 'time'));
    return setting.isoTimestamps ? isoInstant(time) : relativeTime(time, setting.nowMs);
  }),
  'grain.score': ofGrain((grain) => grain.score),
  // The only way to get an address into formatted text (D-30).
  'grain.hash': ofGrain((grain) => `sha256:${grain.hash}`),
  'grain.is_full': ({ view }) => view?.level === 'full',
  'grain.is_summary': ({ view }) => view?.level === 'summary',
} as const satisfies Readonly<Record<string, Read>>;

export type Variable = keyof typeof READS;

/** In the order of DESCRIBE. */
export const VARIABLES: readonly Variable[] = Object.keys(READS).filter(isVariable);

export function isVariable(name: string): name is Variable {
  return Object.hasOwn(READS, name);
}

/** The value of a variable in `scope`; undefined if it has none there. */
export function variableValue(variable: Variable, scope: Scope): ReturnType<Read> {
  return READS[variable](scope);
}

/** The used share of a budget, 0 to 1, rounded to four places. */
export function utilization({ used, total }: Pick<Tally, 'used' | 'total'>): number {
  return Math.round((used / total) * 10_000) / 10_000;
}

/** Variables whose value is known only after all grains are chosen. */
export const LATE: ReadonlySet<Variable> = new Set([
  'assembly.grain_count',
  'budget.used',
  'budget.remaining',
  'budget.utilization',
  'source.grain_count',
  'source.tokens_used',
  'source.truncated',
]);
