// The log of the process: one JSON object a line, on stderr (stdout is for the ready line). No key reaches it.
import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

const KEY_TEXT = /g[rp]_[0-9a-f]{6,}/g;

/** Takes everything that looks like an API key out of a text: what is logged may quote what a caller sent. */
export function withoutKeys(text: string): string {
  return text.replace(KEY_TEXT, (key) => `${key.slice(0, 3)}…`);
}

/** `stream` for tests; without it stderr, written at once so that a crash loses nothing. */
export function makeLog(level: string, stream?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      // The last word on every line: whatever way a key came in, it does not come out.
      hooks: { streamWrite: withoutKeys },
      redact: { paths: ['authorization', '*.authorization', 'apiKey', '*.apiKey', 'rawKey', '*.rawKey'] },
    },
    stream ?? destination({ dest: 2, sync: true }),
  );
}
