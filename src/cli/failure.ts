// How commands report failure: code, message and exit code.

import { EXIT } from './exit-codes.ts';

/**
 * A command failed. `code` is a code of the contract (`MEM-E003`), or the CLI's own `USAGE`, `NO-SERVER`, `FILE` or
 * `AMBIGUOUS`. Printed as `granary: CODE: text`.
 */
export class Failure extends Error {
  override name = 'Failure';
  readonly code: string;
  /** True when the same request may succeed if repeated. */
  readonly retryable: boolean;
  /** Further members of the server's error: the position in a query, the expected tokens. */
  readonly more: Readonly<Record<string, unknown>>;

  constructor(code: string, text: string, retryable = false, more: Readonly<Record<string, unknown>> = {}) {
    super(text);
    this.code = code;
    this.retryable = retryable;
    this.more = more;
  }
}

/** An invalid command line; exit code 2. */
export function usage(text: string): Failure {
  return new Failure('USAGE', text);
}

/** The server's message names a header; CLI users give an option instead. */
const NO_KEY =
  'the server requires an API key: give --api-key or GRANARY_API_KEY. The key in keys/bootstrap.key of a data directory is ' +
  'sent only to the server of that directory';

/** The failure that an event of a stream tells of. Its message begins with its code, as those of answers do. */
export function failureOfEvent({ code, message }: Readonly<Record<string, unknown>>): Failure {
  return new Failure(String(code), withoutCode(String(code), String(message)));
}

function withoutCode(code: string, message: string): string {
  return message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message;
}

/** Code and message of any thrown value. EngineError messages begin with their code, which is removed. */
export function failureOf(error: unknown): { readonly code: string; readonly text: string } {
  if (error instanceof Failure) return { code: error.code, text: error.code === 'AUT-E005' ? NO_KEY : error.message };
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    const { code, message } = error;
    return { code, text: withoutCode(code, message) };
  }
  return { code: 'SYS-E001', text: error instanceof Error ? error.message : String(error) };
}

export function exitCodeOf(error: unknown): number {
  return error instanceof Failure && error.code === 'USAGE' ? EXIT.usage : EXIT.failed;
}

/** A text with the passwords of database addresses in it hidden, also of those that cannot be read or were taken for a path. */
export function withoutPasswords(text: string): string {
  return text.replace(/(\bpostgres(?:ql)?:\/{1,2}[^\s:/?#@]*:)\S*@/g, '$1***@');
}
