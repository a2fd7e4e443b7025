// Each template is a definition that could be provisioned as it is: its tools pass the checks of bind-tool, and each is said
// to the model in full.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkToolDefinition } from '../../../engine/govern/policy/tool-schema.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import { checkAssembleQuery } from '../assemble/query.ts';
import { checkToolNames } from '../change.ts';
import { toolFields } from '../tool.ts';
import { toolSpecOf } from '../tool-spec.ts';
import { TEMPLATES, templateNamed } from './table.ts';

test('the templates of the contract are there', () => {
  assert.deepEqual(
    TEMPLATES.map(({ slug }) => slug),
    [
      ...['blank', 'account-360', 'meeting-intelligence', 'support-copilot', 'sales-playbook', 'policy-library'],
      'rfp-questionnaire',
    ],
  );
  assert.throws(() => templateNamed('other'), /HRN-E009/);
});

for (const { slug, goal, systemPrompt, assembleQuery, tools } of TEMPLATES)
  test(`${slug} has a goal, instructions, a query and tools with full schemas`, () => {
    assert.equal(goal === undefined, slug === 'blank');
    assert.ok(systemPrompt.length > 300);
    checkAssembleQuery(assembleQuery);
    checkToolNames(tools.map(({ toolName }) => toolName));
    assert.ok(tools.some(({ executorUri }) => executorUri === 'builtin://recall'));
    for (const tool of tools) {
      const { outputSchema: _, ...spec } = toolSpecOf({ ...tool, examples: tool.examples as JsonObject[] });
      assert.deepEqual(spec, tool);
      checkToolDefinition(toolFields(tool));
      const properties = Object.entries(tool.inputSchema['properties'] ?? {});
      assert.ok(properties.length > 0, tool.toolName);
      for (const [name, schema] of properties)
        assert.ok((schema as JsonObject)['description'], `${tool.toolName}: ${name} has no description`);
      if (tool.executorKind === 'client') assert.ok(tool.examples.length > 0, tool.toolName);
    }
  });
