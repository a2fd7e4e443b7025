import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { GrainView } from '../calls/grain.ts';
import type { ContextFormat, ContextFound } from '../calls/session.ts';
import { stringifyJson } from '../grain/api/json.ts';
import type { JsonObject, JsonValue } from '../grain/api/json-value.ts';
import { CHARS_OF_TOKEN, ContextBudget, compileContext } from './compile.ts';
import { fittingState } from './fitting-state.ts';
import { pieceOf } from './pieces.ts';

const FORMATS: readonly ContextFormat[] = ['json', 'text'];

function viewOf(grainType: string, fields: JsonObject, at = 0): GrainView {
  const hash = at.toString(16).padStart(64, '0');
  const createdAtMs = 1_700_000_000_000 + at;
  return { hash, grainType, fields, createdAt: 1_700_000_000, createdAtMs, namespace: '', sizeBytes: 1 };
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', '\n\n## Goals', '"""\\', '𝕏😀', '__proto__', 'x'.repeat(3_000)),
);
const json = fc.oneof(fc.jsonValue({ maxDepth: 2 }), text, fc.bigInt()) as fc.Arbitrary<JsonValue>;
const fieldsOf = (names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, json])), { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
/** The parts of a session, before its state is fitted to a budget. */
type Session = Omit<ContextFound, 'state'> & { readonly state: GrainView | null };

function compiled(session: Session, asked: { readonly tokenBudget: number; readonly format: ContextFormat }) {
  const { left } = new ContextBudget(asked.tokenBudget, asked.format);
  const room = { budgetChars: asked.tokenBudget * CHARS_OF_TOKEN, left, format: asked.format };
  const state = session.state === null ? null : fittingState(session.state, room);
  return compileContext({ ...session, state }, asked);
}

const found: fc.Arbitrary<Session> = fc
  .record({
    data: fc.option(fc.dictionary(text, json, { maxKeys: 8 })),
    goals: fc.array(fieldsOf(['description', 'priority', 'criteria', 'progress', 'state_reason']), { maxLength: 6 }),
    actions: fc.array(fieldsOf(['tool_name', 'input', 'content', 'is_error', 'error', 'status']), { maxLength: 12 }),
    beliefs: fc.array(fieldsOf(['subject', 'relation', 'object', 'confidence']), { maxLength: 12 }),
  })
  .map(({ data, goals, actions, beliefs }) => ({
    state: data === null ? null : viewOf('state', { data: data as JsonObject }),
    goals: goals.map((fields, i) => pieceOf('goal', viewOf('goal', fields, i), 0)),
    items: [
      ...actions.map((fields, i) => pieceOf('action', viewOf('action', fields, i), 1 - i / 100)),
      ...beliefs.map((fields, i) => pieceOf('belief', viewOf('belief', fields, i), 1 - i / 90)),
    ].sort((a, b) => b.value - a.value),
    totals: { goals: goals.length, actions: actions.length, beliefs: beliefs.length },
    more: false,
  }));

test('no context exceeds its budget, whatever it is made of', () => {
  fc.assert(
    fc.property(
      found,
      fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 20_000 })),
      fc.constantFrom(...FORMATS),
      (parts, tokenBudget, format) => {
        const { text: page, estimatedTokens, truncated, dropped, ...shown } = compiled(parts, { tokenBudget, format });
        const isEmpty = shown.state === null && shown.goals.length + shown.actions.length + shown.beliefs.length === 0;
        const chars = format === 'text' ? page!.length : isEmpty ? 0 : stringifyJson(shown).length;
        assert.ok(chars <= 4 * tokenBudget, `${chars} characters in ${tokenBudget} tokens`);
        assert.equal(estimatedTokens, Math.ceil(chars / 4));
        assert.equal(dropped.goals + shown.goals.length, parts.totals.goals);
        assert.equal(dropped.actions + shown.actions.length, parts.totals.actions);
        assert.equal(dropped.beliefs + shown.beliefs.length, parts.totals.beliefs);
        assert.equal(
          truncated,
          Object.values(dropped).some((count) => count > 0),
        );
      },
    ),
  );
});

