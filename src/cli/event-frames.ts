// Reads the frames of server-sent events from a stream of bytes.
import { parseJson } from '../engine/grain/api/json.ts';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { Failure } from './failure.ts';

export interface EventFrame {
  /** Empty for a frame without an id. */
  readonly id: string;
  readonly event: string;
  readonly data: JsonObject;
}

/** A frame of more characters than this ends the stream: no server sends one. */
const FRAME_CHARS_MAX = 32 * 1_048_576;

/** Frames with data, in order. Lines that only keep the stream open are passed over. Throws Failure for a frame that is too long. */
export async function* framesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<EventFrame> {
  const decoder = new TextDecoder();
  let rest = '';
  // A line feed at the end of a piece. It ends the frame if another one follows.
  let held = '';
  for await (const chunk of bytes) {
    const text = held + decoder.decode(chunk, { stream: true });
    let from = 0;
    // Only the new text is searched: a long frame comes in many pieces.
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n', from)) {
      const frame = frameOf(rest + text.slice(from, end));
      rest = '';
      from = end + 2;
      if (frame !== undefined) yield frame;
    }
    held = from < text.length && text.endsWith('\n') ? '\n' : '';
    rest += text.slice(from, text.length - held.length);
    if (rest.length > FRAME_CHARS_MAX) throw new Failure('SYS-E001', 'a frame of the stream is too long');
  }
}

function frameOf(block: string): EventFrame | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart());
  }
  const data = fields.get('data');
  if (data === undefined) return undefined;
  const value = parseJson(data);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return { id: fields.get('id') ?? '', event: fields.get('event') ?? 'message', data: isObject ? value : {} };
}

/** The note for a reader that misses events. */
export function gapNote({ reason, oldest }: JsonObject): string {
  return reason === 'ahead'
    ? 'The id is not one of this log, for example because a backup was restored. Newer events follow.'
    : `Events are missing: the oldest one that still exists is ${String(oldest)}.`;
}
