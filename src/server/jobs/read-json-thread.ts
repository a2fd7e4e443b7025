// The thread that parses long JSON bodies, and decodes long gRPC messages like their operations.
import { assert } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { parseBody } from '../http/json.ts';
import type { UnknownMember } from '../operations/unknown-members.ts';
import type { LongRequest, ReadMessage, ReadOutcome } from './read-json.ts';

export default async function readInThread({ bytes, rpc }: LongRequest): Promise<ReadOutcome> {
  try {
    return { value: rpc === undefined ? parseBody(bytes) : await readMessage(rpc, bytes) };
  } catch (error) {
    if (error instanceof EngineError) return { error: error.toWire() };
    throw error;
  }
}

/** The operation table costs this thread 0.3 s and 50 MB, so it is loaded with the first message. */
async function readMessage(rpc: string, bytes: Uint8Array): Promise<ReadMessage> {
  const { OPERATIONS } = await import('../operations/table.ts');
  const row = OPERATIONS.find(({ grpc }) => grpc?.rpc === rpc)?.grpc;
  assert(row !== undefined, `${rpc} has a row`);
  const unknown: UnknownMember[] = [];
  return { candidate: row.read(bytes, unknown), unknown };
}
