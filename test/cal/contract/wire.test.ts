// Sections 1 and 3.1 of the contract over gRPC: statuses, details, and queries that are not text.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { CalQueryRequest, CalQueryResponse } from '../../../src/server/gen/memory/v1/memory.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let client: Client;
before(async () => {
  server = await startTestServer({ calStrict: 'true' });
  client = new Client(server.grpc, credentials.createInsecure());
});
after(async () => {
  client.close();
  await server.close();
  assert.deepEqual(server.errors, []);
});

function call(query: string | Uint8Array): Promise<ServiceError | CalQueryResponse> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${server.key}`);
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      '/memory.v1.MemoryService/CalQuery',
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => CalQueryResponse.decode(bytes),
      typeof query === 'string' ? Buffer.from(CalQueryRequest.encode({ query }).finish()) : messageOf(query),
      metadata,
      (error, answer) => resolve(error ?? answer!),
    );
  });
}

/** A request with these bytes as query, fewer than 128. */
function messageOf(query: Uint8Array): Buffer {
  assert.ok(query.length < 128);
  return Buffer.concat([Buffer.from([0x0a, query.length]), query]);
}

const bytes = (...parts: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

const ZEROS = `sha256:${'0'.repeat(64)}`;

for (const [name, query, code, expected] of [
  ['a syntax error', 'RECALL beliefs OR', 'E002', status.INVALID_ARGUMENT],
  ['too many bytes', 'x'.repeat(65_536), 'E001', status.INVALID_ARGUMENT],
  ['nothing', '', 'E014', status.INVALID_ARGUMENT],
  ['bytes that are no UTF-8', bytes('RECALL', [0xff, 0xfe]), 'E070', status.INVALID_ARGUMENT],
  ['an overlong form in a string', bytes('RECALL LIKE "', [0xc0, 0xaf], '"'), 'E070', status.INVALID_ARGUMENT],
  ['half a surrogate pair as bytes', bytes('RECALL LIKE "', [0xed, 0xa0, 0x80], '"'), 'E070', status.INVALID_ARGUMENT],
  ['a sequence that ends early', bytes('RECALL LIKE "é', [0xe2, 0x82], '"'), 'E070', status.INVALID_ARGUMENT],
  ['a byte order mark', '\ufeffRECALL beliefs', 'E002', status.INVALID_ARGUMENT],
  ['a write', `SUPERSEDE ${ZEROS} SET object = "x" REASON "r"`, 'E044', status.PERMISSION_DENIED],
  ['a version that is not there', `HISTORY ${ZEROS} DIFF ${ZEROS}`, 'E046', status.NOT_FOUND],
  ['a template that is not there', 'RECALL AS TEMPLATE nowhere', 'E085', status.NOT_FOUND],
  ['the name of a preset', 'DEFINE TEMPLATE readable AS "x"', 'E088', status.ALREADY_EXISTS],
  ['a stream', 'ASSEMBLE FROM (RECALL) STREAM', 'E079', status.UNIMPLEMENTED],
] as const)
  test(`${name} is CAL-${code}`, async () => {
    const error = (await call(query)) as ServiceError;
    assert.equal(error.code, expected, error.details);
    assert.ok(error.details.startsWith(`CAL-${code}: `), error.details);
    assert.deepEqual(error.metadata.get('x-error-code'), [`CAL-${code}`]);
    const [detail] = error.metadata.get('grpc-status-details-bin');
    assert.ok(Buffer.isBuffer(detail));
    const text = detail.toString();
    const body = JSON.parse(text.slice(text.indexOf('{')));
    assert.equal(body.error.code, `CAL-${code}`);
    assert.ok(body.error.suggestion.length > 0);
  });

test('text of any script is accepted, the replacement character included', async () => {
  for (const query of [' RECALL LIKE "שלום 🎉 \ufffd" ', '\n{"statement":"recall","like":"Zürich"}\t']) {
    const answer = (await call(query)) as CalQueryResponse;
    assert.equal(answer.query, query);
    assert.equal(answer.queryHash, createHash('sha256').update(query.trim()).digest('hex'));
    assert.equal(answer.statementType, 'recall');
    assert.equal(answer.resultCount, 0);
    assert.equal(JSON.parse(answer.resultJson)._cal.query_hash, `sha256:${answer.queryHash}`);
  }
});
