// An EngineError as HTTP carries it.
import type { EngineError } from '../../engine/errors.ts';
import { STATUS } from '../status.ts';
import type { HttpRequest, ResponseHeaders } from './listener.ts';

/** Answers with the error's status and the contract's body. */
export function respondError(
  request: HttpRequest,
  error: EngineError,
  requestId: string,
  headers: ResponseHeaders = [],
): void {
  request.respond(
    STATUS[error.code].http,
    [['content-type', 'application/json'], ...headers],
    errorBody(error, requestId),
  );
}

/** The contract's error body, as JSON text. */
export function errorBody(error: EngineError, requestId: string): string {
  const { code, message, details } = error;
  return JSON.stringify({ error: { code, message, details, request_id: requestId } });
}
