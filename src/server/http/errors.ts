// Sends EngineErrors over HTTP.
import { EngineError } from '../../engine/base/errors.ts';
import { HEADER_BYTES_MAX } from '../../engine/base/limits.ts';
import { randomId } from '../control/ids.ts';
import { STATUS } from '../status.ts';
import type { HttpRequest, RefusedStatus, ResponseHeaders } from './listener.ts';

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
  const { code, message, details, more } = error;
  return JSON.stringify({ error: { ...more, code, message, details, request_id: requestId } });
}

/** The listener's own error, for requests rejected before a request id is known. */
export function refusal(status: RefusedStatus): { readonly headers: ResponseHeaders; readonly body: string } {
  const id = randomId('req');
  return {
    headers: [
      ['content-type', 'application/json'],
      ['x-request-id', id],
    ],
    body: errorBody(REFUSALS[status], id),
  };
}

const REFUSALS: Readonly<Record<RefusedStatus, EngineError>> = {
  400: new EngineError('VAL-E002', 'the request is not valid HTTP/1.1'),
  408: new EngineError('SYS-E005', 'the request did not complete in time'),
  431: new EngineError('LIM-E003', `the headers are larger than ${HEADER_BYTES_MAX} bytes`),
};
