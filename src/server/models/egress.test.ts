import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineError } from '../../engine/base/errors.ts';
import { MODEL_REDACT_CHARS } from '../../engine/base/limits.ts';
import type { EgressAction } from '../../engine/govern/policy/rules.ts';
import { allLeaving, departureTo, destinationOf, type Governed, leavingTo, valueLeaving } from './egress.ts';
import type { ProviderKind } from './roles.ts';

const OUTSIDE = { external: true };
const PERSONAL = 'Write to ann@example.org from 192.168.7.9';
const REDACTED = 'Write to [EMAIL] from [IP_ADDRESS]';

/** The part of a text that may be sent; the code of the refusal where none may. */
function sent(memory: Governed, destination: { external: boolean; region?: string } = OUTSIDE): string {
  const departure = departureTo(memory, destination);
  return 'refusal' in departure ? departure.refusal.code : departure.leaving(PERSONAL);
}

/** A request without texts of persons, in a memory where no grants are looked up. */
const NOBODY = { persons: new Set<undefined>(), hasGrants: () => assert.fail('no grant matters') };

const madeWith = (preset: string, overrides = {}): Governed => ({
  policy: { presets: [preset], overrides, sealedBy: 'test' },
});
const governedNow = (egress: EgressAction, more: object = {}): Governed => ({
  governing: { presets: [], guardrailPatterns: [], guardrailMode: 'exact', egress, regions: [], ...more },
});

test('a provider on this machine is not external, and a mock is nowhere', () => {
  const isExternal = (baseUrl: string, kind: ProviderKind = 'openai_compatible'): boolean =>
    destinationOf({ kind, baseUrl }).external;
  for (const url of ['http://127.0.0.1:11434', 'http://localhost:8000/v1', 'http://[::1]:1234'])
    assert.equal(isExternal(url), false, url);
  for (const url of ['http://127.0.0.1.example', 'http://10.0.0.1', 'no address'])
    assert.equal(isExternal(url), true, url);
  assert.equal(isExternal('', 'mock'), false);
  assert.equal(sent(madeWith('hipaa'), { external: false }), PERSONAL);
});

test('texts are redacted as the policy says, from the first grain on and after changes', () => {
  for (const preset of ['gdpr', 'soc2']) assert.equal(sent(madeWith(preset)), REDACTED, preset);
  assert.equal(sent(madeWith('hipaa')), 'POL-E005');
  assert.equal(sent({ ...madeWith('gdpr'), ...governedNow('allow') }), PERSONAL, 'the policy of now counts');
  assert.equal(sent(madeWith('eu_ai_act')), PERSONAL);
  assert.equal(sent({}), PERSONAL);
  assert.equal(sent({ ...governedNow('allow'), sealing: true }), 'POL-E005', 'while a policy is being sealed');
  const older = governedNow('allow', { regions: undefined });
  assert.equal(sent(older), 'POL-E005', 'while the regions of a policy are unknown');
});

test('only the policy’s categories are redacted, and all of them if a record has none', () => {
  assert.equal(sent(governedNow('redact')), REDACTED);
  assert.equal(sent(governedNow('redact', { egressCategories: '*' })), REDACTED);
  assert.equal(sent(governedNow('redact', { egressCategories: [] })), REDACTED);
  assert.equal(sent(governedNow('redact', { egressCategories: ['email'] })), 'Write to [EMAIL] from 192.168.7.9');
  assert.equal(sent(governedNow('redact', { egressCategories: ['iban'] })), PERSONAL);
});

test('texts stay in the regions of the policy', () => {
  const kept = governedNow('allow', { regions: ['eu', 'uk'] });
  assert.equal(sent(kept, { external: true, region: 'uk' }), PERSONAL);
  assert.equal(sent(kept, { external: true, region: 'us' }), 'POL-E007');
  assert.equal(sent(kept), 'POL-E007');
  assert.equal(sent(kept, { external: false }), PERSONAL);
  const atCreation = madeWith('pipl', { residency: { regions: ['cn'] } });
  assert.equal(sent(atCreation, { external: true, region: 'us' }), 'POL-E007');
  assert.equal(sent(atCreation, { external: true, region: 'cn' }), REDACTED);
});

