// The end of a call on the wire: status, message and the other trailers.
import { EngineError, type ErrorCode } from '../../engine/base/errors.ts';
import { GRPC_STATUS, type GrpcStatus, STATUS } from '../status.ts';
import type { HeaderBlock } from './call-stream.ts';

/** Trailers share one frame, so long messages are truncated. */
const MESSAGE_CHARS_MAX = 2_000;
const PRINTABLE = /^[ -~]*$/;
const OK = String(GRPC_STATUS.OK);

/** A protocol error: it has gRPC's own status, whatever the contract maps its code to. */
export class ProtocolError extends Error {
  override name = 'ProtocolError';
  readonly status: GrpcStatus;
  readonly code: ErrorCode;
  /** Sent with the status; it helps the caller to correct the request. */
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(status: GrpcStatus, code: ErrorCode, message: string, headers?: Readonly<Record<string, string>>) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** Trailers of a successful call. */
export function trailersOfSuccess(headers: Readonly<Record<string, string>> | undefined): HeaderBlock {
  const trailers: Record<string, string> = { 'grpc-status': OK, 'grpc-message': 'OK' };
  if (headers !== undefined) addTo(trailers, headers);
  return trailers;
}

/** Trailers of a failed call, with the contract's code if there is one. */
export function trailersOfError(
  error: EngineError | ProtocolError,
  headers: Readonly<Record<string, string>> | undefined,
): HeaderBlock {
  const isContracts = error instanceof EngineError;
  // A lone surrogate cannot be encoded and would prevent the whole answer.
  const message = encodeURI(error.message.slice(0, MESSAGE_CHARS_MAX).toWellFormed());
  const status = isContracts ? STATUS[error.code].grpc : error.status;
  const trailers: Record<string, string> = { 'grpc-status': String(status), 'grpc-message': message };
  if (headers !== undefined) addTo(trailers, headers);
  trailers['x-error-code'] = error.code;
  if (!isContracts && error.headers !== undefined) addTo(trailers, error.headers);
  if (isContracts && error.more !== undefined) trailers['grpc-status-details-bin'] = detailsOf(status, error);
  return trailers;
}

/** Maximum bytes of error details; longer ones are left out. */
const DETAILS_BYTES_MAX = 4_096;

/**
 * google.rpc.Status in base64: code, message and one detail, a google.protobuf.StringValue with JSON. Written by hand:
 * three messages of two fields each.
 */
function detailsOf(status: GrpcStatus, error: EngineError): string {
  const { code, message, more } = error;
  const json = Buffer.from(JSON.stringify({ error: { ...more, code, message } }));
  const value = json.length > DETAILS_BYTES_MAX ? Buffer.from(JSON.stringify({ error: { code, message } })) : json;
  const any = Buffer.concat([
    bytesField(1, Buffer.from('type.googleapis.com/google.protobuf.StringValue')),
    bytesField(2, bytesField(1, value)),
  ]);
  const text = Buffer.from(message.slice(0, MESSAGE_CHARS_MAX).toWellFormed());
  return Buffer.concat([Buffer.from([0x08, status]), bytesField(2, text), bytesField(3, any)]).toString('base64');
}

function bytesField(number: number, bytes: Buffer): Buffer {
  const head = [(number << 3) | 2];
  let left = bytes.length;
  for (; left > 0x7f; left >>>= 7) head.push((left & 0x7f) | 0x80);
  head.push(left);
  return Buffer.concat([Buffer.from(head), bytes]);
}

function addTo(trailers: Record<string, string>, headers: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(headers)) {
    const value = headers[name]!;
    trailers[name] = PRINTABLE.test(value) ? value : encodeURI(value.toWellFormed());
  }
}

/** The error to send for a thrown value: errors of the contract as they are, bugs without details. */
export function asRefusal(caught: unknown): EngineError | ProtocolError {
  return caught instanceof EngineError || caught instanceof ProtocolError ? caught : new EngineError('SYS-E001');
}
