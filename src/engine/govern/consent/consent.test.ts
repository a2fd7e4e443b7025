import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Access } from '../access/access.ts';
import { Agents } from '../agents/agents.ts';
import { Governed } from '../governed.ts';
import { unsetPolicy } from '../policy/seal.ts';
import { type ConsentFact, EVERY_PURPOSE, isOtherBasis } from './consent.ts';

const NO_RULES = {
  access: new Access(
    { subjectsOf: () => ({ has: () => false, usersets: [] }), parents: () => [], changed: () => undefined },
    'm',
  ),
  agents: new Agents({
    count: () => 0,
    find: (name) => ({ name, token: '', status: undefined }),
    findDid: () => undefined,
  }),
};

const fact = (purpose: string, granted: boolean, atMs: number, expiresAtMs?: number): ConsentFact => ({
  userId: 'u1',
  purpose,
  granted,
  atMs,
  hash: '0'.repeat(64),
  ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
});

/** Consent facts, and the status that they give for the purpose `mail` at time 100. */
const ROWS: readonly (readonly [what: string, said: readonly ConsentFact[], status: string])[] = [
  ['nothing', [], 'none'],
  ['granted', [fact('mail', true, 1)], 'granted'],
  ['granted for another purpose', [fact('storage', true, 1)], 'none'],
  ['granted for every purpose', [fact(EVERY_PURPOSE, true, 1)], 'granted'],
  ['opted out without having been asked', [fact('mail', false, 1)], 'revoked'],
  ['granted until later', [fact('mail', true, 1, 101)], 'granted'],
  ['granted until now', [fact('mail', true, 1, 100)], 'none'],
  ['everything withdrawn after a grant', [fact('mail', true, 1), fact(EVERY_PURPOSE, false, 2)], 'revoked'],
  ['granted after everything was withdrawn', [fact(EVERY_PURPOSE, false, 1), fact('mail', true, 2)], 'granted'],
  ['withdrawn after a grant for everything', [fact(EVERY_PURPOSE, true, 1), fact('mail', false, 2)], 'revoked'],
  ['run out, and everything granted before', [fact(EVERY_PURPOSE, true, 1), fact('mail', true, 2, 50)], 'none'],
];

for (const [what, said, status] of ROWS)
  test(`${what}: ${status}`, () => {
    const source = {
      consent: (_user: string, purpose: string) => said.find((one) => one.purpose === purpose),
      consents: () => said,
    };
    const read = new Governed(unsetPolicy(), [], { ...source, ...NO_RULES });
    assert.equal(read.consentStatus('u1', 'mail', 100), status);
    const updated = new Governed(unsetPolicy(), [], {
      consent: () => undefined,
      consents: () => [],
      ...NO_RULES,
    });
    updated.allConsents();
    for (const one of said) updated.setConsent(one);
    assert.equal(updated.consentStatus('u1', 'mail', 100), status, 'a later change counts like a fact that was loaded');
    for (const governed of [read, updated]) {
      const { users } = governed.withdrawn('mail', 100);
      const isSaid = said.some(({ purpose }) => purpose === 'mail' || purpose === EVERY_PURPOSE);
      assert.deepEqual(users, isSaid && status !== 'granted' ? ['u1'] : []);
    }
  });

test('the time until which no further grant expires is returned', () => {
  const said = [fact('mail', true, 1, 500), { ...fact('mail', true, 1, 300), userId: 'u2' }];
  const governed = new Governed(unsetPolicy(), [], {
    consent: () => undefined,
    consents: () => said,
    ...NO_RULES,
  });
  assert.deepEqual(governed.withdrawn('mail', 100), { users: [], untilMs: 300 });
  assert.deepEqual(governed.withdrawn('mail', 300), { users: ['u2'], untilMs: 500 });
});

test('an erased user has no consents', () => {
  const said = [fact('mail', true, 1)];
  const governed = new Governed(unsetPolicy(), [{ userId: 'u1', reason: '', atMs: 1, by: 'x' }], {
    consent: () => undefined,
    consents: () => said,
    ...NO_RULES,
  });
  governed.allConsents();
  assert.ok(governed.isRestricted('u1') && !governed.writesFreely && !governed.hidesNothing);
  governed.forgetUser('u1');
  assert.ok(!governed.isRestricted('u1') && governed.writesFreely && governed.hidesNothing);
  assert.deepEqual([...governed.consentsOfUser('u2')].length, 1, 'another user is read from the log');
  assert.deepEqual(governed.withdrawn('mail', 0).users, []);
});

test('another legal basis is neither the word consent nor a consent hash', () => {
  for (const basis of ['contract', 'legal_obligation', 'credit_protection']) assert.ok(isOtherBasis(basis), basis);
  for (const basis of [undefined, '', ' ', 'consent', 'Consent ', 'ab'.repeat(32), 7])
    assert.ok(!isOtherBasis(basis), String(basis));
});