test('where a policy says so, grants of all persons let texts cross a border', async () => {
  const asked: unknown[] = [];
  const memory = { number: 7, ...governedNow('redact', { regions: ['eu'], crossBorderConsent: true }) };
  const sentFor = async (persons: readonly (string | undefined)[], of: Governed = memory): Promise<string> => {
    const hasGrants = async (...call: unknown[]) => {
      asked.push(call);
      return !String(call[1]).includes('bob');
    };
    try {
      return (await leavingTo(of, OUTSIDE, { persons: new Set(persons), hasGrants }))(PERSONAL);
    } catch (error) {
      return (error as EngineError).code;
    }
  };
  assert.equal(await sentFor(['ann', 'cem']), REDACTED);
  assert.deepEqual(asked.splice(0), [[7, ['ann', 'cem']]], 'one call for all persons');
  assert.equal(await sentFor(['ann', 'bob']), 'POL-E007');
  assert.equal(asked.splice(0).length, 1);
  for (const persons of [[undefined], ['ann', undefined], []]) assert.equal(await sentFor(persons), 'POL-E007');
  for (const rule of [false, undefined])
    assert.equal(
      await sentFor(['ann'], { ...memory, ...governedNow('allow', { regions: ['eu'], crossBorderConsent: rule }) }),
      'POL-E007',
    );
  assert.equal(
    await sentFor(['ann'], { ...memory, ...governedNow('block', { regions: ['eu'], crossBorderConsent: true }) }),
    'POL-E005',
  );
  assert.equal(await sentFor(['ann'], { ...memory, number: undefined }), 'POL-E007');
  assert.deepEqual(asked, [], 'nothing of these is asked');
});

test('long texts are redacted in pieces that cut no word', async () => {
  const leaving = await leavingTo(governedNow('redact'), OUTSIDE, NOBODY);
  const filling = 'some words in a line\n'.repeat(Math.ceil(MODEL_REDACT_CHARS / 21));
  const text = `${filling.slice(0, MODEL_REDACT_CHARS - 10)} ann@example.org ${filling}bob@example.org`;
  const [made] = await allLeaving([text], leaving);
  assert.equal(made, text.replace('ann@example.org', '[EMAIL]').replace('bob@example.org', '[EMAIL]'));
  assert.deepEqual(await allLeaving(['a', '', PERSONAL], leaving), ['a', '', REDACTED]);
});

test('a piece ends beside personal data of several words, not within it', async () => {
  const leaving = await leavingTo(governedNow('redact'), OUTSIDE, NOBODY);
  const words = 'some words in a line '.repeat(Math.ceil((2 * MODEL_REDACT_CHARS) / 21));
  for (const [found, sent] of [
    ['4111 1111 1111 1111', '[CREDIT_CARD]'],
    ['+49 170 555 0123', '[PHONE]'],
  ])
    for (let before = 1; before <= 20; before += 1) {
      const text = `${words.slice(0, MODEL_REDACT_CHARS - before)} ${found} ${words}`;
      assert.deepEqual(await allLeaving([text], leaving), [text.replace(found!, sent!)], `${found}, ${before}`);
    }
});

test('a JSON value is redacted in its texts, names and numbers, and stays JSON', async () => {
  const leaving = await leavingTo(governedNow('redact'), OUTSIDE, NOBODY);
  const value = {
    'ann@example.org': ['bob@example.org', 7, true, null],
    card: 4_111_111_111_111_111,
    longer: 4_111_111_111_111_111_110n,
    n: 1.5,
  };
  assert.deepEqual(valueLeaving(value, leaving), {
    '[EMAIL]': ['[EMAIL]', 7, true, null],
    card: '[CREDIT_CARD]',
    longer: '[CREDIT_CARD]',
    n: 1.5,
  });
});
