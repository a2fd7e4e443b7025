// A gRPC client made from the proto file alone, without the server's code; every error is checked against the contract.
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import {
  type ChannelCredentials,
  Client,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { checkGrpcStatus, Refusal } from './contract.ts';

const PROTO = resolve(import.meta.dirname, '../../proto/memory/v1/memory.proto');

// biome-ignore lint/suspicious/noExplicitAny: a message's members are asserted one by one where they are used
export type Message = any;
type Method = MethodDefinition<object, Message>;

const METHODS: ReadonlyMap<string, Method> = new Map(
  ['memory.v1.MemoryService', 'memory.v1.MemoryBatchService'].flatMap((service) =>
    // Loaded with the names of the file, numbers as numbers, and every plain member at its default.
    Object.entries(
      loadSync(PROTO, { keepCase: true, longs: Number, enums: String, defaults: true })[service] as Record<
        string,
        Method
      >,
    ),
  ),
);

/** Names of every rpc of the proto file. */
export const RPCS: readonly string[] = [...METHODS.keys()];

export interface GrpcReply {
  readonly message: Message;
  readonly trailers: Metadata;
}

export class GrpcClient {
  readonly #client: Client;
  readonly #metadata: Readonly<Record<string, string>>;

  constructor(client: Client, metadata: Readonly<Record<string, string>>) {
    this.#client = client;
    this.#metadata = metadata;
  }

  static open(address: string, key: string, channel: ChannelCredentials = credentials.createInsecure()): GrpcClient {
    return new GrpcClient(
      new Client(address, channel, { 'grpc.max_receive_message_length': -1 }),
      key === '' ? {} : { authorization: `Bearer ${key}` },
    );
  }

  /** The same connection with additional or replaced metadata. */
  with(metadata: Readonly<Record<string, string>>): GrpcClient {
    return new GrpcClient(this.#client, { ...this.#metadata, ...metadata });
  }

  /** The same connection without credentials. */
  nobody(): GrpcClient {
    return new GrpcClient(this.#client, {});
  }

  async call(rpc: string, message: object, metadata: Readonly<Record<string, string>> = {}): Promise<Message> {
    return (await this.ask(rpc, message, metadata)).message;
  }

  /** Rejects with `Refusal`; fails when status and trailers differ from the contract. */
  ask(rpc: string, message: object, more: Readonly<Record<string, string>> = {}): Promise<GrpcReply> {
    const method = METHODS.get(rpc);
    assert.ok(method, rpc);
    return this.askBytes(method.path, Buffer.from(method.requestSerialize(message)), more, method.responseDeserialize);
  }

  /** The same with the bytes of the message changed before they are sent. */
  askEdited(
    rpc: string,
    message: object,
    edit: (bytes: Buffer) => Buffer,
    more: Readonly<Record<string, string>> = {},
  ): Promise<GrpcReply> {
    const method = METHODS.get(rpc);
    assert.ok(method, rpc);
    const bytes = edit(Buffer.from(method.requestSerialize(message)));
    return this.askBytes(method.path, bytes, more, method.responseDeserialize);
  }

  /** Sends these bytes as the one message of a call. */
  askBytes(
    path: string,
    bytes: Buffer,
    more: Readonly<Record<string, string>> = {},
    read: (bytes: Buffer) => Message = (answer) => answer,
  ): Promise<GrpcReply> {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries({ ...this.#metadata, ...more })) metadata.set(name, value);
    return new Promise((resolve, reject) => {
      let answer: Message;
      const call = this.#client.makeUnaryRequest(
        path,
        (given: Buffer) => given,
        read,
        bytes,
        metadata,
        (error, value) => {
          if (error === null) answer = value;
          else
            try {
              reject(refusalOf(error, path));
            } catch (wrong) {
              reject(wrong);
            }
        },
      );
      call.on('status', ({ code, metadata: trailers }) => {
        if (code === 0) resolve({ message: answer, trailers });
      });
    });
  }

  close(): void {
    this.#client.close();
  }
}

function refusalOf(error: ServiceError, where: string): Refusal {
  const code = String(error.metadata.get('x-error-code')[0]);
  const requestId = String(error.metadata.get('x-request-id')[0]);
  assert.match(code, /^[A-Z]{3}-E\d{3}$/, `${where}: status ${error.code} (${error.details}) without x-error-code`);
  assert.ok(error.details.startsWith(`${code}: `), `${where}: message ${error.details}`);
  assert.notEqual(requestId, 'undefined', `${where}: no x-request-id`);
  checkGrpcStatus(code, error.code, where);
  return new Refusal(code, error.details, [], requestId);
}
