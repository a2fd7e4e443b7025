// Every error code of the service, once. Append-only: a code that was published keeps its meaning.

import { CAL_ERRORS, type CalErrorCode } from './cal/errors.ts';
import { ERROR_DETAILS_MAX, ERROR_TEXT_CHARS_MAX } from './limits.ts';

// Of queries, as their own table has them; Object.entries forgets its keys.
const CAL_MEANINGS = Object.fromEntries(Object.entries(CAL_ERRORS).map(([code, { when }]) => [code, when])) as Readonly<
  Record<CalErrorCode, string>
>;

export const ERROR_MEANINGS = {
  ...CAL_MEANINGS,
  'VAL-E001': 'value out of range or bad combination',
  'VAL-E002': 'body is not JSON or not multipart',
  'VAL-E003': 'missing or mistyped field',
  'VAL-E004': 'bad cursor or page size',
  'VAL-E005': 'idempotency key reused with another body',
  'VAL-E006': 'unsupported content type',
  'MEM-E001': 'grain not found',
  'MEM-E002': 'grain already superseded by another',
  'MEM-E003': 'memory instance not found',
  'MEM-E004': 'memory id taken',
  'MEM-E005': 'unknown grain type',
  'MEM-E006': 'grain was crypto-erased',
  'MEM-E101': 'tool schema root is not an object',
  'MEM-E102': 'tool schema uses a banned keyword or format',
  'MEM-E103': 'tool is both read_only and destructive',
  'MEM-E104': 'tool schema holds personal data',
  'MEM-E105': 'tool schema is too deep',
  'MEM-E106': 'tool schema holds a bad pattern',
  'FMT-E001': 'not a valid .mg blob or file',
  'FMT-E002': 'grain cannot be serialized',
  'FMT-E003': 'hash or footer mismatch',
  'STO-E001': 'storage failure',
  'STO-E002': 'storage busy',
  'CRY-E001': 'crypto failure',
  'CRY-E002': 'key destroyed',
  'AUT-E001': 'scope or tuple does not permit',
  'AUT-E002': 'unknown principal',
  'AUT-E003': 'auth configuration invalid',
  'AUT-E004': 'token not recognised, revoked or expired',
  'AUT-E005': 'credentials missing',
  'AUT-E006': 'route is read-only or absent on this deployment',
  'AUT-E007': 'no such key',
  'POL-E001': 'deletion requires a reason',
  'POL-E002': 'consent required',
  'POL-E003': 'deletion forbidden',
  'POL-E004': 'supersede forbidden',
  'POL-E005': 'personal data blocked',
  'POL-E006': 'user_id required',
  'POL-E007': 'residency or cross-border refused',
  'POL-E008': 'processing restricted for user',
  'POL-E009': 'unknown preset or override path',
  'POL-E010': 'preset removal or loosening refused',
  'POL-E011': 'tiering needs an acknowledgement',
  'POL-E012': 'guardrail pattern matched',
  'POL-E013': 'recall limit above the minimum-necessary cap',
  'GOL-E001': 'transition not allowed by the goal',
  'GOL-E002': 'evidence required',
  'SCP-E001': 'path not in the scope tree',
  'SCP-E002': 'bad scope tree',
  'SCP-E003': 'no scope tree',
  'HOK-E001': 'bad hook url',
  'HOK-E002': 'unknown event kind',
  'HOK-E003': 'hook not found',
  'HOK-E004': 'too many hooks',
  'HRN-E001': 'invalid slug',
  'HRN-E002': 'harness not found',
  'HRN-E003': 'goal missing',
  'HRN-E004': 'chat session not found',
  'HRN-E005': 'session is not awaiting the client',
  'HRN-E006': 'tool outputs do not match the pending calls',
  'HRN-E007': 'iteration or time budget spent',
  'HRN-E008': 'slug taken',
  'HRN-E009': 'template unknown',
  'HRN-E010': 'conversation busy or paused',
  'IMP-E001': 'unsupported document',
  'IMP-E002': 'import job not found',
  'IMP-E003': 'import job cannot be cancelled',
  'IMP-E004': 'document unreadable',
  'CHT-E001': 'thread not found',
  'AGT-E001': 'identity not found',
  'AGT-E002': 'identity exists',
  'AGT-E003': 'identity deactivated',
  'PRV-E001': 'provenance record not found',
  'VER-E001': 'no verification has run yet',
  'VER-E002': 'unknown regulation filter',
  'LLM-E001': 'no provider configured',
  'LLM-E002': 'provider failed',
  'LLM-E003': 'unknown model or provider',
  'LLM-E004': 'provider in use',
  'EXE-E001': 'unknown app/exec command',
  'CAL-E101': 'CAL is switched off',
  'CAL-E121': 'statement not authorised',
  'LIM-E001': 'too many requests',
  'LIM-E002': 'quota exceeded',
  'LIM-E003': 'body too large',
  'SYS-E001': 'internal error',
  'SYS-E002': 'not implemented',
  'SYS-E003': 'no such route',
  'SYS-E004': 'method not allowed',
  'SYS-E005': 'timed out',
} as const;

export type ErrorCode = keyof typeof ERROR_MEANINGS;

export interface ErrorDetail {
  readonly field: string;
  readonly issue: string;
}

/** What a caller caused, or pressure, or storage that failed: always a code of the contract. */
export class EngineError extends Error {
  override name = 'EngineError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  /** True when the same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
  /** Further members of the error as callers get it: JSON. They do not cross threads. */
  readonly more: Readonly<Record<string, unknown>> | undefined;

  /** `text` is what follows the code in `message`; without it, the code's own meaning. */
  constructor(
    code: ErrorCode,
    text?: string,
    options: {
      details?: readonly ErrorDetail[];
      retryable?: boolean;
      more?: Readonly<Record<string, unknown>> | undefined;
    } = {},
  ) {
    super(cut(`${code}: ${text ?? ERROR_MEANINGS[code]}`));
    this.code = code;
    this.details = (options.details ?? [])
      .slice(0, ERROR_DETAILS_MAX)
      .map(({ field, issue }) => ({ field: cut(field), issue: cut(issue) }));
    this.retryable = options.retryable ?? (code === 'STO-E002' || code === 'LIM-E001');
    this.more = options.more;
  }

  toWire(): WireError {
    return { code: this.code, message: this.message, details: this.details, retryable: this.retryable };
  }

  static fromWire(wire: WireError): EngineError {
    const text = wire.message.startsWith(`${wire.code}: `) ? wire.message.slice(wire.code.length + 2) : wire.message;
    return new EngineError(wire.code, text, { details: wire.details, retryable: wire.retryable });
  }
}

/** A refusal quotes what it refuses, which may be a name of megabytes. */
function cut(text: string): string {
  if (text.length <= ERROR_TEXT_CHARS_MAX) return text;
  return `${text.slice(0, ERROR_TEXT_CHARS_MAX).toWellFormed()}…`;
}

/** An error as it crosses threads: plain data. */
export interface WireError {
  readonly code: ErrorCode;
  /** Begins with the code. */
  readonly message: string;
  readonly details: readonly ErrorDetail[];
  readonly retryable: boolean;
}
