// Errors of the client. Each has the code of the server's contract, the status, the id of the request, and whether the
// same call may succeed later.
import { type Json, type JsonObject, parsedObject } from './json.ts';

export interface ErrorParts {
  /** Code of the contract, such as `MEM-E001`; `CLIENT` codes are the client's own. */
  readonly code: string;
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  readonly requestId?: string | undefined;
  readonly retryable?: boolean | undefined;
  /** The members of the request that are wrong. */
  readonly details?: readonly Json[] | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

export class GranaryError extends Error {
  readonly code: string;
  readonly status: number;
  readonly requestId: string | undefined;
  /** Whether the same call may succeed later. The client has already retried it where that is safe. */
  readonly retryable: boolean;
  readonly details: readonly Json[];
  /** The time that the server wants the caller to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, parts: ErrorParts) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.name = new.target.name;
    this.code = parts.code;
    this.status = parts.status;
    this.requestId = parts.requestId;
    this.retryable = parts.retryable ?? false;
    this.details = parts.details ?? [];
    this.retryAfterMs = parts.retryAfterMs;
  }
}

/** The request is malformed, or a value is out of range. */
export class InvalidRequestError extends GranaryError {}
/** The key is missing, unknown, expired, or may not do this. */
export class PermissionError extends GranaryError {}
/** The grain, memory or other thing is not there, or was erased. */
export class NotFoundError extends GranaryError {}
/** The state of the thing does not allow it, such as a grain that has a newer version. */
export class ConflictError extends GranaryError {}
/** Too many requests, or too much work. */
export class LimitError extends GranaryError {}
/** The server failed, or is not ready. */
export class ServerError extends GranaryError {}
/** No answer came, or it broke off. */
export class ConnectionError extends GranaryError {}
/** The answer took longer than the timeout. */
export class TimeoutError extends GranaryError {}
/** The call would leave the scope that the memory was opened with, or lacks its confirmation. Nothing was sent. */
export class ScopeError extends GranaryError {}

/** The class of a status. */
function classOf(status: number): typeof GranaryError {
  if (status === 401 || status === 403) return PermissionError;
  if (status === 404 || status === 410) return NotFoundError;
  if (status === 409 || status === 412) return ConflictError;
  if (status === 429) return LimitError;
  return status >= 500 ? ServerError : InvalidRequestError;
}

/** Statuses after which the same request may succeed. A query's own limits (CAL codes) are met again. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/** The error of an answer. Proxies answer without the contract's body. */
export function errorOf(status: number, headers: Headers, body: string, nowMs = Date.now()): GranaryError {
  const { error, reasons } = parsedObject(body);
  const refusal: JsonObject =
    typeof error === 'object' && error !== null && !Array.isArray(error) ? (error as JsonObject) : {};
  const { code, message, details, request_id: requestId } = refusal;
  const parts: ErrorParts = {
    code: typeof code === 'string' ? code : `HTTP-${status}`,
    status,
    requestId: typeof requestId === 'string' ? requestId : (headers.get('x-request-id') ?? undefined),
    retryable: RETRYABLE.has(status) && !(typeof code === 'string' && code.startsWith('CAL-')),
    details: Array.isArray(details) ? details : [],
    retryAfterMs: retryAfterOf(headers.get('retry-after'), nowMs),
  };
  // The health of a server that is unavailable says why, in place of an error.
  const why = Array.isArray(reasons) && reasons.length > 0 ? `: ${reasons.join('; ')}` : '';
  const text = typeof message === 'string' ? message : `the server answered ${status}${why}`;
  return new (classOf(status))(text, parts);
}

/** Seconds or a date, as HTTP has it; undefined for anything else. */
function retryAfterOf(text: string | null, nowMs: number): number | undefined {
  if (text === null || text.trim() === '') return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
