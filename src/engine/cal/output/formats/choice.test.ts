import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Format, FormatChoice } from '../../ast.ts';
import type { TemplateDefinition } from '../template.ts';
import { formatEntries, formatName, resolveFormats } from './choice.ts';

const named = (name: string): Format => ({ kind: 'named', name });
const list = (...formats: (Format | [Format, string])[]): FormatChoice => ({
  kind: 'list',
  formats: formats.map((one) => (Array.isArray(one) ? { format: one[0], alias: one[1] } : { format: one })),
});
const keys = (choice: FormatChoice) => formatEntries(choice).map(({ key }) => key);

test('keys are the names as written or their aliases, and an equal format appears once', () => {
  assert.deepEqual(keys({ kind: 'one', format: named('readable') }), ['readable']);
  assert.deepEqual(keys(list(named('sml'), named('structured'), named('json'))), ['sml', 'json']);
  assert.deepEqual(keys(list(named('sml'), [named('sml'), 'again'])), ['sml', 'again']);
  const inline: Format = { kind: 'template_text', text: 'x' };
  assert.deepEqual(keys(list(inline, named('text'), inline)), ['template', 'text', 'template_2']);
});

test('E113: an alias equals the key of another format', () => {
  assert.throws(() => keys(list(named('sml'), [named('json'), 'sml'])), { code: 'CAL-E113' });
  assert.throws(() => keys(list([named('json'), 'a'], [named('sml'), 'a'])), { code: 'CAL-E113' });
  assert.throws(() => keys(list([named('json'), 'sml'], named('sml'))), { code: 'CAL-E113' });
});

test('E110: the list has more than five formats', () => {
  const six = ['sml', 'markdown', 'text', 'json', 'yaml', 'toon'].map(named);
  assert.throws(() => keys(list(...six)), { code: 'CAL-E110' });
  assert.equal(keys(list(...six.slice(1))).length, 5);
});

test('a reference is a preset or a defined template; any other is E085', () => {
  const definitions: Record<string, TemplateDefinition> = { mine: { body: { text: 'x' } } };
  const resolved = (name: string) => {
    const choice: FormatChoice = { kind: 'one', format: { kind: 'template_reference', name } };
    return resolveFormats(choice, (wanted) => definitions[wanted])[0]!.format;
  };
  assert.deepEqual(resolved('readable'), { kind: 'named', name: 'markdown' });
  assert.equal(formatName(resolved('mine')), 'mine');
  assert.throws(() => resolved('theirs'), { code: 'CAL-E085' });
});
