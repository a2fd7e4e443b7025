// Writes what documents take from the code: the table of a recall's fields in docs/recall.md, that of the tools in docs/mcp.md
// (from what `npm run client` made of the operation table), the exit codes in docs/command-line.md, and the pages of
// scripts/reference.ts: `npm run docs`. A test compares.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_MEANINGS } from '../src/cli/exit-codes.ts';
import { TOOLS } from '../src/mcp/gen/tools.ts';
import type { Tool } from '../src/mcp/tool.ts';
import { toSnake } from '../src/server/operations/names.ts';
import { RecallInput } from '../src/server/operations/recall/fields.ts';
import { referencePages } from './reference.ts';

type Field = keyof typeof RecallInput.properties;
type TestName = readonly [file: string, name: string];

const RECALL = 'test/conformance/cases/recall.ts';
const STAGES = 'test/conformance/cases/stages.ts';
const BACKFILL = 'src/engine/recall/stages/backfill.test.ts';
const STRUCTURE: TestName = [RECALL, 'structure, users, types, tags, times and thresholds narrow what is found'];
const CONTRADICTIONS: TestName = [STAGES, 'detect_contradictions marks and demotes, include_contradicted false drops'];
const SCOPES: TestName = [
  STAGES,
  'scope_path sees its line and what lies below, include_siblings what lies beside it, the deepest scope holds',
];
const DUPLICATES: TestName = [
  STAGES,
  'deduplicate and conflict_resolution leave one of what says the same, or of what is no longer so',
];
const CONTAINS: TestName = [STAGES, 'subject_contains and object_contains narrow by parts of names'];
const OLD_VERSIONS: TestName = [
  STAGES,
  'exclude_superseded false demotes old versions, aggregation_intent counts them like the others',
];
const TIMES: TestName = [STAGES, 'recency_weight favours the young, target_date what is near it'];
const ANNOTATIONS: TestName = [
  STAGES,
  'include_sources, count_entities, annotate_relative_time and explanation say more of what was found',
];
const MORE_LEGS: TestName = [STAGES, 'multi_hop, query_expansion and query_decompose find what the words alone do not'];
const NAMESPACES: TestName = [STAGES, 'max_namespaces and min_per_namespace choose among namespaces'];
const CENSUS: TestName = [BACKFILL, 'session_census_min_per_session, _min_score and _max_queries bound what it adds'];

/** The test that shows what each field does. A field without one does not compile. */
const TESTS: Readonly<Record<Field, TestName>> = {
  query: [RECALL, 'words and their operators find what holds them'],
  subject: STRUCTURE,
  relation: STRUCTURE,
  object: STRUCTURE,
  namespace: STRUCTURE,
  userId: STRUCTURE,
  grainType: STRUCTURE,
  timeStart: STRUCTURE,
  timeEnd: STRUCTURE,
  confidenceThreshold: STRUCTURE,
  importanceThreshold: STRUCTURE,
  limit: [RECALL, 'the limit cuts the end off'],
  temporalExpr: [
    'src/server/operations/grains/grains.test.ts',
    'a time phrase is combined with time_start and time_end, from the reference date on',
  ],
  tags: STRUCTURE,
  excludeTags: STRUCTURE,
  detectContradictions: CONTRADICTIONS,
  scopePath: SCOPES,
  includeSiblings: SCOPES,
  deduplicate: DUPLICATES,
  deduplicateThreshold: [
    'src/engine/recall/stages/duplicates.test.ts',
    'deduplicate_threshold sets how similar equal statements are',
  ],
  subjectContains: CONTAINS,
  objectContains: CONTAINS,
  excludeSuperseded: OLD_VERSIONS,
  includeContradicted: CONTRADICTIONS,
  embedding: [
    'test/embedding.test.ts',
    'a vector from the caller replaces the server’s own, and must have the same dimensions',
  ],
  candidateLimit: [
    'src/server/operations/recall/fields.test.ts',
    'candidate_limit bounds the first stage, and exhaustive widens it',
  ],
  minScore: [STAGES, 'min_score drops what hardly matches, never what structure alone found'],
  scoreBreakdown: [STAGES, 'score_breakdown accounts for every score: base and changes add up'],
  explanation: [
    'src/engine/recall/stages/run.test.ts',
    'explanation states every number of the account in plain English',
  ],
  recencyWeight: TIMES,
  conflictResolution: DUPLICATES,
  recordProvenance: ['test/conformance/trail.test.ts', 'a recall leaves a record of its request and result'],
  entity: ['src/server/operations/recall/fields.test.ts', 'entity takes priority over subject, relation and object'],
  rerank: [
    'test/recall-models.test.ts',
    'rerank and llm_rerank put hits in the order of their models, over one partition and four, over HTTP and gRPC',
  ],
  diversityLambda: [STAGES, 'diversity_lambda chooses what differs, in order of score'],
  queryExpansion: [STAGES, 'query_expansion finds by words of the memory that a mistyped one may mean'],
  hyde: ['test/recall-models.test.ts', 'hyde searches by similarity to a hypothetical answer'],
  llmRerank: ['test/recall-models.test.ts', 'models that fail leave the ranking as it is, with a warning each'],
  temporalField: [
    'src/engine/recall/stages/time.test.ts',
    'temporal_field chooses the time that is compared with the target date',
  ],
  includeSources: ANNOTATIONS,
  annotateRelativeTime: ANNOTATIONS,
  referenceDate: ['src/engine/recall/stages/time.test.ts', 'reference_date is the present of relative times'],
  sessionAffinityBoost: [STAGES, 'session_affinity_boost and subject_affinity_boost favour what leads'],
  subjectAffinityBoost: [
    'src/engine/recall/stages/affinity.test.ts',
    'subject_affinity_boost raises hits about the subject that leads',
  ],
  multiHop: MORE_LEGS,
  targetDate: TIMES,
  targetDateWeight: TIMES,
  queryDecompose: MORE_LEGS,
  conflictSimilarityThreshold: [
    'src/engine/recall/stages/duplicates.test.ts',
    'conflict_similarity_threshold keeps objects that are unlike the newest',
  ],
  countEntities: ANNOTATIONS,
  minPerNamespace: NAMESPACES,
  maxNamespaces: NAMESPACES,
  exhaustive: [STAGES, 'exhaustive follows the entities of what it finds'],
  exhaustiveMaxRounds: [BACKFILL, 'exhaustive_max_rounds ends it early, and a round adds at most twenty above 0.60'],
  sessionCensus: [STAGES, 'session_census asks the sessions that the answer lacks'],
  sessionCensusMinPerSession: CENSUS,
  sessionCensusMinScore: CENSUS,
  sessionCensusMaxQueries: CENSUS,
  aggregationIntent: OLD_VERSIONS,
  preferenceEnrichment: [STAGES, 'preference_enrichment adds what was said around a preference'],
};

