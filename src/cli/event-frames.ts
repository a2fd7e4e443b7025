// Reads the frames of server-sent events from a stream of bytes.
import { parseJson } from '../engine/grain/api/json.ts';
import type { JsonObject } from '../engine/grain/api/json-value.ts';

export interface EventFrame {
  /** Empty for a frame without an id. */
  readonly id: string;
  readonly event: string;
  readonly data: JsonObject;
}

/** Frames with data, in order. Lines that only keep the stream open are passed over. */
export async function* framesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<EventFrame> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytes) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const frame = frameOf(block);
      if (frame !== undefined) yield frame;
    }
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
