// The process's log: one JSON object per line, on stderr (stdout is for the ready line). API keys are removed from it.
import { type DestinationStream, destination, type Logger, pino } from 'pino';
import { LOG_WAITING_BYTES_MAX } from '../engine/base/limits.ts';

export type { Logger } from 'pino';

const KEY_TEXT = /g[rp]_[0-9a-f]{6,}/g;

/** Removes everything that looks like an API key from a text: log lines may quote what a caller sent. */
export function withoutKeys(text: string): string {
  return text.replace(KEY_TEXT, (key) => `${key.slice(0, 3)}…`);
}

/** `stream` is for tests; the default is stderr. */
export function makeLog(level: string, stream?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      // Runs on every line, so that no key reaches the log in any field.
      hooks: { streamWrite: withoutKeys },
      redact: { paths: ['authorization', '*.authorization', 'apiKey', '*.apiKey', 'rawKey', '*.rawKey'] },
    },
    stream ?? stderr(),
  );
}

/**
 * Written synchronously, so that a crash loses nothing. Lines that cannot be written, as to a full disk, wait for the next one, and
 * are left out when too many wait.
 */
function stderr(): DestinationStream {
  const stream = destination({ dest: 2, sync: true, maxLength: LOG_WAITING_BYTES_MAX });
  // Without a listener, the error would be thrown in the code that logs.
  stream.on('error', () => undefined);
  return stream;
}
