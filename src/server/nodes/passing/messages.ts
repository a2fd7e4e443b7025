// Messages of requests that one node passes on to the owner of the control log, and of their answers: u32 the number of the request,
// little-endian, u8 the kind, and the rest by kind. Bytes of a body go in pieces, the next one when the last one was taken.
import type { EngineError } from '../../../engine/base/errors.ts';

/** To the owner: `open` (head as JSON), `aborted`, `unread` (error as JSON: the body did not come). */
const TO_OWNER = ['open', 'aborted', 'unread'] as const;
/** From it: `refused` (nothing ran: no more requests are wanted before `serving`, which is of no request), `want` (u32 bytes at most: the body), `answer` (head as JSON), `cut`. */
const FROM_OWNER = ['refused', 'serving', 'want', 'answer', 'cut'] as const;
/** Both ways: a `piece` of a body, the `last` one, and `more` for a piece that was taken. */
const BOTH_WAYS = ['piece', 'last', 'more'] as const;
const KINDS = [...TO_OWNER, ...FROM_OWNER, ...BOTH_WAYS] as const;
export type PassedKind = (typeof KINDS)[number];

const HEAD_BYTES = 5;

export interface HttpHead {
  readonly face: 'http';
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly authority: string | undefined;
  readonly remoteAddress: string;
  readonly headers: readonly string[];
  /** Of `HttpRequest`. */
  readonly isKnownPage?: boolean | undefined;
}

export interface GrpcHead {
  readonly face: 'grpc';
  readonly service: string;
  readonly method: string;
  readonly remoteAddress: string;
  readonly headers: readonly string[];
  /** Until its deadline, in milliseconds. */
  readonly leftMs: number | undefined;
}

export type RequestHead = HttpHead | GrpcHead;

export interface AnswerHead {
  /** Of HTTP. */
  readonly status?: number | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The answer is a stream: its pieces are sent as they come. */
  readonly isStream?: boolean | undefined;
  /** The error of a gRPC call. */
  readonly error?: ReturnType<EngineError['toWire']> | undefined;
}

export interface PassedMessage {
  readonly id: number;
  readonly kind: PassedKind;
  readonly body: Buffer;
}

export function passedHead(id: number, kind: PassedKind): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32LE(id, 0);
  head.writeUInt8(KINDS.indexOf(kind), 4);
  return head;
}

/** Undefined for a kind of a newer version. Throws for a message that breaks off. */
export function readPassed(bytes: Buffer): PassedMessage | undefined {
  const kind = KINDS[bytes.readUInt8(4)];
  return kind === undefined ? undefined : { id: bytes.readUInt32LE(0), kind, body: bytes.subarray(HEAD_BYTES) };
}
