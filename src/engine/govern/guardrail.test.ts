import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ValueMap } from '../grain/value.ts';
import { matchesGuardrail } from './guardrail.ts';
import type { GuardrailMode } from './policy/rules.ts';

const ROWS: readonly (readonly [mode: GuardrailMode, pattern: string, fields: ValueMap, field: string | undefined])[] =
  [
    ['exact', 'Project X', { subject: 'a', object: 'ｐroject  x' }, 'object'],
    ['exact', 'Project X', { object: 'all of project x' }, undefined],
    ['contains', 'project x', { content: 'All of Project\nX is late' }, 'content'],
    ['contains', 'project x', { content: 'project y' }, undefined],
    ['contains', 'deep', { data: { list: [{ name: 'so DEEP' }] } }, 'data'],
    ['contains', 'key', { data: { my_key: 1 } }, 'data'],
    ['contains', 'project x', { content: 'pro\u200bject\u2060 \u00adx' }, 'content'],
    ['exact', 'pro\u200bject', { content: 'PROJECT' }, 'content'],
    ['contains', '', { content: 'anything' }, undefined],
    ['fuzzy', 'confidential merger', { content: 'the confidental merger with Acme' }, 'content'],
    ['fuzzy', 'confidential merger', { content: 'a confident manager' }, undefined],
    ['fuzzy', 'confidential merger', { content: 'merger' }, undefined],
  ];

for (const [mode, pattern, fields, field] of ROWS)
  test(`${mode} "${pattern}" in ${JSON.stringify(fields)}: ${field ?? 'no'}`, () => {
    assert.equal(matchesGuardrail(fields, ['nothing like it', pattern], mode), field);
  });
