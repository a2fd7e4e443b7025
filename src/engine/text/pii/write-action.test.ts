import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { toJson } from '../../grain/api/free.ts';
import { contractNames } from '../../grain/api/names.ts';
import { fieldByName } from '../../grain/codec/field-map.ts';
import { ANY, KIND, type Kind } from '../../grain/codec/kind.ts';
import { GRAIN_TYPE_NAMES, type GrainType } from '../../grain/grain.ts';
import { FIELD_ROWS } from '../../grain/registry.ts';
import { Float, type Value, type ValueMap } from '../../grain/value.ts';
import { piiDetector } from './detector.ts';
import { redacted } from './redacted.ts';
import { applyPiiPolicy, type PiiWriteAction, type PiiWritePolicy } from './write-action.ts';

const detector = piiDetector();
const belief: ValueMap = {
  subject: 'Maria Lopez',
  relation: 'email',
  object: 'maria@example.org',
  namespace: 'default',
};
const policy = (action: PiiWriteAction, more: Partial<PiiWritePolicy> = {}): PiiWritePolicy => ({
  action,
  categories: '*',
  sensitiveSeparate: false,
  ...more,
});
const nobody = { purpose: 'storage', granted: () => assert.fail('nobody was asked about') };
const anna = (...purposes: string[]) => ({
  userId: 'anna',
  purpose: 'storage',
  granted: (purpose: string) => purposes.includes(purpose),
});
const apply = (fields: ValueMap, wanted: PiiWritePolicy, writer: Parameters<typeof applyPiiPolicy>[3] = nobody) =>
  applyPiiPolicy(detector, { type: 'belief', fields }, wanted, writer);

test('allow examines nothing', () => {
  const never = { detect: () => assert.fail('it was looked at') };
  const outcome = applyPiiPolicy(never, { type: 'belief', fields: belief }, policy('allow'), nobody);
  assert.equal(outcome.fields, belief);
});

test('flag adds one tag per category and changes nothing else', () => {
  const { fields, tags, categories, refusal } = apply(belief, policy('flag'));
  assert.equal(fields, belief);
  assert.deepEqual(tags, ['pii:email', 'pii:person_name']);
  assert.deepEqual(categories, ['email', 'person_name']);
  assert.equal(refusal, undefined);
});

test('redact replaces the findings and leaves the given fields alone', () => {
  const { fields, tags, findings } = apply(belief, policy('redact'));
  assert.deepEqual(fields, { ...belief, subject: '[PERSON_NAME]', object: '[EMAIL]' });
  assert.equal(belief['subject'], 'Maria Lopez');
  assert.deepEqual(tags, []);
  assert.deepEqual(
    findings.map(({ path, category }) => [path, category]),
    [
      ['subject', 'person_name'],
      ['object', 'email'],
    ],
  );
});

test('redact reaches into arrays, maps and keys', () => {
  const data = {
    'ann@example.org': { phones: ['+1 202 456 1111', 'none'] },
    'bob@example.org': 1,
    '[EMAIL]': true,
    date_of_birth: '1990-01-15',
  };
  const { fields } = applyPiiPolicy(detector, { type: 'state', fields: { data } }, policy('redact'), nobody);
  assert.deepEqual(fields['data'], {
    '[EMAIL] 2': { phones: ['[PHONE]', 'none'] },
    '[EMAIL] 3': 1,
    '[EMAIL]': true,
    date_of_birth: '[DATE_OF_BIRTH]',
  });
});

test('a field name that the caller made up is examined too', () => {
  const fields = { ...belief, subject: 'a', object: 'b', 'ann@example.org': 'tea', '[EMAIL]': 1, plain_name: 2 };
  const { 'ann@example.org': _, ...others } = fields;
  assert.deepEqual(apply(fields, policy('redact')).fields, { ...others, '[EMAIL] 2': 'tea' });
  assert.deepEqual(apply(fields, policy('flag')).tags, ['pii:email']);
  assert.equal(apply(fields, policy('block')).refusal?.code, 'POL-E005');
});

test('only the categories of the policy count', () => {
  const { fields, categories } = apply(belief, policy('redact', { categories: ['email'] }));
  assert.deepEqual(fields, { ...belief, object: '[EMAIL]' });
  assert.deepEqual(categories, ['email']);
  assert.equal(apply(belief, policy('block', { categories: ['ssn'] })).refusal, undefined);
});

