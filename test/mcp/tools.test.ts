// The tools beside the operation table: what they take from it, what they cost, and what is never one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { BUNDLED } from '../../scripts/build.ts';
import { GENERATED_TOOLS, generateMcp, mcpTools } from '../../scripts/generate-mcp.ts';
import { ROUTES, TOOLS } from '../../src/mcp/gen/tools.ts';
import { FORGET_HASHES_MAX } from '../../src/mcp/plan.ts';
import { CallRefused } from '../../src/mcp/refused.ts';
import { offeredTools } from '../../src/mcp/session.ts';
import { SCOPE_MEMBERS, type Tool } from '../../src/mcp/tool.ts';
import { OPERATIONS } from '../../src/server/operations/table.ts';

const DEFAULT = ['recall', 'context', 'remember', 'correct', 'history', 'list', 'forget', 'status'];
const names = (tools: readonly Tool[]): readonly string[] => tools.map(({ name }) => name);

test('the generated file is that of the table (`npm run client` writes it)', () => {
  assert.ok(readFileSync(GENERATED_TOOLS, 'utf8') === generateMcp(), 'run `npm run client`');
});

test('an operation that loses its row or a member that a tool takes is an error', () => {
  assert.throws(() => mcpTools(OPERATIONS.filter(({ name }) => name !== 'recall')), /no row recall/);
  const recall = OPERATIONS.find(({ name }) => name === 'recall')!;
  const history = OPERATIONS.find(({ name }) => name === 'history')!;
  const without = OPERATIONS.map((row) => (row === recall ? { ...row, input: history.input } : row));
  assert.throws(() => mcpTools(without), /recall has no member query/);
});

test('the default profile has eight tools, and its list costs at most 1,500 tokens', () => {
  const tools = offeredTools({});
  assert.deepEqual(names(tools), DEFAULT);
  const listed = tools.map(({ name, description, inputSchema, outputSchema, annotations }) => ({
    name,
    description,
    inputSchema,
    outputSchema,
    annotations,
  }));
  const tokens = encode(JSON.stringify({ tools: listed })).length;
  assert.ok(tokens > 500 && tokens <= 1_500, `${tokens} tokens`);
});

test('nothing that erases, governs or administers is a tool', () => {
  // Each row that takes something away, or decides what others may do.
  const guarded =
    /forget_user|erase|delete|policy|retention|restrict|consent|key|agent$|agents?_|access|rotate|compact|rebuild|backup|import|export|enforce|memory$|scope_tree|provider|model|hook|harness|thread|audit|settings/;
  const offered = new Set(TOOLS.map(({ operation }) => operation));
  let refused = 0;
  for (const row of OPERATIONS) {
    const isGuarded =
      row.needs === 'admin' || row.on === 'deployment' || guarded.test(row.name) || row.reach === 'deployment';
    if (isGuarded && row.name !== 'delegate_goal') {
      assert.ok(!offered.has(row.name), `${row.name} is a tool`);
      refused += 1;
    }
  }
  assert.ok(refused > 60, `${refused} rows`);
  // `forget` of the table also erases users; the tool names hashes alone.
  const forget = TOOLS.filter(({ operation }) => operation === 'forget');
  assert.deepEqual(
    forget.map(({ inputSchema }) => Object.keys(inputSchema.properties)),
    [['hashes', 'reason']],
  );
  assert.equal((forget[0]!.inputSchema.properties['hashes'] as { maxItems: number }).maxItems, FORGET_HASHES_MAX);
  assert.equal(FORGET_HASHES_MAX, 20);
});

test('no tool takes memory, namespace or user as an argument', () => {
  for (const { name, inputSchema } of TOOLS)
    for (const member of Object.keys(inputSchema.properties))
      assert.ok(!SCOPE_MEMBERS.has(member) && !/user|namespace|memory/.test(member), `${name} takes ${member}`);
});

test('each tool has a route, schemas and annotations that say what it does', () => {
  for (const tool of TOOLS) {
    const row = OPERATIONS.find(({ name }) => name === tool.operation)!;
    assert.ok(ROUTES[tool.operation] !== undefined, tool.name);
    assert.equal(tool.annotations['readOnlyHint'] === true, !tool.changes, tool.name);
    if (!row.mutates) assert.equal(tool.changes, false, tool.name);
    assert.equal(tool.annotations['openWorldHint'], false, tool.name);
    assert.ok(Object.keys(tool.outputSchema.properties).length > 0, tool.name);
    for (const member of tool.inputSchema.required ?? []) assert.ok(member in tool.inputSchema.properties, tool.name);
  }
});

test('a read-only offer has no tool that changes something; a list offers its names alone', () => {
  assert.deepEqual(names(offeredTools({ readOnly: true })), ['recall', 'context', 'history', 'list', 'status']);
  assert.ok(offeredTools({ readOnly: true, profile: 'full' }).every(({ annotations }) => annotations['readOnlyHint']));
  const full = names(offeredTools({ profile: 'full' }));
  for (const name of [...DEFAULT, 'cal', 'session_context', 'create_goal']) assert.ok(full.includes(name), name);
  assert.deepEqual(names(offeredTools({ names: ['cal', 'recall'] })), ['recall', 'cal']);
  assert.deepEqual(names(offeredTools({ names: ['recall', 'remember'], readOnly: true })), ['recall']);
  assert.throws(
    () => offeredTools({ names: ['recal'] }),
    (error) =>
      error instanceof CallRefused &&
      error.code === 'VAL-E001' &&
      /unknown tool recal: use recall, /.test(error.message),
  );
});

test('each package that the build takes in is a development package, or comes with one', () => {
  const root = new URL('../../', import.meta.url);
  const read = (name: string) => JSON.parse(readFileSync(new URL(name, root), 'utf8')); // files of this repository
  const { devDependencies, dependencies } = read('package.json');
  const { packages } = read('package-lock.json');
  const comesAlong = new Set(BUNDLED.filter((name) => name in devDependencies));
  for (const name of comesAlong)
    for (const one of Object.keys(packages[`node_modules/${name}`].dependencies ?? {})) comesAlong.add(one);
  for (const name of BUNDLED) {
    assert.ok(comesAlong.has(name), `${name} is not installed`);
    assert.ok(!(name in dependencies), `${name} is installed although the build has it`);
  }
});
