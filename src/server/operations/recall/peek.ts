// Reads the two facts that the main thread needs about a recall that a worker will decode: the words to embed, and
// whether a field needs a model. The worker reads and validates the rest.
import { JSON_PARSED_HERE_BYTES_MAX } from '../../../engine/base/limits.ts';
import { someField } from '../grains/wire-fields.ts';

export interface Peek {
  /** The words to embed; '' for a request without words, with its own vector, or malformed. */
  readonly text: string;
  /** True when a field of the request needs a model. */
  readonly asksModel: boolean;
  /** True for a body too long to parse twice: the main thread reads the whole request. */
  readonly isLong?: true | undefined;
}

const QUERY = 1;
const EMBEDDING = 25;
const MODEL_FIELDS: ReadonlySet<number> = new Set([34, 37, 38]);
const MODEL_MEMBERS = ['rerank', 'hyde', 'llm_rerank'];
const NOTHING: Peek = { text: '', asksModel: false };
const LONG: Peek = { ...NOTHING, isLong: true };

/** Reads an encoded RecallRequest. */
export function peekAtMessage(message: Uint8Array): Peek {
  let text = '';
  let hasVector = false;
  let asksModel = false;
  someField(message, { from: 0, to: message.length }, (number, { from, to }, value) => {
    // If a field occurs twice, the last one counts.
    if (number === QUERY) text = bufferOf(message).toString('utf8', from, to).trim();
    else if (number === EMBEDDING) hasVector ||= to > from;
    else if (MODEL_FIELDS.has(number)) asksModel ||= value !== 0;
    return false;
  });
  return { text: hasVector ? '' : text, asksModel };
}

/** Reads a JSON body. */
export function peekAtJson(body: Uint8Array): Peek {
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