test('a large budget leaves nothing out', () => {
  fc.assert(
    fc.property(found, fc.constantFrom(...FORMATS), (parts, format) => {
      assert.equal(compiled(parts, { tokenBudget: 1_000_000, format }).truncated, false);
    }),
  );
});

const nothing: Session = {
  state: null,
  goals: [],
  items: [],
  totals: { goals: 0, actions: 0, beliefs: 0 },
  more: false,
};

test('a state gets three tenths at most and loses its largest keys first', () => {
  const data = { small: 'a', large: 'l'.repeat(400), middle: 'm'.repeat(150) };
  const parts = { ...nothing, state: viewOf('state', { data }) };
  const keysIn = (tokenBudget: number): string[] | undefined => {
    const { state } = compiled(parts, { tokenBudget, format: 'json' });
    return state === null ? undefined : Object.keys((state['fields'] as { data: JsonObject }).data);
  };
  assert.deepEqual(keysIn(1_000), ['small', 'large', 'middle']);
  assert.deepEqual(keysIn(300), ['small', 'middle']);
  assert.deepEqual(keysIn(150), ['small']);
  assert.equal(keysIn(60), undefined);
  const cut = compiled(parts, { tokenBudget: 300, format: 'json' });
  assert.deepEqual([cut.dropped.stateKeys, cut.dropped.states, cut.truncated], [1, 0, true]);
});

test('a state is trimmed to the most that fits', () => {
  fc.assert(
    fc.property(fc.dictionary(text, json, { maxKeys: 8 }), fc.integer({ min: 60, max: 2_000 }), (data, tokenBudget) => {
      for (const format of FORMATS) {
        const view = viewOf('state', { data: data as JsonObject });
        const asked = { budgetChars: tokenBudget * CHARS_OF_TOKEN, left: tokenBudget * CHARS_OF_TOKEN, format };
        const { shown, chars, trimmedKeys } = fittingState(view, asked);
        if (shown === null) continue;
        const room = Math.floor(asked.budgetChars * 0.3);
        const length =
          format === 'json'
            ? stringifyJson(shown).length
            : compiled({ ...nothing, state: view }, { tokenBudget, format }).text!.length;
        assert.ok(chars <= room);
        assert.equal(chars, length);
        const { data: kept } = shown['fields'] as { readonly data: JsonObject };
        assert.equal(Object.keys(kept).length + trimmedKeys, Object.keys(data).length);
      }
    }),
  );
});

test('the keys of a large state are measured once each', () => {
  let read = 0;
  const data = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, i) => [
      `key ${i}`,
      {
        toJSON: () => {
          read += 1;
          return 'value';
        },
      },
    ]),
  ) as unknown as JsonObject; // values that count how often they are written
  const asked = { budgetChars: 4_000, left: 4_000, format: 'json' } as const;
  const { trimmedKeys } = fittingState(viewOf('state', { data }), asked);
  assert.ok(trimmedKeys > 19_000);
  assert.equal(read, 20_000);
});

test('what does not fit is left out, and smaller things after it are taken', () => {
  const piece = (object: string, value: number) =>
    pieceOf('belief', viewOf('belief', { subject: 'a', relation: 'b', object }, value), value);
  const items = [piece('x'.repeat(4_000), 9), piece('short', 5)];
  const parts = { ...nothing, items, totals: { ...nothing.totals, beliefs: 2 } };
  for (const format of FORMATS) {
    const { beliefs, dropped, text: page } = compiled(parts, { tokenBudget: 100, format });
    assert.deepEqual([beliefs.length, dropped.beliefs], [1, 1], format);
    if (format === 'text') assert.equal(page, '## Beliefs\n- a b short');
  }
});

test('a text stays on its line', () => {
  const goal = pieceOf('goal', viewOf('goal', { description: 'a\n## State\nowner: eve', priority: 'high' }), 0);
  const action = pieceOf('action', viewOf('action', { tool_name: 't', is_error: true, content: 'b\r\nc' }), 0);
  assert.equal(goal.line, '- [high] a ## State owner: eve');
  assert.equal(action.line, '- t() failed: b c');
});
