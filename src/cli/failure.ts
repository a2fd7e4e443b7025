// How a command fails: a code, words, and the exit code that goes with them.

/** Exit codes of every command. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/**
 * What a command could not do. `code` is the contract's (`MEM-E003`), or one of the command line's own: `USAGE`,
 * `NO-SERVER`, `FILE`. Printed as `granary: CODE: text`.
 */
export class Failure extends Error {
  override name = 'Failure';
  readonly code: string;
  /** True when the same request may succeed a moment later. */
  readonly retryable: boolean;
  /** What the server said beside code and text: where in a query, what was expected. */
  readonly more: Readonly<Record<string, unknown>>;

  constructor(code: string, text: string, retryable = false, more: Readonly<Record<string, unknown>> = {}) {
    super(text);
    this.code = code;
    this.retryable = retryable;
    this.more = more;
  }
}

/** A command line that cannot be understood: exit code 2. */
export function usage(text: string): Failure {
  return new Failure('USAGE', text);
}

/** The server's own words speak of a header, which nobody types here. */
const NO_KEY =
  'the server wants an API key: give --api-key or GRANARY_API_KEY. The key in keys/bootstrap.key of a data directory is ' +
  'sent to the server of that directory alone';

/** Code and text of anything thrown. An error of the engine says its code first in its message. */
export function failureOf(error: unknown): { readonly code: string; readonly text: string } {
  if (error instanceof Failure) return { code: error.code, text: error.code === 'AUT-E005' ? NO_KEY : error.message };
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    const { code, message } = error;
    return { code, text: message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message };
  }
  return { code: 'SYS-E001', text: error instanceof Error ? error.message : String(error) };
}

export function exitCodeOf(error: unknown): number {
  return error instanceof Failure && error.code === 'USAGE' ? EXIT.usage : EXIT.failed;
}