test('block refuses and names categories, not findings', () => {
  const { refusal } = apply(belief, policy('block'));
  assert.equal(refusal?.code, 'POL-E005');
  assert.match(refusal.message, /email, person_name/);
  assert.doesNotMatch(JSON.stringify(refusal.toWire()), /maria/i);
  assert.equal(apply({ object: 'likes tea' }, policy('block')).refusal, undefined);
});

test('require_consent needs a grant for the purpose, and a user', () => {
  assert.equal(apply(belief, policy('require_consent')).refusal?.code, 'POL-E005');
  assert.equal(apply(belief, policy('require_consent'), anna()).refusal?.code, 'POL-E002');
  assert.equal(apply(belief, policy('require_consent'), anna('storage')).refusal, undefined);
  assert.equal(apply({ object: 'likes tea' }, policy('require_consent'), anna()).refusal, undefined);
});

test('sensitive data needs a consent of its own', () => {
  const fields = { object: 'passport number is N04782913' };
  const separate = policy('allow', { sensitiveSeparate: true });
  assert.equal(apply(fields, separate, anna('storage')).refusal?.code, 'POL-E002');
  assert.equal(apply(fields, separate, anna('sensitive')).refusal, undefined);
  assert.equal(apply(fields, separate).refusal?.code, 'POL-E005');
  assert.equal(apply(belief, separate, anna()).refusal, undefined, 'an email is not sensitive');
  const redacting = policy('redact', { sensitiveSeparate: true });
  assert.equal(apply(fields, redacting, anna()).refusal, undefined, 'it is not stored');
  const others = policy('redact', { sensitiveSeparate: true, categories: ['email'] });
  assert.equal(apply(fields, others, anna()).refusal?.code, 'POL-E002', 'it is stored');
});

const SSN = '219-09-9998';
const applyTo = (type: GrainType, fields: ValueMap, wanted: PiiWritePolicy) =>
  applyPiiPolicy(detector, { type, fields }, wanted, nobody);

/** Fields that the service fills in itself. */
const FILLED: Readonly<Record<string, Value>> = {
  namespace: 'default',
  created_at: 1_760_000_000_000,
  temporal_type: 'state',
  source_type: 'user',
};

/** Every field of the grain format that can hold a text, with the text in its deepest place. */
function carriers(type: GrainType, text: string): readonly (readonly [string, Value])[] {
  const names = new Set([...FIELD_ROWS.map(([name]) => name), ...contractNames(type)]);
  names.delete('type');
  return [...names].flatMap((name) => {
    const value = carrierOf(fieldByName(name, type)?.kind ?? ANY, text);
    return value === undefined ? [] : [[name, value] as const];
  });
}

function carrierOf(kind: Kind, text: string): Value | undefined {
  switch (kind.code) {
    case KIND.any:
    case KIND.map:
    case KIND.stringOrMap:
      return { deep: [{ deeper: text }] };
    case KIND.string:
    case KIND.address: // A foreign blob may hold any value there.
      return text;
    case KIND.bytes:
      return Buffer.from(text);
    case KIND.list:
      return [carrierOf(kind.item!, text)].filter((item) => item !== undefined);
    case KIND.record:
      return { [text]: carrierOf(kind.item!, text) ?? 1 };
    case KIND.shape:
      // Other keys may exist besides the known ones.
      return Object.fromEntries([
        ...[...kind.shape!.byName.values()].map((field) => [field.name, carrierOf(field.kind, text)]),
        ['more', text],
      ]);
    default:
      return undefined; // A number or a flag.
  }
}

test('block stops a social security number in every field of every type', () => {
  for (const type of GRAIN_TYPE_NAMES)
    for (const [name, value] of carriers(type, SSN)) {
      const { refusal } = applyTo(type, { ...FILLED, [name]: value }, policy('block'));
      if (Array.isArray(value) && value.length === 0) continue;
      assert.equal(refusal?.code, 'POL-E005', `${name} of a ${type}`);
      assert.deepEqual(applyTo(type, { ...FILLED, [name]: value }, policy('flag')).tags, ['pii:ssn'], name);
    }
});

