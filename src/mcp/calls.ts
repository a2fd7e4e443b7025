// The work of each tool: arguments in, a structured answer and the text of it out. Text of a memory is fenced in both.
import { defined } from '../engine/base/defined.ts';
import { toNfc } from '../engine/base/nfc.ts';
import { onDemand } from '../engine/base/on-demand.ts';
import { withoutAtEnd } from '../engine/base/without-at-end.ts';
import type * as CalQuery from '../engine/cal/query.ts';
import type * as CalKinds from '../engine/cal/run/kinds.ts';
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import { checkedArguments, outsideScope } from './arguments.ts';
import { ask } from './ask.ts';
import { fenced, fencedLines, fencedValue, outsideFences, withoutMarks } from './fence.ts';
import { CallRefused } from './refused.ts';
import type { Session } from './session.ts';
import { SCOPE_MEMBERS, type Tool } from './tool.ts';

export interface Outcome {
  readonly structured: JsonObject;
  readonly text: string;
}

type Arguments = Readonly<Record<string, unknown>>;
type Call = (session: Session, given: Arguments) => Promise<Outcome>;

const HITS = 8;
const CONTEXT_TOKENS = 1_500;
/** Grains that a context chooses from. */
const CONTEXT_GRAINS = 50;
/** Hits that `remember` compares a text with. */
const KNOWN_HITS = 5;
/** Characters of a text that find it again. */
const KNOWN_QUERY_CHARS = 500;

/** Runs a tool. Rejects with CallRefused. */
export async function callTool(session: Session, tool: Tool, given: unknown): Promise<Outcome> {
  const checked = checkedArguments(tool, given);
  const call = CALLS[tool.name];
  if (call !== undefined) return call(session, checked);
  const answer = await ask(session, tool.operation, checked, { changes: tool.changes });
  return fencedOutcome(answer);
}

const CALLS: Readonly<Record<string, Call | undefined>> = {
  async recall(session, { query, limit = HITS, ...rest }) {
    const answer = await ask(session, 'recall', { query, limit, ...rest });
    const results = objects(answer['results']);
    return listed(
      { results: results.map((hit) => picked(hit, ['hash', 'grain_type', 'text', 'created_at', 'relevance'])) },
      results,
      notes(answer),
    );
  },

  async context(session, { query, tokens = CONTEXT_TOKENS }) {
    const found = `(RECALL LIKE ${quoted(String(query))} LIMIT ${CONTEXT_GRAINS})`;
    const cal = `ASSEMBLE FROM found: ${found} BUDGET ${Number(tokens)} tokens FORMAT markdown`;
    const { result } = await ask(session, 'cal', { query: cal });
    const text = String(isObject(result) ? (result['content'] ?? '') : '').trim();
    const shown = text === '' ? 'The memory holds nothing on this.' : fencedLines([text]);
    return { structured: { text: shown }, text: shown };
  },

  async remember(session, { text, tags }) {
    const own = outsideFences(String(text));
    if (own === '') {
      if (String(text).trim() === '') throw new CallRefused('VAL-E001', '`text` is empty');
      return known(undefined);
    }
    const hash = await knownHash(session, own);
    if (hash !== undefined) return known(hash);
    const answer = await ask(session, 'remember', { text: own, tags }, { changes: true });
    const stored = String(answer['source_hash']);
    const isPart = own !== String(text).trim();
    const said = isPart ? `Stored only the part that is not recalled text: ${fenced(own)}` : 'Stored';
    return {
      structured: { status: 'stored', hash: stored },
      text: [`${said} [${stored}]`, ...notes(answer)].join('\n'),
    };
  },

  async correct(session, { hash, fields, reason }) {
    const own = fieldsOf(fields);
    const answer = await ask(session, 'supersede', { old_hash: hash, fields: own, reason }, { changes: true });
    const warnings = answer['warnings'] ?? [];
    const next = String(answer['new_hash']);
    return {
      structured: { new_hash: next, warnings: fencedValue(warnings) as JsonValue },
      text: [`Corrected. The new version is [${next}]; the old one stays in its history.`, ...notes(answer)].join('\n'),
    };
  },

  async history(session, given) {
    const answer = await ask(session, 'history', given);
    const versions = objects(answer['versions']);
    return listed(
      {
        versions: versions.map((one) => picked(one, ['hash', 'text', 'created_at', 'relation'])),
        ...cursorOf(answer),
      },
      versions,
      [...notes(answer), ...moreOf(answer)],
    );
  },

  async list(session, given) {
    const answer = await ask(session, 'list_grains', { limit: 20, ...given });
    const grains = objects(answer['grains']);
    return listed(
      {
        grains: grains.map((one) => picked(one, ['hash', 'grain_type', 'text', 'created_at'])),
        next_cursor: answer['next_cursor'] ?? null,
      },
      grains,
      moreOf(answer),
    );
  },

  async forget(session, { hashes, reason }) {
    const answer = await ask(session, 'forget', { hashes, reason }, { changes: true });
    const missing = Array.isArray(answer['not_found']) ? answer['not_found'] : [];
    const structured = { deleted: answer['deleted'] ?? 0, not_found: missing };
    const not = missing.length === 0 ? '' : ` Not found: ${missing.join(', ')}.`;
    return { structured, text: `Forgotten: ${String(structured.deleted)}.${not}` };
  },

  async status(session) {
    const [scope, stats] = [await session.scope(), await ask(session, 'stats', {})];
    const { memory, namespace, user } = scope;
    const structured = defined({
      memory,
      namespace,
      user,
      read_only: session.readOnly,
      ...picked(stats, ['total_grains', 'type_counts']),
    }) as JsonObject; // without undefined members
    const lines = Object.entries(structured).map(([name, value]) => `${name}: ${JSON.stringify(fencedValue(value))}`);
    return { structured, text: lines.join('\n') };
  },

  async cal(session, { query }) {
    refuseWrites(String(query));
    const answer = await ask(session, 'cal', { query });
    return fencedOutcome(picked(answer, ['result', 'warnings', 'statement_type', 'result_count']));
  },
};

