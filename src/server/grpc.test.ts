// A thread reads long gRPC messages, as it reads long JSON bodies, with the same result as this thread.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { EngineError } from '../engine/base/errors.ts';
import { JSON_PARSED_HERE_BYTES_MAX } from '../engine/base/limits.ts';
import { AddRequest, SupersedeRequest } from './gen/memory/v1/memory.ts';
import type { GrpcCall } from './grpc/front.ts';
import { grpcHandler } from './grpc.ts';
import { JsonReader } from './jobs/read-json.ts';
import { OPERATIONS } from './operations/table.ts';
import type { UnknownMember } from './operations/unknown-members.ts';
import { TrustedProxies } from './proxies.ts';
import type { Face, ReadInput, Wrapper } from './wrapper.ts';

const reader = new JsonReader();
after(() => reader.close());

const LONG = 'x'.repeat(JSON_PARSED_HERE_BYTES_MAX);
/** Field 1000, which no message defines. */
const STRANGER = Buffer.of(0xc2, 0x3e, 0x00);

function addOf(content: string): Buffer {
  const fields = { content, count: 9_007_199_254_740_993n.toString() };
  const text = JSON.stringify(fields).replace('"9007199254740993"', '9007199254740993');
  const message = AddRequest.fromPartial({ grainType: 'event', fieldsJson: text });
  return Buffer.concat([AddRequest.encode(message).finish(), STRANGER]);
}

test('the thread reads a message like its operation', async () => {
  const row = OPERATIONS.find(({ grpc }) => grpc?.rpc === 'Add')?.grpc;
  assert.ok(row !== undefined);
  const bytes = addOf(LONG);
  const unknown: UnknownMember[] = [];
  const candidate = row.read(bytes, unknown);
  assert.equal(unknown.length, 1);
  assert.deepEqual(await reader.readMessage('Add', bytes), { candidate, unknown });
});

test('an invalid message has the same code from the thread', async () => {
  const broken = SupersedeRequest.encode(SupersedeRequest.fromPartial({ oldHash: 'f', fieldsJson: `{"a":"${LONG}` }));
  const row = OPERATIONS.find(({ grpc }) => grpc?.rpc === 'Supersede')?.grpc;
  assert.ok(row !== undefined);
  const bytes = broken.finish();
  let here: unknown;
  try {
    row.read(bytes, []);
  } catch (error) {
    here = error;
  }
  assert.ok(here instanceof EngineError);
  await assert.rejects(reader.readMessage('Supersede', bytes), { code: here.code, message: here.message });
  await assert.rejects(reader.readMessage('Add', Buffer.alloc(300_000, 0xff)), { code: 'VAL-E003' });
});

test('only long messages go to the thread', async () => {
  const read: ReadInput[] = [];
  // Accepts every caller and runs nothing.
  const wrapper = {
    perform: async (_: unknown, face: Face<unknown>) => {
      read.push(await face.read());
      return { ok: false, error: new EngineError('SYS-E005'), requestId: '', headers: {} };
    },
  } as unknown as Wrapper;
  const elsewhere: string[] = [];
  const handle = grpcHandler({
    wrapper,
    proxies: new TrustedProxies([]),
    httpPort: () => undefined,
    readLong: (rpc, bytes) => {
      elsewhere.push(rpc);
      return reader.readMessage(rpc, bytes);
    },
  });
  for (const content of ['short', LONG]) {
    const call: Partial<GrpcCall> = { method: 'Add', bytes: addOf(content), header: () => undefined };
    await handle(call as GrpcCall); // the members that the handler reads
  }
  assert.deepEqual(elsewhere, ['Add']);
  const [short, long] = read;
  assert.ok(short !== undefined && long !== undefined);
  assert.deepEqual([short.unknown.length, long.unknown.length], [1, 1]);
  assert.deepEqual(long.bytes, addOf(LONG));
});
