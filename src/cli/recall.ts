// `granary recall`: finds grains by words, by structure, or both, within a time span.
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { parseJson } from '../engine/grain/api/json.ts';
import { type JsonObject, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import type { RecallRequest } from '../server/gen/memory/v1/memory.ts';
import { readPhrase, type TimeSpan } from '../server/operations/recall/time-phrase.ts';
import type { QueryMode } from '../server/query-mode.ts';
import { usage } from './failure.ts';
import { type Hit, hitJson, printHits } from './hits.ts';
import { gather, integer, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { counted, duration, number, printJson, printLine, printNote, utc } from './output.ts';
import { trailingPhrase } from './time-phrase.ts';

interface RecallOptions extends ServerOptions {
  readonly memory: string;
  readonly subject?: string | undefined;
  readonly relation?: string | undefined;
  readonly object?: string | undefined;
  readonly entity?: string | undefined;
  readonly namespace?: string | undefined;
  readonly user?: string | undefined;
  readonly type?: string | undefined;
  readonly tag?: readonly string[] | undefined;
  readonly limit: number;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly when?: string | undefined;
  readonly timePhrase: boolean;
  readonly superseded?: true | undefined;
  readonly scope?: string | undefined;
  readonly operators?: true | undefined;
  readonly explain?: true | undefined;
}

export function registerRecall(program: Command): void {
  const command = program
    .command('recall')
    .description('Find grains by words, by structure, or by both')
    .argument('[words...]', 'a question; it may end with a time, as in "where did we park last 7 days"')
    .option('--subject <text>', 'only grains with exactly this subject')
    .option('--relation <text>', 'only grains with exactly this relation')
    .option('--object <text>', 'only grains with exactly this object')
    .option(
      '--entity <text>',
      'only grains with this value as subject or object, in place of subject, relation and object',
    )
    .option('--namespace <name>', 'only grains of exactly this namespace')
    .option('--user <id>', 'only grains of this data subject')
    .option('--type <type>', 'only grains of this type, such as event or goal')
    .option('--tag <tag>', 'only grains that have all of these tags; repeat the option for more', gather)
    .option('-n, --limit <n>', 'number of hits at most', integer(1, 500), 10)
    .option('--since <time>', 'from this time: 2024-05-01, 2024-05, yesterday, "3 days ago"')
    .option('--until <time>', 'up to this time')
    .option('--when <phrase>', 'time span: "last 7 days", "this month", "between 2024-01 and 2024-03"')
    .option('--no-time-phrase', 'do not read a time from the question')
    .option('--superseded', 'include superseded versions')
    .option(
      '--scope <path>',
      'only grains whose namespace is this path, lies above it (acme of acme/prod) or lies below it',
    )
    .option('--operators', 'make "a phrase", +word, -word and field:term of the words conditions')
    .option('--explain', 'explain each hit, and what was left out');
  withServerOptions(withMemoryOption(command)).action(recall);
}

async function recall(words: string[], options: RecallOptions): Promise<void> {
  const question = words.join(' ').trim();
  // An empty question is probably an unset shell variable. Recall by conditions alone has no words at all.
  if (question === '' && words.length > 0)
    throw usage(
      'the question is empty: give words, or leave them out and give conditions (granary recall --subject ada)',
    );
  if (question === '' && !hasCondition(options))
    throw usage('nothing to recall: give words (granary recall "where did we park"), or conditions such as --subject');
  const { request, noted } = requestOf(question, options, Math.floor(Date.now() / 1000));
  if (options.explain === true) return explained(request, noted, options);
  const [{ withConnection }, { RPC }] = await Promise.all([import('./connection.ts'), import('./rpcs.ts')]);
  const { memory } = options;
  const { answer, ms } = await withConnection(options, async (connection) => {
    const startedMs = performance.now();
    const answer = await connection.call(RPC.recall, request, { memory, queryMode: queryModeOf(options) });
    return { answer, ms: performance.now() - startedMs };
  });
  const hits = answer.results.map(
    (hit): Hit => ({
      hash: hit.hash,
      grainType: hit.grainType,
      score: hit.score,
      relevance: hit.relevance,
      fields: parseJson(hit.fieldsJson) as JsonObject, // the contract: an object
    }),
  );
  for (const warning of answer.warnings) printNote(warning);
  if (options.json)
    return printJson({
      count: hits.length,
      results: hits.map(hitJson),
      total_candidates: answer.totalCandidates ?? null,
      topic_coverage: answer.topicCoverage ?? null,
    });
  if (noted !== undefined) printNote(noted);
  if (hits.length === 0) return printLine('Nothing was found.');
  printHits(hits);
  printNote(
    `${number(hits.length)} of ${counted(answer.totalCandidates ?? hits.length, 'candidate')} in ${duration(ms)}`,
  );
}

function queryModeOf({ operators }: Pick<RecallOptions, 'operators'>): QueryMode | undefined {
  return operators && 'operators';
}

function hasCondition(options: RecallOptions): boolean {
  const { subject, relation, object, entity, namespace, user, type, tag, since, until, when, scope } = options;
  return [subject, relation, object, entity, namespace, user, type, tag, since, until, when, scope].some(
    (condition) => condition !== undefined,
  );
}

/** The same over HTTP, whose answer also says what was left out. */
async function explained(
  request: Partial<RecallRequest>,
  noted: string | undefined,
  options: RecallOptions,
): Promise<void> {
  const [{ withConnection }, { printExcluded, printExplained }, { toSnake }] = await Promise.all([
    import('./connection.ts'),
    import('./recall-explain.ts'),
    import('../server/operations/names.ts'),
  ]);
  const path = `/memories/${encodeURIComponent(options.memory)}`;
  const asked = Object.entries(request).map(([name, value]) => [toSnake(name), value]);
  const explained = defined({ explanation: true, score_breakdown: true, query_mode: queryModeOf(options) });
  const json = { ...Object.fromEntries(asked), ...explained } as JsonObject; // options hold plain values
  const { answer, language, ms } = await withConnection(options, async (connection) => {
    const { language = 'en' } = await connection.json('GET', path);
    const startedMs = performance.now();
    const answer = await connection.json('POST', `${path}/recall`, { json });
    return { answer, language: String(language), ms: performance.now() - startedMs };
  });
  const results = objectsOf(answer['results']);
  for (const warning of answer['warnings'] as string[]) printNote(warning);
  if (options.json) return printJson(answer);
  if (noted !== undefined) printNote(noted);
  if (results.length === 0) printLine('Nothing was found.');
  else {
    printHits(
      results.map(
        (hit): Hit => ({
          hash: String(hit['hash']),
          grainType: String(hit['grain_type']),
          score: Number(hit['score']),
          fields: objectOf(hit['fields']),
        }),
      ),
    );
    const hits = results.map((hit) =>
      defined({
        grainType: String(hit['grain_type']),
        fields: objectOf(hit['fields']),
        explanation: String(hit['explanation'] ?? ''),
        relevance: hit['relevance'] === undefined ? undefined : Number(hit['relevance']),
        breakdown: objectOf(hit['score_breakdown']),
        recallSource: String(hit['recall_source']),
        isSuperseded: hit['supersession_status'] === 'superseded',
        conflictStatus: hit['conflict_status'] === undefined ? undefined : String(hit['conflict_status']),
      }),
    );
    printExplained(request.query ?? '', language, hits);
  }
  printExcluded(answer['excluded']);
  printNote(
    `${number(results.length)} of ${counted(Number(answer['total_candidates']), 'candidate')} in ${duration(ms)}`,
  );
}

/** The request for the given words and options; times in seconds. Throws USAGE. */
export function requestOf(
  words: string,
  options: Omit<RecallOptions, keyof ServerOptions | 'memory'>,
  nowSeconds: number,
): { readonly request: Partial<RecallRequest>; readonly noted: string | undefined } {
  const given = spanOf(options, nowSeconds);
  const trailing = options.timePhrase && given === undefined ? trailingPhrase(words, nowSeconds) : undefined;
  const span = given ?? trailing?.span;
  const { subject, relation, object, entity, namespace, user, type, tag, limit, superseded, scope } = options;
  const request: Partial<RecallRequest> = defined({
    query: trailing?.rest ?? words,
    limit,
    subject,
    relation,
    object,
    entity,
    namespace,
    userId: user,
    grainType: type,
    tags: tag && [...tag],
    timeStart: span?.from,
    timeEnd: span?.to,
    excludeSuperseded: superseded === undefined ? undefined : false,
    scopePath: scope,
  });
  return { request, noted: trailing === undefined ? undefined : timeNote(trailing.phrase, trailing.span) };
}

function timeNote(phrase: string, { from, to }: TimeSpan): string {
  const ends = [from === undefined ? '' : `from ${utc(from)}`, to === undefined ? '' : `to ${utc(to)}`];
  return `Time: ${phrase} (${ends.filter((end) => end !== '').join(' ')} UTC)`;
}

function spanOf(options: Pick<RecallOptions, 'since' | 'until' | 'when'>, nowSeconds: number): TimeSpan | undefined {
  const { since, until, when } = options;
  if (since === undefined && until === undefined && when === undefined) return undefined;
  const of = (flag: string, phrase: string): TimeSpan => {
    const seconds = /^\d{9,10}$/.test(phrase) ? Number(phrase) : undefined;
    const span = seconds === undefined ? readPhrase(phrase, nowSeconds) : { from: seconds, to: seconds };
    if (span === undefined) throw usage(`${flag}: "${phrase}" is not a recognised time`);
    return span;
  };
  const spans = [
    when === undefined ? {} : of('--when', when),
    since === undefined ? {} : { from: of('--since', since).from },
    until === undefined ? {} : { to: of('--until', until).to },
  ];
  const froms = spans.flatMap(({ from }) => (from === undefined ? [] : [from]));
  const tos = spans.flatMap(({ to }) => (to === undefined ? [] : [to]));
  const span = {
    from: froms.length === 0 ? undefined : Math.max(...froms),
    to: tos.length === 0 ? undefined : Math.min(...tos),
  };
  if (span.from !== undefined && span.to !== undefined && span.from > span.to)
    throw usage('the time ends before it begins: check --since and --until');
  return span;
}
