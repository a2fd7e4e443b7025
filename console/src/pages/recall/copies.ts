// A recall as others ask for it: a command line of curl, a line of TypeScript, a query in CAL.
import type { Json } from 'granary-client';
import { camelCase, type Settings } from './fields.ts';

export interface Asking {
  /** Address of the server, with a slash at its end. */
  readonly server: string;
  readonly memory: string;
  readonly query: string;
  readonly settings: Settings;
}

export function curlOf({ server, memory, query, settings }: Asking): string {
  const body = JSON.stringify({ ...(query === '' ? undefined : { query }), ...settings });
  return [
    `curl ${shellWord(`${server}api/memories/${encodeURIComponent(memory)}/recall`)}`,
    `  -H "authorization: Bearer $GRANARY_API_KEY" -H "content-type: application/json"`,
    `  -d ${shellWord(body)}`,
  ].join(' \\\n');
}

/** Text in single quotes, in which a shell changes nothing. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function typeScriptOf({ memory, query, settings }: Asking): string {
  const members = Object.entries(settings).map(([name, value]) => `${camelCase(name)}: ${valueText(name, value)}`);
  const input = members.length === 0 ? '' : `, { ${members.join(', ')} }`;
  return `const { results } = await granary.memory(${JSON.stringify(memory)}).recall(${JSON.stringify(query)}${input});`;
}

/** Times are dates in the client. */
const TIMES: ReadonlySet<string> = new Set(['time_start', 'time_end', 'reference_date', 'target_date']);

function valueText(name: string, value: Json): string {
  return TIMES.has(name) && typeof value === 'number' ? `new Date(${value} * 1000)` : JSON.stringify(value);
}

const PLURALS: Readonly<Record<string, string>> = { consensus: 'consensuses' };

/** Conditions of CAL by the field that each stands for. */
const CONDITIONS: Readonly<Record<string, (value: Json) => string>> = {
  subject: (value) => `subject = ${calText(value)}`,
  relation: (value) => `relation = ${calText(value)}`,
  object: (value) => `object = ${calText(value)}`,
  user_id: (value) => `user_id = ${calText(value)}`,
  confidence_threshold: (value) => `confidence >= ${String(value)}`,
  importance_threshold: (value) => `importance >= ${String(value)}`,
  tags: (value) => `tags INCLUDE ${calList(value)}`,
  exclude_tags: (value) => `tags EXCLUDE ${calList(value)}`,
  temporal_expr: (value) => `time = ${calText(value)}`,
};

/** Options of CAL by the field that each stands for; empty for a value that needs none. */
const OPTIONS: Readonly<Record<string, (value: Json) => string>> = {
  exclude_superseded: (value) => (value === false ? 'superseded' : ''),
  detect_contradictions: (value) => (value === true ? 'contradiction_detection' : ''),
  score_breakdown: (value) => (value === true ? 'score_breakdown' : ''),
  explanation: (value) => (value === true ? 'explanation' : ''),
  diversity_lambda: (value) => `diversity(mmr, lambda = ${String(value)})`,
};

/** Fields with a clause of their own. */
const CLAUSES: ReadonlySet<string> = new Set(['grain_type', 'namespace', 'scope_path', 'limit']);

/** The nearest query in CAL. Fields that CAL has no words for are named in a comment. */
export function calOf({ query, settings }: Asking): string {
  const { grain_type: type, namespace, scope_path: scope, limit } = settings;
  const names = Object.keys(settings);
  const conditions = names.flatMap((name) => CONDITIONS[name]?.(settings[name] ?? null) ?? []);
  const options = names.flatMap((name) => OPTIONS[name]?.(settings[name] ?? null) ?? []).filter((one) => one !== '');
  const left = names.filter((name) => !CLAUSES.has(name) && !(name in CONDITIONS) && !(name in OPTIONS));
  const clauses = [
    typeof type === 'string' ? `RECALL ${PLURALS[type] ?? `${type}s`}` : 'RECALL',
    ...(conditions.length === 0 ? [] : [`WHERE ${conditions.join(' AND ')}`]),
    ...(typeof namespace === 'string' ? [`IN ${calText(namespace)}`] : []),
    ...(typeof scope === 'string' ? [`IN SCOPE ${calText(scope)}`] : []),
    ...(query === '' ? [] : [`LIKE ${calText(query)}`]),
    ...(options.length === 0 ? [] : [`WITH ${options.join(', ')}`]),
    ...(typeof limit === 'number' && limit > 0 ? [`LIMIT ${limit}`] : []),
  ];
  const note = left.length === 0 ? '' : `-- CAL has no words for ${left.join(', ')}\n`;
  return `${note}${clauses.join(' ')}`;
}

function calText(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function calList(value: Json): string {
  return `[${(Array.isArray(value) ? value : [value]).map(calText).join(', ')}]`;
}
