// An EngineError as gRPC carries it: a status, the message, and the code and request id in the trailers.
import { Metadata, type StatusObject } from '@grpc/grpc-js';
import { EngineError } from '../../engine/errors.ts';
import { STATUS } from '../status.ts';

/** Trailers share one frame with the rest: a message is cut before it could break that. */
const MESSAGE_CHARS_MAX = 2_000;

/** What grpc-js sends instead of a message. */
export function statusOf(error: EngineError, headers: Readonly<Record<string, string>>): Partial<StatusObject> {
  const metadata = trailersOf(headers);
  metadata.set('x-error-code', error.code);
  // A lone surrogate cannot be encoded, and would lose the whole answer.
  const details = error.message.slice(0, MESSAGE_CHARS_MAX).toWellFormed();
  return { code: STATUS[error.code].grpc, details, metadata };
}

export function trailersOf(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const name of Object.keys(headers)) {
    const value = headers[name]!;
    metadata.set(name, PRINTABLE.test(value) ? value : encodeURI(value.toWellFormed()));
  }
  return metadata;
}

const PRINTABLE = /^[ -~]*$/;

/** What the caller learns of something thrown: an EngineError as it is, of a bug only that it is one. */
export function asEngineError(caught: unknown): EngineError {
  return caught instanceof EngineError ? caught : new EngineError('SYS-E001');
}
