// Server reflection, v1 and v1alpha: clients without the proto files request descriptors. Both versions have the same
// messages.
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { onDemand } from '../../engine/base/on-demand.ts';
import { GRPC_STATUS, type GrpcStatus } from '../status.ts';
import type * as Descriptor from './descriptor.ts';
import type { GrpcOptions } from './front.ts';
import type { Conversation, StreamingCall, StreamingMethod } from './streaming-call.ts';
import { ProtocolError } from './trailers.ts';

const described = onDemand<typeof Descriptor>(import.meta.url, './descriptor');

/** ServerReflectionRequest has `host` and one of the other fields, which selects the question. */
const HOST = 1;
const FILE_BY_FILENAME = 3;
const FILE_CONTAINING_SYMBOL = 4;
const FILE_CONTAINING_EXTENSION = 5;
const ALL_EXTENSION_NUMBERS = 6;
const LIST_SERVICES = 7;

interface Question {
  readonly host: string;
  /** The last field present, as in any oneof; 0 for none. */
  readonly field: number;
  /** A name; for an extension, the name of the type. */
  readonly text: string;
  /** Number of an extension. */
  readonly number: number;
}

/** By path. */
export function reflectionMethods(allow: GrpcOptions['allowReflection']): ReadonlyMap<string, StreamingMethod> {
  const method: StreamingMethod = { converse: (call) => new Reflection(call, allow) };
  return new Map(['v1', 'v1alpha'].map((version) => [pathOf(version), method]));
}

function pathOf(version: string): string {
  return `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
}

class Reflection implements Conversation {
  private readonly call: StreamingCall;
  private readonly allowed: Promise<void>;

  constructor(call: StreamingCall, allow: GrpcOptions['allowReflection']) {
    this.call = call;
    this.allowed = admit(call, allow);
    // Reports a rejection even if the caller sends no request.
    this.allowed.catch((caught: unknown) => call.fail(caught));
  }

  async message(bytes: Buffer): Promise<void> {
    await this.allowed;
    this.call.say(answerTo(bytes));
  }

  ended(): void {
    this.allowed.then(
      () => this.call.complete(),
      () => undefined,
    );
  }

  settled(): void {
    // Nothing to release.
  }
}

async function admit(call: StreamingCall, allow: GrpcOptions['allowReflection']): Promise<void> {
  await allow(call);
}

/** A ServerReflectionResponse: host, the request itself, and an answer or an error. */
function answerTo(bytes: Uint8Array): Uint8Array {
  const question = questionIn(bytes);
  const writer = new BinaryWriter().uint32(10).string(question.host).uint32(18).bytes(bytes);
  const { field, text, number } = question;
  switch (field) {
    case FILE_BY_FILENAME:
      return filesOrError(writer, text, `Proto file not found: ${text}`);
    case FILE_CONTAINING_SYMBOL:
      return filesOrError(writer, described().fileOfSymbol(text) ?? '', `Symbol not found: ${text}`);
    case FILE_CONTAINING_EXTENSION: // the contract has none
      return withError(writer, GRPC_STATUS.NOT_FOUND, `Extension not found for symbol ${text} at field ${number}`);
    case ALL_EXTENSION_NUMBERS:
      return withError(writer, GRPC_STATUS.NOT_FOUND, `Extensions not found for symbol ${text}`);
    case LIST_SERVICES:
      writer.uint32(50).fork();
      for (const name of described().SERVICE_NAMES) writer.uint32(10).fork().uint32(10).string(name).join();
      return writer.join().finish();
    default:
      return withError(writer, GRPC_STATUS.UNIMPLEMENTED, 'Unimplemented method for request: undefined');
  }
}

/** The file with its imports, or an error. */
function filesOrError(writer: BinaryWriter, name: string, missing: string): Uint8Array {
  const files = described().filesNeeded(name);
  if (files.length === 0) return withError(writer, GRPC_STATUS.NOT_FOUND, missing);
  writer.uint32(34).fork();
  for (const file of files) writer.uint32(10).bytes(file);
  return writer.join().finish();
}

function withError(writer: BinaryWriter, code: GrpcStatus, message: string): Uint8Array {
  return writer.uint32(58).fork().uint32(8).int32(code).uint32(18).string(message).join().finish();
}

function questionIn(bytes: Uint8Array): Question {
  let [host, field, text, number] = ['', 0, '', 0];
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [tag, wireType] = reader.tag();
      if (wireType !== 2 || tag > LIST_SERVICES) reader.skip(wireType, tag);
      else if (tag === HOST) host = reader.string();
      else if (tag === FILE_CONTAINING_EXTENSION) {
        field = tag;
        [text, number] = extensionIn(reader.bytes());
      } else {
        field = tag;
        text = reader.string();
      }
    }
  } catch {
    throw new ProtocolError(GRPC_STATUS.INTERNAL, 'VAL-E003', 'Error deserializing request');
  }
  return { host, field, text, number };
}

/** ExtensionRequest: extended type and number. */
function extensionIn(bytes: Uint8Array): [type: string, number: number] {
  let [type, number] = ['', 0];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [tag, wireType] = reader.tag();
    if (tag === 1 && wireType === 2) type = reader.string();
    else if (tag === 2 && wireType === 0) number = reader.int32();
    else reader.skip(wireType, tag);
  }
  return [type, number];
}
