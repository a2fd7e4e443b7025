// Every error code of the service, once. The list is append-only: a published code keeps its meaning.

/** Limits: characters of one text in an error, and entries of `details`. */
const ERROR_TEXT_CHARS_MAX = 2_000;
const ERROR_DETAILS_MAX = 1_000;

/** Errors of the query language. The codes are the specification's, or ours for limits that it gives no code. */
export const CAL_MEANINGS = {
  'CAL-E001': 'the query is longer than 8192 bytes',
  'CAL-E002': 'unexpected token',
  'CAL-E003': 'unknown grain type',
  'CAL-E004': 'unknown field',
  'CAL-E005': 'a string is not closed',
  'CAL-E006': 'malformed number',
  'CAL-E007': 'subqueries or brackets are nested too deep',
  'CAL-E008': 'a parameter is not bound',
  'CAL-E009': 'a parameter is bound twice',
  'CAL-E010': 'LIMIT or RECENT is out of range',
  'CAL-E011': 'an IN list is too long',
  'CAL-E012': 'too many stages or BATCH entries',
  'CAL-E013': 'too many operands of set operations',
  'CAL-E014': 'the query is empty',
  'CAL-E015': 'bad or ambiguous hash',
  'CAL-E016': 'the reason is too long',
  'CAL-E017': 'a field may not be set',
  'CAL-E018': 'the reason is missing or blank',
  'CAL-E019': 'SUPERSEDE sets nothing',
  'CAL-E020': 'type mismatch, or an operator that the field does not take',
  'CAL-E021': 'a stage does not accept the result before it',
  'CAL-E022': 'SUBJECTS or OBJECTS of a recall that does not name beliefs',
  'CAL-E030': 'the query looks at too many grains',
  'CAL-E031': 'the query took too long',
  'CAL-E032': 'too many ASSEMBLE sources',
  'CAL-E033': 'BUDGET is out of range',
  'CAL-E034': 'a label is used twice',
  'CAL-E035': 'PRIORITY names an unknown label',
  'CAL-E036': 'too many LET bindings',
  'CAL-E037': 'LET bindings depend on one another in a circle',
  'CAL-E038': 'a LET uses another where it may not, or too deep',
  'CAL-E039': 'too many COALESCE branches',
  'CAL-E040': 'the grain has been superseded already',
  'CAL-E041': 'REVERT of a grain that has no previous version',
  'CAL-E042': 'grains of this type cannot be superseded',
  'CAL-E043': 'too many SUPERSEDE or REVERT statements',
  'CAL-E044': 'the statement is not enabled for this session',
  'CAL-E045': 'the grain is in another namespace',
  'CAL-E046': 'no such grain',
  'CAL-E050': 'a required SET field is missing',
  'CAL-E051': 'grains of this type cannot be added',
  'CAL-E052': 'too many ADD statements',
  'CAL-E060': 'clauses contradict each other, or the field belongs to another type',
  'CAL-E061': 'a field of one grain type in a statement without a type',
  'CAL-E062': 'bad action_phase',
  'CAL-E063': 'bad goal_state',
  'CAL-E064': 'bad consent_action',
  'CAL-E065': 'bad recall_priority',
  'CAL-E066': 'bad epistemic_status',
  'CAL-E070': 'the query is not valid UTF-8',
  'CAL-E071': 'a string holds a text direction control',
  'CAL-E075': 'ASSEMBLE took too long',
  'CAL-E076': 'all sources of ASSEMBLE failed',
  'CAL-E077': 'unknown STREAM option',
  'CAL-E078': 'chunk_size is out of range',
  'CAL-E079': 'streaming is not supported here',
  'CAL-E080': 'a grain could not be formatted',
  'CAL-E081': 'the reconnection came too late',
  'CAL-E082': 'the assembly was cancelled',
  'CAL-E085': 'no such template',
  'CAL-E086': 'a template extends data',
  'CAL-E087': 'a template extends one that is not a preset',
  'CAL-E088': 'the name of the template is taken',
  'CAL-E089': 'too many templates',
  'CAL-E090': 'unknown template variable',
  'CAL-E091': 'a section of a template is not balanced',
  'CAL-E092': 'the template is too large',
  'CAL-E093': 'sections of a template are nested too deep',
  'CAL-E094': 'bad template syntax',
  'CAL-E095': 'a template has a section twice',
  'CAL-E096': 'sections of a template do not go together',
  'CAL-E100': 'CAL version not supported',
  'CAL-E110': 'too many formats',
  'CAL-E113': 'two formats would have the same key',
} as const;

export type CalErrorCode = keyof typeof CAL_MEANINGS;

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
  'AUT-E008': 'the issuer of tokens cannot be reached',
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
  'DSR-E001': 'no such request of a data subject',
  'DSR-E002': 'the state of the request of a data subject does not allow it',
  'DSR-E003': 'no erasure of this person in the audit trail',
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

export function isErrorCode(text: string | undefined): text is ErrorCode {
  return text !== undefined && Object.hasOwn(ERROR_MEANINGS, text);
}

export interface ErrorDetail {
  readonly field: string;
  readonly issue: string;
}

/** An error that a caller caused, or that pressure or failed storage caused. It always has a code of the contract. */
export class EngineError extends Error {
  override name = 'EngineError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  /** True when the same call may succeed later without a change. */
  readonly retryable: boolean;
  /** After how many seconds the same call may succeed, where that is known. */
  readonly retryAfterSeconds: number | undefined;
  /** True when nothing of the call ran, because its shard is not where it was sent: another node may have it. */
  readonly isElsewhere: boolean;
  /** Further JSON members of the error that callers get. They do not cross threads. */
  readonly more: Readonly<Record<string, unknown>> | undefined;

  /** `text` follows the code in `message`. The default is the code's meaning. */
  constructor(
    code: ErrorCode,
    text?: string,
    options: {
      details?: readonly ErrorDetail[] | undefined;
      retryable?: boolean | undefined;
      retryAfterSeconds?: number | undefined;
      isElsewhere?: boolean | undefined;
      more?: Readonly<Record<string, unknown>> | undefined;
    } = {},
  ) {
    super(cut(`${code}: ${text ?? ERROR_MEANINGS[code]}`));
    this.code = code;
    this.details = (options.details ?? [])
      .slice(0, ERROR_DETAILS_MAX)
      .map(({ field, issue }) => ({ field: cut(field), issue: cut(issue) }));
    this.retryable = options.retryable ?? (code === 'STO-E002' || code === 'LIM-E001');
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isElsewhere = options.isElsewhere ?? false;
    this.more = options.more;
  }

  toWire(): WireError {
    const { code, message, details, retryable, retryAfterSeconds } = this;
    const wire: { -readonly [M in keyof WireError]: WireError[M] } = { code, message, details, retryable };
    // Packed: MessagePack writes undefined members.
    if (retryAfterSeconds !== undefined) wire.retryAfterSeconds = retryAfterSeconds;
    if (this.isElsewhere) wire.isElsewhere = true;
    return wire;
  }

  static fromWire(wire: WireError): EngineError {
    const text = wire.message.startsWith(`${wire.code}: `) ? wire.message.slice(wire.code.length + 2) : wire.message;
    const { code, details, retryable, retryAfterSeconds, isElsewhere } = wire;
    return new EngineError(code, text, { details, retryable, retryAfterSeconds, isElsewhere });
  }
}

/** A refusal may quote its input, which can be megabytes long. */
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
  readonly retryAfterSeconds?: number;
  readonly isElsewhere?: true;
}
