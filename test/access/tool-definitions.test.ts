// Tool definitions: an invalid schema is rejected with the same code on every write path, and nothing is stored.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { encodeGrain } from '../../src/engine/grain/codec/blob.ts';
import type { ValueMap } from '../../src/engine/grain/value.ts';
import { Refusal } from '../conformance/contract.ts';
import { GrpcClient } from '../conformance/grpc-client.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let http: HttpClient;
let grpc: GrpcClient;
before(async () => {
  server = await startTestServer({ calTier1: 'true' });
  http = new HttpClient(server.http, server.key);
  grpc = GrpcClient.open(server.grpc, server.key);
});
after(async () => {
  grpc.close();
  await server.close();
});

const M = '/memories/default';

function nested(levels: number): object {
  let schema: object = { type: 'string' };
  for (let i = 0; i < levels; i += 1) schema = { type: 'array', items: schema };
  return { type: 'object', properties: { deep: schema } };
}
const withProperty = (property: object) => ({ type: 'object', properties: { a: property } });

/** Invalid definitions by error code. */
const WRONG: readonly (readonly [code: string, what: string, fields: object])[] = [
  ['MEM-E101', 'no type at the root', { input_schema: { properties: {} } }],
  ['MEM-E101', 'another type at the root', { input_schema: { type: 'array' } }],
  ['MEM-E101', 'of the output', { output_schema: { type: 'string' } }],
  ['MEM-E102', 'a reference', { input_schema: withProperty({ $ref: '#/x' }) }],
  ['MEM-E102', 'alternatives', { input_schema: { type: 'object', oneOf: [{ type: 'object' }] } }],
  ['MEM-E102', 'properties by pattern', { input_schema: { type: 'object', patternProperties: {} } }],
  ['MEM-E102', 'a keyword that nobody knows', { output_schema: withProperty({ type: 'string', sideEffect: true }) }],
  ['MEM-E102', 'another format', { input_schema: withProperty({ type: 'string', format: 'ipv4' }) }],
  ['MEM-E102', 'in items', { input_schema: withProperty({ type: 'array', items: { allOf: [] } }) }],
  ['MEM-E102', 'in further properties', { input_schema: { type: 'object', additionalProperties: { not: {} } } }],
  ['MEM-E103', 'read only and destructive', { annotations: { read_only: true, destructive: true } }],
  ['MEM-E104', 'a person in a description', { input_schema: withProperty({ description: 'like ada@example.com' }) }],
  ['MEM-E104', 'a number in a default', { input_schema: withProperty({ type: 'string', default: '123-45-6789' }) }],
  ['MEM-E104', 'in a list', { input_schema: withProperty({ enum: ['x', 'call +1 415 555 2671'] }) }],
  [
    'MEM-E104',
    'in the name of a property',
    { input_schema: { type: 'object', properties: { 'ada@example.com': {} } } },
  ],
  ['MEM-E105', 'too deep', { input_schema: nested(17) }],
  ['MEM-E106', 'a pattern that is none', { input_schema: withProperty({ type: 'string', pattern: '([a-z' }) }],
  ['MEM-E106', 'a pattern that is no text', { input_schema: withProperty({ type: 'string', pattern: 7 }) }],
];

const definition = (more: object) => ({
  kind: 'definition',
  tool_name: 'plan',
  tool_description: 'plans a day',
  input_schema: { type: 'object' },
  ...more,
});

