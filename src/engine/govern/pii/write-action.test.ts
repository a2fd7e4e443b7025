import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import type { ValueMap } from '../../grain/value.ts';
import { piiDetector } from './detector.ts';
import { applyPiiPolicy, type PiiWriteAction, type PiiWritePolicy, redacted } from './write-action.ts';

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

test('allow looks at nothing', () => {
  const never = { detect: () => assert.fail('it was looked at') };
  const outcome = applyPiiPolicy(never, { type: 'belief', fields: belief }, policy('allow'), nobody);
  assert.equal(outcome.fields, belief);
});

test('flag adds a tag a category and changes nothing', () => {
  const { fields, tags, categories, refusal } = apply(belief, policy('flag'));
  assert.equal(fields, belief);
  assert.deepEqual(tags, ['pii:email', 'pii:person_name']);
  assert.deepEqual(categories, ['email', 'person_name']);
  assert.equal(refusal, undefined);
});

test('redact replaces what was found and leaves the given fields alone', () => {
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

test('a name of a field that its caller made up is looked at too', () => {
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

test('block refuses and names categories, not what was found', () => {
  const { refusal } = apply(belief, policy('block'));
  assert.equal(refusal?.code, 'POL-E005');
  assert.match(refusal.message, /email, person_name/);
  assert.doesNotMatch(JSON.stringify(refusal.toWire()), /maria/i);
  assert.equal(apply({ object: 'likes tea' }, policy('block')).refusal, undefined);
});

test('require_consent wants a grant for the purpose, and a user', () => {
  assert.equal(apply(belief, policy('require_consent')).refusal?.code, 'POL-E005');
  assert.equal(apply(belief, policy('require_consent'), anna()).refusal?.code, 'POL-E002');
  assert.equal(apply(belief, policy('require_consent'), anna('storage')).refusal, undefined);
  assert.equal(apply({ object: 'likes tea' }, policy('require_consent'), anna()).refusal, undefined);
});

test('sensitive data wants a consent of its own', () => {
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

test('a consent and the fields of the format pass', () => {
  const consent = { subject_did: 'user:maria@example.org', user_id: 'maria@example.org' };
  assert.equal(
    applyPiiPolicy(detector, { type: 'consent', fields: consent }, policy('block'), nobody).refusal,
    undefined,
  );
  assert.equal(apply({ user_id: 'maria@example.org', session_id: '219-09-9998' }, policy('block')).refusal, undefined);
});

test('what was redacted is not found again', () => {
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
