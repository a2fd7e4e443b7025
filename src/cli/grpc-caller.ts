// Unary gRPC calls: method and message in, message out.
import {
  type ChannelCredentials,
  Client,
  credentials,
  Metadata,
  type ServiceError,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import type { DeepPartial, MessageFns } from '../server/gen/memory/v1/memory.ts';
import { CHALLENGE_HEADER } from '../server/identity.ts';
import type { QueryMode } from '../server/query-mode.ts';
import { Failure } from './failure.ts';

/** A method of the contract and its codecs. */
export interface Method<Req, Res> {
  /** For example `/memory.v1.MemoryService/Recall`. */
  readonly path: string;
  readonly request: MessageFns<Req>;
  readonly response: MessageFns<Res>;
}

export function method<Req, Res>(
  name: string,
  request: MessageFns<Req>,
  response: MessageFns<Res>,
  service = 'MemoryService',
): Method<Req, Res> {
  return { path: `/memory.v1.${service}/${name}`, request, response };
}

export interface CallOptions {
  readonly memory?: string | undefined;
  readonly reason?: string | undefined;
  readonly queryMode?: QueryMode | undefined;
  readonly timeoutMs?: number | undefined;
  /** Sent instead of the API key. */
  readonly challenge?: string | undefined;
}

const TIMEOUT_MS = 60_000;
/** Codes of errors that may pass if the call is repeated. */
const RETRYABLE: ReadonlySet<string> = new Set(['LIM-E001', 'STO-E002', 'NO-SERVER']);

export class GrpcCaller {
  readonly #client: Client;
  readonly #address: string;
  readonly #key: string | undefined;
  readonly #isTls: boolean;

  /**
   * `tlsRoots`: trusted PEM certificates; true: those of the system; undefined: no TLS. `isLocal`: the server is on
   * this machine, so proxy settings of the environment are ignored.
   */
  constructor(options: {
    address: string;
    key: string | undefined;
    tlsRoots: Buffer | true | undefined;
    isLocal: boolean;
  }) {
    this.#address = options.address;
    this.#key = options.key;
    this.#isTls = options.tlsRoots !== undefined;
    this.#client = new Client(options.address, credentialsOf(options.tlsRoots), {
      'grpc.max_send_message_length': -1,
      'grpc.max_receive_message_length': -1,
      // Reconnect quickly: commands are short.
      'grpc.initial_reconnect_backoff_ms': 200,
      'grpc.max_reconnect_backoff_ms': 2_000,
      'grpc.enable_retries': 0,
      'grpc.enable_http_proxy': options.isLocal ? 0 : 1,
    });
  }

  /** Rejects with Failure: the contract's code, or NO-SERVER when no server answers. */
  call<Req, Res>(
    { path, request, response }: Method<Req, Res>,
    message: DeepPartial<Req>,
    options: CallOptions = {},
    onTrailers: (trailers: Metadata) => void = () => undefined,
  ): Promise<Res> {
    const metadata = new Metadata();
    if (options.challenge !== undefined) metadata.set(CHALLENGE_HEADER, options.challenge);
    else if (this.#key !== undefined) metadata.set('authorization', `Bearer ${this.#key}`);
    if (options.memory !== undefined) metadata.set('x-memory-id', options.memory);
    if (options.reason !== undefined) metadata.set('x-reason', options.reason);
    if (options.queryMode !== undefined) metadata.set('x-query-mode', options.queryMode);
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest(
        path,
        (value: Req) => Buffer.from(request.encode(value).finish()),
        (bytes: Buffer) => response.decode(bytes),
        request.fromPartial(message),
        metadata,
        { deadline: Date.now() + (options.timeoutMs ?? TIMEOUT_MS) },
        (error, answer) => {
          if (error !== null) reject(this.#failure(error));
          else resolve(answer!);
        },
      );
      call.on('status', ({ metadata: trailers }: StatusObject) => onTrailers(trailers));
    });
  }

  #failure(error: ServiceError): Failure {
    const given = error.metadata.get('x-error-code')[0];
    const code = typeof given === 'string' ? given : codeOf(error.code);
    if (code === 'NO-SERVER')
      return new Failure(
        code,
        `no server answers at ${this.#address} (gRPC${this.#isTls ? '' : ' without TLS; grpcs:// uses TLS'}): ${reasonOf(error.details)}`,
        true,
      );
    const prefix = `${code}: `;
    const text = error.details.startsWith(prefix) ? error.details.slice(prefix.length) : error.details;
    return new Failure(code, text, RETRYABLE.has(code));
  }

  close(): void {
    this.#client.close();
  }
}

/** Extracts the cause: grpc-js wraps it in a list of its connection attempts. */
function reasonOf(details: string): string {
  return /Last error: (?:Error: )?(.+?)\. Resolution note:/.exec(details)?.[1] ?? details;
}

/** Maps errors of gRPC itself, which carry no code of the contract. */
function codeOf(code: status): string {
  switch (code) {
    case status.UNAVAILABLE:
      return 'NO-SERVER';
    case status.DEADLINE_EXCEEDED:
      return 'SYS-E005';
    case status.RESOURCE_EXHAUSTED:
      return 'LIM-E003';
    case status.UNIMPLEMENTED:
      return 'SYS-E002';
    default:
      return 'SYS-E001';
  }
}

function credentialsOf(tlsRoots: Buffer | true | undefined): ChannelCredentials {
  if (tlsRoots === undefined) return credentials.createInsecure();
  return credentials.createSsl(tlsRoots === true ? null : tlsRoots);
}