async function codeOf(asking: Promise<unknown>): Promise<string> {
  try {
    await asking;
    return 'ok';
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

/** The code of the only item of a batch. */
const codeOfItem = ({ errors }: { errors: readonly { code: string }[] }): string => errors[0]?.code ?? 'ok';

let stores = 0;
async function stored(): Promise<string> {
  stores += 1;
  const grain = { grain_type: 'action', fields: definition({ tool_name: `good_${stores}` }) };
  return (await http.post(`${M}/batch-add`, { grains: [grain] })).added[0].blob_hash;
}

/** Every write path for the fields of a definition; each returns the code. */
const WAYS: Readonly<Record<string, (fields: object) => Promise<string>>> = {
  'batch-add': async (fields) =>
    codeOfItem(await http.post(`${M}/batch-add`, { grains: [{ grain_type: 'action', fields: definition(fields) }] })),
  'gRPC Add': (fields) =>
    codeOf(grpc.call('Add', { grain_type: 'action', fields_json: JSON.stringify(definition(fields)) })),
  'gRPC BatchAdd': async (fields) => {
    const item = { grain_type: 'action', fields_json: JSON.stringify(definition(fields)) };
    const { results } = await grpc.call('BatchAdd', { items: [item] });
    return results[0].error_code;
  },
  supersede: async (fields) => codeOf(http.post(`${M}/supersede`, { blob_hash: await stored(), ...fields })),
  'gRPC Supersede': async (fields) =>
    codeOf(grpc.call('Supersede', { old_hash: await stored(), fields_json: JSON.stringify(fields) })),
  accumulate: async (fields) =>
    codeOf(http.post(`${M}/accumulate`, { blob_hash: await stored(), deltas: { success_count: 1 }, set: fields })),
  'import-file': async (fields) => {
    const { kind: _, ...rest } = definition(fields);
    const grain = { ...rest, action_phase: 'definition', namespace: 'default', created_at: 1_700_000_000_000 };
    const { blob } = encodeGrain('action', grain as ValueMap); // JSON is a map of values
    const form = new FormData();
    form.append('file', new Blob([Uint8Array.from(blob)]), 'f.mg');
    return codeOfItem(await http.call('POST', `${M}/import-file`, { body: form }));
  },
};

for (const [writePath, ask] of Object.entries(WAYS))
  describe(`by ${writePath}`, () => {
    for (const [code, what, fields] of WRONG)
      test(`${what}: ${code}`, async () => {
        const before = (await http.get(`${M}/grains?grain_type=action&limit=500`)).total;
        const isBlob = writePath === 'import-file';
        assert.equal(await ask(fields), code);
        // The grain that the supersede was tried on exists.
        const made = ['supersede', 'gRPC Supersede', 'accumulate'].includes(writePath) ? 1 : 0;
        const after = (await http.get(`${M}/grains?grain_type=action&limit=500`)).total;
        assert.equal(after - before, made, isBlob ? 'nothing is imported' : 'nothing is stored');
      });

    test('valid schemas are accepted', async () => {
      const property = { type: 'string', format: 'date', default: '2024-01-31', examples: ['https://example.com'] };
      const schema = {
        ...withProperty({ ...property, pattern: '^[0-9-]+$', description: 'a day in Paris', minLength: 1 }),
        required: ['a'],
        additionalProperties: false,
      };
      const annotations = { read_only: true, destructive: false };
      const code = await ask({ input_schema: schema, output_schema: nested(15), annotations });
      assert.ok(code === 'ok' || code === '', code);
    });
  });

test('a tool call is not a definition', async () => {
  const fields = {
    tool_name: 'plan',
    input: { $ref: 'x' },
    content: 'done',
    annotations: { read_only: true, destructive: true },
  };
  const { errors } = await http.post(`${M}/batch-add`, { grains: [{ grain_type: 'action', fields }] });
  assert.deepEqual(errors, []);
});

test('CAL rejects an ADD or SUPERSEDE of a definition', async () => {
  const hash = await stored();
  const codeFor = (query: string) => codeOf(http.post(`${M}/app/exec`, { command: 'cal', args: { query } }));
  const before = (await http.get(`${M}/grains?grain_type=action&limit=500`)).total;
  const add =
    'ADD action SET kind = "definition" SET tool_name = "t" SET tool_description = "d" SET input_schema = "x" REASON "r"';
  assert.notEqual(await codeFor(add), 'ok');
  assert.notEqual(await codeFor(`SUPERSEDE sha256:${hash} SET input_schema = "x" REASON "r"`), 'ok');
  assert.equal((await http.get(`${M}/grains?grain_type=action&limit=500`)).total, before);
});