function known(hash: string | undefined): Outcome {
  return {
    structured: hash === undefined ? { status: 'already known' } : { status: 'already known', hash },
    text: `Already known${hash === undefined ? ': the text is recalled text' : ` [${hash}]`}. Nothing was stored.`,
  };
}

/** The hash of a grain that says the same as the text, in the same words. */
async function knownHash(session: Session, text: string): Promise<string | undefined> {
  const query = text.slice(0, KNOWN_QUERY_CHARS).toWellFormed();
  const answer = await ask(session, 'recall', {
    query,
    query_mode: 'natural',
    limit: KNOWN_HITS,
    record_provenance: false,
  }).catch((error: unknown) => {
    // A caller that may write and not read still may remember.
    if (error instanceof CallRefused && error.code === 'AUT-E001') return {} as JsonObject;
    throw error;
  });
  const wanted = compared(text);
  for (const hit of objects(answer['results'])) {
    const fields = hit['fields'];
    const { content, verification_status: status } = isObject(fields) ? fields : {};
    // A text that was taken back and is said again is new.
    if (status === 'retracted') continue;
    if ([hit['text'], content].some((one) => typeof one === 'string' && compared(one) === wanted))
      return String(hit['hash']);
  }
  return undefined;
}

/** A text without what its meaning does not depend on: case, white space, the full stop at its end. */
function compared(text: string): string {
  return withoutAtEnd(toNfc(text).toLowerCase().replace(/\s+/g, ' ').trim(), '.!');
}

/** The fields of a correction, which cannot move a grain to another scope. Marks of fences are left out of texts. */
function fieldsOf(fields: unknown): JsonObject {
  for (const name of Object.keys(fields as object)) if (SCOPE_MEMBERS.has(name)) throw outsideScope(name); // checked
  return unmarked(fields) as JsonObject; // an object stays one
}

function unmarked(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/<\s*(?:\/\s*)?granary-data\s*>/gi, '');
  if (Array.isArray(value)) return value.map(unmarked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unmarked(one)]));
}

const reading = onDemand<typeof CalQuery>(import.meta.url, '../engine/cal/query');
const kinds = onDemand<typeof CalKinds>(import.meta.url, '../engine/cal/run/kinds');

/** Refuses a query that changes something, by the tree that the server will read too. */
function refuseWrites(source: string): void {
  let changes: boolean;
  try {
    const { statement } = reading().readQuery(source).query;
    changes = kinds().tierOf(statement) > 0 || statement.kind === 'define_template';
  } catch {
    return; // The server refuses a query that cannot be read, and says where.
  }
  if (changes)
    throw new CallRefused('AUT-E001', 'this tool only reads: use remember, correct and forget to change something');
}

/** A text as a string of CAL, which refuses controls of text direction and halves of characters. */
function quoted(text: string): string {
  return `"${text
    .toWellFormed()
    .replace(/[\u202A-\u202E\u2066-\u2069]/g, '')
    .replace(/[\\"]/g, '\\$&')}"`;
}

/** Grains as lines. All of the text is fenced, so that none of it is stored again with it. */
function listed(structured: JsonObject, grains: readonly JsonObject[], more: readonly string[]): Outcome {
  const count = grains.length === 0 ? 'No grains' : `${grains.length} ${grains.length === 1 ? 'grain' : 'grains'}`;
  const text = fencedLines([`${count}.`, ...grains.map(lineOf), ...more]);
  return { structured: fencedValue(structured) as JsonObject, text };
}

function lineOf({ hash, grain_type: type, text, created_at: at, relation, relevance }: JsonObject): string {
  const about = [
    type,
    typeof at === 'number' ? new Date(at * 1_000).toISOString().slice(0, 16) : undefined,
    relation,
    typeof relevance === 'number' ? `relevance ${relevance.toFixed(2)}` : undefined,
  ];
  return `[${String(hash)}] ${about.filter((one) => one !== undefined).join(', ')}: ${String(text).replace(/\s+/g, ' ')}`;
}

function fencedOutcome(answer: JsonObject): Outcome {
  const structured = fencedValue(answer) as JsonObject; // an object stays one
  return {
    structured,
    text: fencedLines([JSON.stringify(answer, (_, one) => (typeof one === 'bigint' ? Number(one) : one))]),
  };
}

/** Warnings of an answer, which may quote what was stored. */
function notes({ warnings }: JsonObject): readonly string[] {
  return Array.isArray(warnings) ? warnings.map((one) => `Note: ${withoutMarks(String(one))}`) : [];
}

function cursorOf(answer: JsonObject): JsonObject {
  const cursor = answer['next_cursor'];
  return typeof cursor === 'string' ? { next_cursor: cursor } : {};
}

/** Tells a reader of the text alone that there is another page. */
function moreOf({ next_cursor: cursor }: JsonObject): readonly string[] {
  return typeof cursor === 'string' ? [`More: cursor ${cursor}`] : [];
}

function picked(from: JsonObject, names: readonly string[]): JsonObject {
  const found: Record<string, JsonValue> = {};
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