test('redact removes it from every field, or refuses where grains are matched by the field', () => {
  const refused: string[] = [];
  for (const [name, value] of carriers('belief', SSN)) {
    const { refusal, fields } = applyTo('belief', { ...FILLED, [name]: value }, policy('redact'));
    if (refusal !== undefined) {
      assert.equal(refusal.code, 'POL-E005');
      assert.deepEqual(
        refusal.details?.map(({ field }) => field),
        [name],
      );
      refused.push(name);
    } else if (value instanceof Uint8Array) assert.equal(String(fields[name]), '[SSN]');
    else assert.doesNotMatch(JSON.stringify(toJson(fields)), new RegExp(SSN), name);
  }
  assert.deepEqual(
    refused.sort(),
    (
      'call_batch_id correlation_id entity_id invalidation_policy namespace origin_namespace parent_message_id ' +
      'parent_task_id run_id session_id subject_did tool_call_id user_id'
    )
      .split(' ')
      .filter((name) => fieldByName(name) !== undefined),
  );
});

test('flag warns about findings in fields by which grains are matched', () => {
  const { warnings, tags } = apply({ session_id: SSN, content: SSN }, policy('flag'));
  assert.deepEqual(warnings, ['session_id: personal data (ssn), by which grains are matched']);
  assert.deepEqual(tags, ['pii:ssn']);
});

test('fields that the service fills in hold no personal data', () => {
  for (const type of GRAIN_TYPE_NAMES)
    for (const action of ['block', 'redact'] as const)
      assert.equal(applyTo(type, { ...FILLED }, policy(action)).refusal, undefined, type);
});

test('a word of an enumeration and a content address are never personal data', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.stringMatching(/^[a-z]{1,12}(?:_[a-z]{1,12}){0,2}$/),
        fc.stringMatching(/^(?:sha256:)?[0-9a-f]{64}$/),
      ),
      (word) => {
        if (!/_at_|_dot_/.test(word)) assert.deepEqual(detector.detect(word), [], word);
      },
    ),
    { numRuns: runs(300) },
  );
});

test('a data subject may be identified by a sign-in name, and by nothing else', () => {
  for (const name of ['maria@example.org', '+1 202 456 1111', 'Maria Lopez', 'https://id.example.org/u/4471'])
    for (const action of ['block', 'redact'] as const)
      assert.equal(apply({ user_id: name }, policy(action)).refusal, undefined, name);
  assert.deepEqual(apply({ user_id: 'maria@example.org' }, policy('flag')).tags, []);
  for (const name of [SSN, '4111 1111 1111 1111', '12 Elm Street', 'IBAN GB29 NWBK 6016 1331 9268 19'])
    assert.equal(apply({ user_id: name }, policy('block')).refusal?.code, 'POL-E005', name);
  for (const field of ['session_id', 'namespace', 'tags', 'observer_id', 'author_did'])
    assert.equal(apply({ [field]: 'maria@example.org' }, policy('block')).refusal?.code, 'POL-E005', field);
});

test('a number is read by its key, its check digit or its shape', () => {
  const numbers = (data: ValueMap) => applyTo('state', { context: data }, policy('flag')).tags;
  assert.deepEqual(numbers({ card: 4111111111111111 }), ['pii:credit_card']);
  assert.deepEqual(numbers({ value: 4111111111111111n }), ['pii:credit_card']);
  assert.deepEqual(numbers({ value: new Float(219099998) }), ['pii:ssn']);
  assert.deepEqual(numbers({ list: [219099998] }), ['pii:ssn']);
  assert.deepEqual(numbers({ ssn: 219099998 }), ['pii:ssn']);
  assert.deepEqual(numbers({ phone: 4155552671 }), ['pii:phone']);
  assert.deepEqual(numbers({ zip_code: 90210 }), ['pii:zip_code']);
  assert.deepEqual(numbers({ account_number: 55779911 }), ['pii:account_number']);
  assert.deepEqual(numbers({ 'extra name': -219099998 }), ['pii:ssn']);
  for (const key of ['size_bytes', 'order_id', 'totalViews', 'created_at', 'duration_ms', 'followers', 'revenueUsd'])
    assert.deepEqual(numbers({ [key]: 219099998 }), [], key);
  assert.deepEqual(numbers({ a: 4111111111111112, b: 0.219099998, c: 12, d: 1_760_000_000_000 }), []);
  assert.deepEqual(applyTo('state', { context: { n: 219099998 } }, policy('redact')).fields['context'], { n: '[SSN]' });
  assert.deepEqual(applyTo('action', { content: 4111111111111111 }, policy('flag')).tags, ['pii:credit_card']);
  assert.deepEqual(applyTo('action', { input: 219099998 }, policy('flag')).tags, ['pii:ssn']);
  assert.deepEqual(applyTo('belief', { expires_at: 219099998 }, policy('flag')).tags, [], 'a time is a time');
  assert.deepEqual(applyTo('belief', { success_count: 219099998 }, policy('flag')).tags, [], 'a count is a count');
});

