// The process's log: one JSON object per line, on stderr (stdout is for the ready line). API keys are removed from it.
import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

const KEY_TEXT = /g[rp]_[0-9a-f]{6,}/g;

/** Removes everything that looks like an API key from a text: log lines may quote what a caller sent. */
export function withoutKeys(text: string): string {
  return text.replace(KEY_TEXT, (key) => `${key.slice(0, 3)}…`);
}

/** `stream` is for tests; the default is stderr, written synchronously so that a crash loses nothing. */
export function makeLog(level: string, stream?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      // Runs on every line, so that no key reaches the log in any field.
      hooks: { streamWrite: withoutKeys },
      redact: { paths: ['authorization', '*.authorization', 'apiKey', '*.apiKey', 'rawKey', '*.rawKey'] },
    },
    stream ?? destination({ dest: 2, sync: true }),
  );
}
