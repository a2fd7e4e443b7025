// What the main thread has to know of a recall that goes to a worker as it came: the words that are to be embedded, and
// whether a model is asked. All else of the request is the worker's to read, and to refuse.
import { JSON_PARSED_HERE_BYTES_MAX } from '../../../engine/base/limits.ts';
import { someField } from '../grains/wire-fields.ts';

export interface Glance {
  /** '' for a request without words, for one with a vector of its own, and for what is none. */
  readonly text: string;
  /** True for fields that want a model. */
  readonly asksModel: boolean;
  /** True for a body that is too long to be parsed at a glance: it is read as those of rows that stay here are. */
  readonly isLong?: true;
}

const QUERY = 1;
const EMBEDDING = 25;
const MODEL_FIELDS: ReadonlySet<number> = new Set([34, 37, 38]);
const MODEL_MEMBERS = ['rerank', 'hyde', 'llm_rerank'];
const NOTHING: Glance = { text: '', asksModel: false };
const LONG: Glance = { ...NOTHING, isLong: true };

/** At a RecallRequest. */
export function glanceAtMessage(message: Uint8Array): Glance {
  let text = '';
  let hasVector = false;
  let asksModel = false;
  someField(message, { from: 0, to: message.length }, (number, { from, to }, value) => {
    // Of a field that comes twice the last one counts.
    if (number === QUERY) text = bufferOf(message).toString('utf8', from, to).trim();
    else if (number === EMBEDDING) hasVector ||= to > from;
    else if (MODEL_FIELDS.has(number)) asksModel ||= value !== 0;
    return false;
  });
  return { text: hasVector ? '' : text, asksModel };
}

/** At a JSON body. */
export function glanceAtJson(body: Uint8Array): Glance {
  if (body.length > JSON_PARSED_HERE_BYTES_MAX) return LONG;
  let json: unknown;
  try {
    json = JSON.parse(bufferOf(body).toString());
  } catch {
    return NOTHING;
  }
  if (typeof json !== 'object' || json === null) return NOTHING;
  const members = json as Readonly<Record<string, unknown>>; // any object is one
  const { query, embedding } = members;
  const hasVector = Array.isArray(embedding) && embedding.length > 0;
  return {
    text: typeof query === 'string' && !hasVector ? query.trim() : '',
    asksModel: MODEL_MEMBERS.some((name) => members[name] === true),
  };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