const BEGIN = '<!-- The table is made by `npm run docs`. -->\n';
const END = '<!-- End of the table. -->\n';

interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: FieldSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly default?: unknown;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'boolean',
  integer: 'integer',
  number: 'number',
};

function typeOf({ type = '', enum: values, items, minimum, maximum }: FieldSchema): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  if (items !== undefined) return `list of ${typeOf(items)}s`;
  const name = TYPES[type] ?? type;
  // The bounds of seconds only tell them from milliseconds.
  if (minimum === undefined || minimum < 0) return name;
  return maximum === undefined ? `${name} from ${minimum}` : `${name} from ${minimum} to ${maximum}`;
}

/** A cell: a bar would end it. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function rowOf([field, schema]: [string, FieldSchema], at: number): string {
  const [file, test] = TESTS[field as Field]; // a member of the schema
  const { default: fallback, description = '' } = schema;
  const shown = fallback === undefined ? '' : `\`${String(fallback)}\``;
  const cells = [`${at + 1}`, `\`${toSnake(field)}\``, typeOf(schema), shown, description, `${file}: "${test}"`];
  return `| ${cells.map(cell).join(' | ')} |\n`;
}

/** docs/recall.md with its table as the schema has it. Throws without the marks around the table. */
export function withTable(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error('docs/recall.md has no marks around its table');
  const head = '\n| No | Field | Takes | Default | What it does | Test |\n| --- | --- | --- | --- | --- | --- |\n';
  const rows = Object.entries(RecallInput.properties as Readonly<Record<string, FieldSchema>>).map(rowOf);
  return `${page.slice(0, begin)}${BEGIN}${head}${rows.join('')}\n${page.slice(end)}`;
}

const TOOLS_BEGIN = '<!-- The tools are made by `npm run docs`. -->\n';
const TOOLS_END = '<!-- End of the tools. -->\n';

function toolRow({ name, description, inputSchema, changes, profile }: Tool): string {
  const required = new Set(inputSchema.required ?? []);
  const takes = Object.keys(inputSchema.properties).map((member) => `\`${member}\`${required.has(member) ? '' : '?'}`);
  return `| ${[`\`${name}\``, profile, takes.join(', '), changes ? 'writes' : 'reads', description].map(cell).join(' | ')} |\n`;
}

/** docs/mcp.md with the tools as they are. Throws without the marks around them. */
export function withTools(page: string): string {
  const [begin, end] = [page.indexOf(TOOLS_BEGIN), page.indexOf(TOOLS_END)];
  if (begin === -1 || end < begin) throw new Error('docs/mcp.md has no marks around its tools');
  const head = '\n| tool | profile | takes (?: optional) | effect | purpose |\n| --- | --- | --- | --- | --- |\n';
  return `${page.slice(0, begin)}${TOOLS_BEGIN}${head}${TOOLS.map(toolRow).join('')}\n${page.slice(end)}`;
}

const EXITS_BEGIN = '<!-- The exit codes are made by `npm run docs`. -->\n';
const EXITS_END = '<!-- End of the exit codes. -->\n';

/** docs/command-line.md with the exit codes as they are. Throws without the marks around them. */
export function withExitCodes(page: string): string {
  const [begin, end] = [page.indexOf(EXITS_BEGIN), page.indexOf(EXITS_END)];
  if (begin === -1 || end < begin) throw new Error('docs/command-line.md has no marks around its exit codes');
  const rows = Object.entries(EXIT_MEANINGS).flatMap(([command, meanings]) =>
    meanings.map(([code, meaning]) => {
      const text = meaning.replaceAll(/--[a-z-]+/g, '`$&`');
      return `| ${command === 'every command' ? command : `\`${command}\``} | ${code} | ${text} |\n`;
    }),
  );
  const head = '\n| command | exit code | meaning |\n| --- | --- | --- |\n';
  return `${page.slice(0, begin)}${EXITS_BEGIN}${head}${rows.join('')}\n${page.slice(end)}`;
}

if (import.meta.main) {
  const docs = join(import.meta.dirname, '..', 'docs');
  for (const [name, made] of [
    ['recall.md', withTable],
    ['mcp.md', withTools],
    ['command-line.md', withExitCodes],
  ] as const) {
    const file = join(docs, name);
    writeFileSync(file, made(readFileSync(file, 'utf8')));
  }
  mkdirSync(join(docs, 'reference'), { recursive: true });
  for (const [page, text] of referencePages()) writeFileSync(join(docs, page), text);
}