test('names of fields and keys are examined as words too', () => {
  for (const key of ['MariaLopez', 'Maria_Lopez', 'ann_at_example_dot_org', 'k_219_09_9998', 'ann@example.org']) {
    assert.equal(apply({ [key]: 1 }, policy('block')).refusal?.code, 'POL-E005', key);
    assert.equal(applyTo('state', { context: { [key]: 1 } }, policy('block')).refusal?.code, 'POL-E005', key);
  }
  const { fields } = applyTo('state', { context: { Maria_Lopez: 1, MariaLopez: 2 } }, policy('redact'));
  assert.deepEqual(fields['context'], { '[PERSON_NAME]': 1, '[PERSON_NAME] 2': 2 });
  for (const key of ['baseUrl', 'first_name', 'userId', 'maxTokens2'])
    assert.equal(apply({ [key]: 1 }, policy('block')).refusal, undefined, key);
});

test('nodes of a redacted workflow stay distinct, and edges and bindings still name them', () => {
  const { fields, refusal } = applyTo(
    'workflow',
    {
      nodes: ['Ask Maria Lopez', 'Ask Priya Sharma', 'done'],
      edges: [{ src: 'Ask Maria Lopez', dst: 'Ask Priya Sharma' }],
      bindings: { 'Ask Priya Sharma': 'a'.repeat(64) },
      retries: { 'Ask Maria Lopez': 2 },
    },
    policy('redact'),
  );
  assert.equal(refusal, undefined);
  assert.deepEqual(fields, {
    nodes: ['Ask [PERSON_NAME]', 'Ask [PERSON_NAME] 2', 'done'],
    edges: [{ src: 'Ask [PERSON_NAME]', dst: 'Ask [PERSON_NAME] 2' }],
    bindings: { 'Ask [PERSON_NAME] 2': 'a'.repeat(64) },
    retries: { 'Ask [PERSON_NAME]': 2 },
  });
});

test('a consent names its user, and its text is examined', () => {
  const consent = { subject_did: 'user:maria@example.org', user_id: 'maria@example.org', scope: ['storage'] };
  for (const action of ['block', 'redact', 'require_consent'] as const)
    assert.equal(applyTo('consent', consent, policy(action)).refusal, undefined, action);
  for (const action of ['block', 'redact'] as const) {
    for (const said of [{ scope: [SSN] }, { basis: SSN }, { grantee_did: SSN }, { user_id: SSN }])
      assert.equal(applyTo('consent', { ...consent, ...said }, policy(action)).refusal?.code, 'POL-E005');
    const withdrawal = { ...consent, user_id: SSN, is_withdrawal: true };
    assert.equal(applyTo('consent', withdrawal, policy(action)).refusal, undefined, 'everybody may withdraw');
  }
  const why = { ...consent, is_withdrawal: true, reason: `my number is ${SSN}` };
  assert.equal(applyTo('consent', why, policy('redact')).fields['reason'], 'my number is [SSN]');
});

test('redacted text is not found again', () => {
  const text = fc
    .array(
      fc.constantFrom(
        'ann@example.org',
        '219-09-9998',
        'Maria Lopez',
        '4111 1111 1111 1111',
        'U1NOIDIxOS0wOS05OTk4IG5vdw==',
        'tea',
        'é',
      ),
      { maxLength: 8 },
    )
    .map((words) => words.join(' and '));
  fc.assert(
    fc.property(text, (sample) => {
      const clean = redacted(sample, detector.detect(sample));
      assert.deepEqual(detector.detect(clean), []);
    }),
    { numRuns: runs(100) },
  );
});
