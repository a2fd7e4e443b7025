import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse as parseToml } from 'smol-toml';
import { Failure } from '../../failure.ts';
import { entryIn, withEntry } from './edit.ts';

const JSON_FORM = { format: 'json', servers: 'mcpServers' } as const;
const JSONC = { format: 'jsonc', servers: 'servers' } as const;
const TOML = { format: 'toml', servers: 'mcp_servers' } as const;
const ENTRY = { command: '/usr/bin/node', args: ['a b', '--x', 'q"uote\\'], env: { K: 'v' } };

test('an entry is set and removed, and the rest of the text stays, comments and layout too', () => {
  const jsonc = '// my servers\n{\n\t"servers": {\n\t\t"other": { "command": "x" }, // keep\n\t},\n\t"inputs": []\n}\n';
  const set = withEntry(jsonc, JSONC, ENTRY);
  for (const part of ['// my servers', '// keep', '\t\t"other": { "command": "x" }', '"inputs": []'])
    assert.ok(set.includes(part), set);
  assert.deepEqual(entryIn(set, JSONC), ENTRY);
  const gone = withEntry(set, JSONC, undefined);
  assert.ok(gone.includes('// keep') && entryIn(gone, JSONC) === undefined, gone);
  assert.equal(withEntry(withEntry(set, JSONC, { command: 'other' }), JSONC, ENTRY).includes('"other"'), true);

  const toml = '# mine\r\nmodel = "m"\r\n\r\n[mcp_servers.other]\r\ncommand = "x" # keep\r\n';
  const tomlSet = withEntry(toml, TOML, ENTRY);
  assert.ok(tomlSet.startsWith(toml) && !/[^\r]\n/.test(tomlSet), tomlSet);
  assert.deepEqual(entryIn(tomlSet, TOML), ENTRY);
  assert.equal(withEntry(tomlSet, TOML, undefined), toml);
  const tables = '[mcp_servers."granary"]\ncommand = "old"\n[mcp_servers.granary.env]\nA = "b"\n\n[tui]\nx = 1\n';
  const replaced = withEntry(tables, TOML, ENTRY);
  assert.deepEqual(JSON.parse(JSON.stringify(parseToml(replaced))), { tui: { x: 1 }, mcp_servers: { granary: ENTRY } });
});

test('a text that is empty, or has a mark of byte order, is a configuration', () => {
  for (const form of [JSON_FORM, JSONC, TOML])
    for (const text of ['', ' \n', form.format === 'toml' ? '\uFEFFa = 1\n' : '\uFEFF{"a": 1}\r\n']) {
      const set = withEntry(text, form, ENTRY);
      assert.deepEqual(entryIn(set, form), ENTRY);
      assert.equal(set.startsWith('\uFEFF'), text.startsWith('\uFEFF'));
    }
});

test('a text of another form is refused with the place', () => {
  const cases = [
    [JSON_FORM, '{\n  "mcpServers": {},\n}', /^it is not JSON \(line 3: \w+\); the file was not changed/],
    [JSON_FORM, '{} // comment', /^it is not JSON \(line 1/],
    [JSON_FORM, '[1]', /holds no object/],
    [JSON_FORM, '{"mcpServers": []}', /`mcpServers` in it is not an object/],
    [JSONC, 'servers: {}', /^it is not JSON with comments \(line 1/],
    [TOML, 'model = ', /^it is not TOML \(/],
    [TOML, 'mcp_servers = 5', /`mcp_servers` in it is not an object/],
    // The entry within a table of its own cannot be cut out by lines.
    [TOML, 'mcp_servers = { granary = { command = "x" } }', /cannot be edited safely|not TOML/],
    [TOML, 'text = """\n[mcp_servers.granary]\n"""\n', /cannot be edited safely|not TOML/],
  ] as const;
  for (const [form, text, message] of cases)
    assert.throws(
      () => withEntry(text, form, ENTRY),
      (error) => error instanceof Failure && error.code === 'FILE' && message.test(error.message),
      text,
    );
});
