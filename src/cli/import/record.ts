// Converts one line of a file to grains. The line has one of these shapes:
//
//   {"grain_type","fields",...}              a grain as the service accepts it; common fields may be next to `fields`
//   {"grain_type",...}                       the same, flat
//   {"subject","relation","object",...}      a belief
//   {"role"|"speaker","text"|"content",...}  a turn of a conversation: an event
//   {"turns"|"messages":[turn,...],...}      a conversation in one line
//   {"text"|"content",...}                   a document: an event
import { defined } from '../../engine/base/defined.ts';
import type { JsonObject, JsonValue } from '../../engine/grain/api/json-value.ts';
import { Failure } from '../failure.ts';
import { readTime } from './time-text.ts';
import type { TurnTimes } from './turn-times.ts';

export interface ImportedGrain {
  readonly memory: string;
  readonly grainType: string;
  readonly fields: JsonObject;
}

export interface RecordOptions {
  /** The target memory, or the field that names it. One of the two is set. */
  readonly memory?: string | undefined;
  readonly memoryFrom?: string | undefined;
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly times: TurnTimes;
  /** Time of documents without one, in seconds. */
  readonly documentSeconds: number;
  /** Called when a value was stored differently from what the sender may expect. */
  readonly note?: ((kind: string) => void) | undefined;
}

const MEMORY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
/** Fields in which files give the time of a turn. */
const TIME_NAMES = ['time', 'timestamp', 'created_at', 'date', 'ts', 'create_time'] as const;
const SESSION_NAMES = ['session_id', 'session'] as const;
const CONVERSATION_NAMES = ['conv', 'conversation_id', 'conversation'] as const;
const TURN_LISTS = ['turns', 'messages'] as const;
const ROLES: Readonly<Record<string, string>> = { human: 'user', gpt: 'assistant', ai: 'assistant', bot: 'assistant' };

/** Common fields allowed next to `fields` (service contract 4.1). Other names there do not belong to the grain. */
const BESIDE_FIELDS: ReadonlySet<string> = new Set(
  (
    'confidence tags structural_tags namespace user_id valid_from valid_to temporal_type related_to source_type ' +
    'importance created_at session_id derived_from embedding_text author_did origin_did origin_namespace ' +
    'verification_status processing_basis invalidation_policy supersession_justification context content_refs ' +
    'embedding_refs provenance_chain consolidation_level success_count failure_count expires_at'
  ).split(' '),
);

/** The grains of a line. Throws Failure VAL-E003 or VAL-E001 when it matches no shape or names no memory. */
export function readRecord(value: JsonValue, options: RecordOptions): ImportedGrain[] {
  if (!isObject(value)) throw new Failure('VAL-E003', `the line is ${nameOf(value)}, not a JSON object`);
  const memory = memoryOf(value, options);
  return grainsOf(value, memory, options).map(({ grainType, fields }) => ({
    memory,
    grainType,
    fields: withDefaults(fields, options),
  }));
}

type Shaped = Omit<ImportedGrain, 'memory'>;

function grainsOf(line: JsonObject, memory: string, options: RecordOptions): Shaped[] {
  if (line['grain_type'] !== undefined) return [ofGrain(line)];
  const list = TURN_LISTS.find((name) => Array.isArray(line[name]));
  if (list !== undefined) return ofConversation(line, list, memory, options);
  if (typeof line['subject'] === 'string' && typeof line['relation'] === 'string' && line['object'] !== undefined)
    return [{ grainType: 'belief', fields: line }];
  if (contentOf(line) === undefined)
    throw new Failure(
      'VAL-E003',
      'the line has no grain_type, no subject with relation and object, no text or content',
    );
  return [isTurn(line) ? ofTurn(line, memory, options) : ofDocument(line, options)];
}

function ofGrain(line: JsonObject): Shaped {
  const { grain_type: grainType, fields, ...rest } = line;
  if (typeof grainType !== 'string') throw new Failure('VAL-E003', 'invalid type: `grain_type` must be a string');
  if (fields === undefined) return { grainType, fields: rest };
  if (!isObject(fields)) throw new Failure('VAL-E003', 'invalid type: `fields` must be an object');
  const beside = Object.entries(rest).filter(([name, value]) => BESIDE_FIELDS.has(name) && value !== null);
  return { grainType, fields: { ...fields, ...Object.fromEntries(beside) } };
}

function ofConversation(line: JsonObject, list: string, memory: string, options: RecordOptions): Shaped[] {
  const { [list]: turns, ...shared } = line;
  return (turns as JsonValue[]).map((turn, at) => {
    // the caller checked that `list` names an array
    if (!isObject(turn)) throw new Failure('VAL-E003', `${list}[${at}] is ${nameOf(turn)}, not a JSON object`);
    // The turn number distinguishes turns with equal text. A turn's own id overrides the conversation's.
    const merged: JsonObject = { ...shared, turn: at, ...turn };
    if (contentOf(merged) === undefined) throw new Failure('VAL-E003', `${list}[${at}] has no text or content`);
    return ofTurn(merged, memory, options);
  });
}

