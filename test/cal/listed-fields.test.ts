// Listed fields of the index against the grains: every condition on one finds the same as opening all grains, also for
// oddly written fields.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldValue } from '../../src/engine/cal/output/fields.ts';
import type { CalGrain } from '../../src/engine/cal/output/grain.ts';
import { passes } from '../../src/engine/cal/run/field-test.ts';
import { calGrain } from '../../src/engine/cal/run/grain-of.ts';
import { fieldsOf } from '../../src/engine/cal/vocabulary/fields.ts';
import { pluralOf, SINGULARS } from '../../src/engine/cal/vocabulary/grain-types.ts';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import { isListed } from '../../src/engine/store/indexed-fields.ts';
import { contextOf } from '../support/shard.ts';
import { fixtureItems } from './fixture.ts';
import { CalMemory, type ParsedJson } from './memory.ts';

const ODD: readonly AddItem[] = [
  {
    grainType: 'action',
    fields: {
      tool_name: 'plan',
      action_phase: 'definition',
      tool_description: 'plans',
      input_schema: { type: 'object' },
    },
  },
  {
    grainType: 'action',
    fields: {
      tool_name: 'plan',
      kind: 'definition',
      tool_description: 'plans a day',
      input_schema: { type: 'object' },
    },
  },
  {
    grainType: 'action',
    fields: { tool_name: 'plan', action_phase: 'call', status: 'pending', input: {}, tool_call_id: 'c1' },
  },
  { grainType: 'action', fields: { tool_name: 'plan', status: 'pending', input: { b: 1 }, tool_call_id: 'c2' } },
  { grainType: 'action', fields: { tool_name: 'cafe\u0301', content: 'a composed name', is_error: true } },
  { grainType: 'event', fields: { content: 'of nobody' } },
  { grainType: 'event', fields: { content: 'with a model', role: 'assistant', model_id: 'm-1' } },
  { grainType: 'belief', fields: { subject: 'a', relation: 'b', object: 'a number', recall_priority: 7 } },
  { grainType: 'belief', fields: { subject: 'a', relation: 'b', object: 'c', recall_priority: 'hot' } },
  { grainType: 'belief', fields: { subject: 'a', relation: 'b', object: 'd', verification_status: 'verified' } },
  { grainType: 'goal', fields: { description: 'g', goal_state: 'active', assigned_agent: 'bot' } },
];

test('every condition on a listed field finds what opening all grains finds', async (t) => {
  const memory = await CalMemory.open(t, [...fixtureItems(), ...ODD]);
  const context = contextOf(1);
  const views = memory.hashes.map((hash) => memory.engine.read('get', context, { hash }));
  const live = [...new Map(views.map((view) => [view.hash, calGrain(view, 1)])).values()];
  const hashesOf = (result: ParsedJson): string[] =>
    result['grains'].map(({ hash }: { readonly hash: string }) => hash.slice('sha256:'.length));
  let asked = 0;
  const compare = (): void => {
    for (const singular of SINGULARS) {
      const plural = pluralOf(singular);
      const ofType = live.filter(({ grainType }) => grainType === singular);
      for (const { name } of fieldsOf(singular)) {
        if (!isListed(name) && name !== 'verification_status') continue;
        const values = new Set(ofType.map((grain) => fieldValue(grain, name)).filter((value) => value !== undefined));
        for (const value of values) {
          // Numbers cannot be compared here.
          if (typeof value !== 'string' && typeof value !== 'boolean') continue;
          for (const op of ['=', '!='] as const) {
            const { operators } = fieldsOf(singular).find((one) => one.name === name)!;
            if (!operators.includes(op)) continue;
            const query: string = `RECALL ${plural} WHERE ${name} ${op} ${JSON.stringify(value)} LIMIT 1000`;
            const expected: CalGrain[] = ofType.filter((grain) => passes(grain, { field: name, op, value }));
            const { result } = memory.ask(query);
            assert.deepEqual(hashesOf(result).sort(), expected.map(({ hash }) => hash).sort(), query);
            asked += 1;
          }
        }
      }
    }
  };
  compare();
  await memory.engine.write('flush', context, {});
  compare();
  // A number in place of a word does not count as a word.
  assert.equal(memory.ask('RECALL WHERE recall_priority = "hot" | COUNT').result['count'], 1);
  assert.ok(asked > 60, `${asked} conditions were asked`);
});