function ofTurn(line: JsonObject, memory: string, options: RecordOptions): Shaped {
  const taken = new Set<string>(['text', 'content', 'role']);
  const fields: JsonObject = { ...contentFields(line) };
  if (typeof line['role'] === 'string') fields['role'] = ROLES[line['role'].toLowerCase()] ?? line['role'];
  const conversation = firstText(line, CONVERSATION_NAMES);
  const session = firstText(line, SESSION_NAMES);
  if (session !== undefined) taken.add(session.name);
  // Files number sessions from 1 in each conversation: the prefix keeps ids unique when conversations share a memory.
  const prefix =
    conversation === undefined || conversation.name === options.memoryFrom || session?.name === 'session_id'
      ? undefined
      : conversation.text;
  const parts = [prefix, session?.text].filter((part) => part !== undefined);
  if (parts.length > 0) fields['session_id'] = parts.join('/');
  const time = timeOf(line, taken, options);
  const key = `${memory}\n${conversation?.text ?? session?.text ?? ''}`;
  fields['created_at'] = options.times.take(key, time);
  return { grainType: 'event', fields: { ...others(line, taken, options), ...fields } };
}

function ofDocument(line: JsonObject, options: RecordOptions): Shaped {
  const taken = new Set<string>(['text', 'content']);
  const fields: JsonObject = { ...contentFields(line) };
  const { title } = line;
  const { content } = fields;
  // The title becomes part of the text, so that searches for its words find the document.
  if (typeof title === 'string' && typeof content === 'string' && !content.startsWith(title))
    fields['content'] = `${title}\n\n${content}`;
  fields['created_at'] = timeOf(line, taken, options)?.seconds ?? options.documentSeconds;
  return { grainType: 'event', fields: { ...others(line, taken, options), ...fields } };
}

/** Members without a field of their own are kept as extra fields, `_id` included. */
function others(line: JsonObject, taken: ReadonlySet<string>, options: RecordOptions): JsonObject {
  const kept = Object.entries(line).filter(
    ([name, value]) => !taken.has(name) && value !== null && name !== options.memoryFrom,
  );
  return Object.fromEntries(kept);
}

function timeOf(line: JsonObject, taken: Set<string>, options: RecordOptions) {
  for (const name of TIME_NAMES) {
    const value = line[name];
    if (value === undefined || value === null || value === '') continue;
    const point = isTooSmall(name, value) ? undefined : readTime(value);
    if (point !== undefined) {
      taken.add(name);
      return point;
    }
    if (name === 'created_at') throw new Failure('VAL-E001', `\`created_at\` is not a time: ${shown(value)}`);
    options.note?.(
      `\`${name}\` is not a recognised time (${shown(value)}): kept as a plain field, not used as the date`,
    );
  }
  return undefined;
}

/** Numbers of fewer digits are no seconds since 1970: they count a recording's seconds, or are a date such as 20240315. */
const SECONDS_MIN = 100_000_000;

function isTooSmall(name: string, value: JsonValue): boolean {
  return name !== 'created_at' && typeof value === 'number' && value < SECONDS_MIN;
}

function isTurn(line: JsonObject): boolean {
  return typeof line['role'] === 'string' || typeof line['speaker'] === 'string';
}

/** `text`, else `content`. A list of content blocks counts when at least one block holds text. */
function contentOf(line: JsonObject): string | undefined {
  for (const name of ['text', 'content']) {
    const value = line[name];
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) {
      const texts = value.map((block) => (isObject(block) ? block['text'] : block)).filter((text) => isText(text));
      if (texts.length > 0) return texts.join('\n');
    }
  }
  return undefined;
}

function contentFields(line: JsonObject): JsonObject {
  const content = contentOf(line) ?? '';
  const blocks = Array.isArray(line['text']) ? line['text'] : line['content'];
  return Array.isArray(blocks) && blocks.every(isObject) ? { content, content_blocks: blocks } : { content };
}

function firstText(line: JsonObject, names: readonly string[]): { name: string; text: string } | undefined {
  for (const name of names) {
    const value = line[name];
    if (typeof value === 'string' && value !== '') return { name, text: value };
    if (typeof value === 'number' || typeof value === 'bigint') return { name, text: String(value) };
  }
  return undefined;
}

function memoryOf(line: JsonObject, options: RecordOptions): string {
  if (options.memoryFrom === undefined) return options.memory ?? 'default';
  const fields = line['fields'];
  const found =
    firstText(line, [options.memoryFrom]) ?? (isObject(fields) ? firstText(fields, [options.memoryFrom]) : undefined);
  if (found === undefined)
    throw new Failure('VAL-E003', `missing field \`${options.memoryFrom}\`, which names the memory`);
  if (!MEMORY_ID.test(found.text))
    throw new Failure(
      'VAL-E001',
      `${shown(found.text)} is not a valid memory id: it must have 1 to 63 letters, digits, dots, hyphens and underscores, the first a letter or a digit`,
    );
  return found.text;
}

function withDefaults(fields: JsonObject, { namespace, userId, tags }: RecordOptions): JsonObject {
  const own = fields['tags'];
  const isWithout = (name: string): boolean => fields[name] === undefined;
  return defined({
    ...fields,
    namespace: isWithout('namespace') ? namespace : fields['namespace'],
    user_id: isWithout('user_id') ? userId : fields['user_id'],
    tags: tags === undefined || tags.length === 0 ? own : [...new Set([...(Array.isArray(own) ? own : []), ...tags])],
  });
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string';
}

function nameOf(value: JsonValue): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** A value for an error message: shortened, because file contents do not belong in logs. */
function shown(value: JsonValue): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
