import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../base/errors.ts';
import { Access } from '../access/access.ts';
import { Agents } from '../agents/agents.ts';
import { Governed } from '../governed.ts';
import { unsetPolicy } from '../policy/seal.ts';
import { consentPage } from '../view.ts';
import {
  type ConsentFact,
  ConsentOrder,
  type ConsentPage,
  type ConsentPlace,
  EVERY_PURPOSE,
  isOtherBasis,
} from './consent.ts';

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

test('consents that could not be read are read again, and a part of them decides nothing', () => {
  let fails = true;
  const governed = new Governed(unsetPolicy(), [], {
    consent: () => undefined,
    *consents() {
      yield fact('mail', false, 1);
      if (fails) throw new EngineError('STO-E001');
      yield { ...fact('mail', false, 2), userId: 'u2' };
    },
    ...NO_RULES,
  });
  assert.throws(() => governed.withdrawn('mail', 100), { code: 'STO-E001' });
  fails = false;
  assert.deepEqual(governed.withdrawn('mail', 100).users, ['u1', 'u2']);
});

type Pages = ReturnType<typeof consentPage>;

/** The result of all steps. */
function drained(steps: Pages): Extract<ReturnType<Pages['next']>, { done: true }>['value'] {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

test('a page of consents reads the facts that it shows, whatever the number of users', () => {
  const read = new Set<string>();
  const said = Array.from({ length: 3_000 }, (_, i): ConsentFact => {
    const userId = `u${i}`;
    const reading = <T>(value: T): T => {
      read.add(userId);
      return value;
    };
    return {
      ...{ userId, granted: true, hash: '0'.repeat(64) },
      get purpose() {
        return reading(i % 3 === 0 ? EVERY_PURPOSE : 'mail');
      },
      get atMs() {
        return reading(1_000 + ((i * 7) % 3_000));
      },
    };
  });
  const governed = new Governed(unsetPolicy(), [], { consent: () => undefined, consents: () => said, ...NO_RULES });
  const pageOf = (asked: Partial<ConsentPage> & { purpose?: string }) =>
    drained(consentPage(governed, { order: 'desc', offset: 0, limit: 50, ...asked }, undefined));
  for (const purpose of [undefined, 'mail', 'never named']) {
    const asked = purpose === undefined ? {} : { purpose };
    const total = purpose === 'never named' ? 1_000 : 3_000;
    const { users, ...first } = pageOf(asked);
    assert.deepEqual([users.length, first], [50, { total, more: true }]);
    const last = users.at(-1)!;
    const after = { timeMs: last.facts[0]!.atMs, id: last.userId };
    for (const page of [{ after }, { offset: 700 }, { order: 'asc', offset: 20 }] as const) {
      read.clear();
      assert.equal(pageOf({ ...asked, ...page }).users.length, 50);
      assert.ok(read.size <= 50, `${read.size} facts are read`);
    }
  }
  read.clear();
  governed.setConsent({ ...fact('mail', true, 9_000), userId: 'u1' });
  for (const asked of [{}, { purpose: 'mail' }]) assert.equal(pageOf({ ...asked, limit: 1 }).users[0]?.userId, 'u1');
  assert.ok(read.size <= 1, `${read.size} facts are read`);
});

test('consents that change while they are read in steps are listed as they are afterwards', () => {
  for (let at = 1; at <= 7; at++) {
    const said = ['a', 'b', 'c', 'd'].map((userId, i) => ({ ...fact('mail', true, 10 + i), userId }));
    const governed = new Governed(unsetPolicy(), [], { consent: () => undefined, consents: () => said, ...NO_RULES });
    const asked = { order: 'asc', offset: 0, limit: 10 } as const;
    const steps = consentPage(governed, asked, undefined);
    for (let i = 0; i < at; i++) assert.equal(steps.next().done, false, `step ${at}`);
    governed.setConsent({ ...fact('mail', false, 99), userId: 'd' });
    governed.forgetUser('b');
    governed.forgetUser('a');
    governed.setConsent({ ...fact('mail', true, 100), userId: 'a' });
    const { users, total } = drained(steps);
    const listed = users.map(({ userId, facts }) => [userId, ...facts.map(({ granted }) => granted)]);
    const expected = [
      ['c', true],
      ['d', false],
      ['a', true],
    ];
    assert.deepEqual([listed, total], [expected, 3], `after step ${at}`);
    assert.deepEqual(governed.withdrawn('mail', 200).users, ['d']);
    const same = new Governed(unsetPolicy(), [], {
      consent: () => undefined,
      consents: () => users.flatMap(({ facts }) => facts),
      ...NO_RULES,
    });
    drained(consentPage(same, asked, undefined));
    assert.equal(same.consentsMark, governed.consentsMark);
    same.setConsent({ ...fact('mail', true, 101), userId: 'a' });
    assert.notEqual(same.consentsMark, governed.consentsMark);
  }
});

test('pages of consents are those of a sorted list', () => {
  const order = new ConsentOrder();
  const model = new Map<string, ConsentPlace>();
  let state = 7;
  const draw = (end: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  for (let i = 0; i < 6_000; i++) {
    const place = { timeMs: draw(60), id: `u${draw(100)}` };
    if (draw(4) > 0) {
      order.add(place);
      model.set(JSON.stringify(place), place);
    } else {
      order.remove(place);
      model.delete(JSON.stringify(place));
    }
    if (i % 40 !== 0) continue;
    const sorted = [...model.values()].sort((a, b) => a.timeMs - b.timeMs || (a.id < b.id ? -1 : 1));
    assert.deepEqual(order.all(), sorted);
    const after = draw(3) === 0 ? undefined : { timeMs: draw(62) - 1, id: `u${draw(100)}` };
    const page = {
      order: draw(2) === 0 ? 'asc' : 'desc',
      offset: draw(3) * draw(900),
      limit: 1 + draw(700),
      after,
    } as const;
    const isBehind = ({ timeMs, id }: ConsentPlace): boolean => {
      if (after === undefined) return true;
      const isLater = timeMs === after.timeMs ? id > after.id : timeMs > after.timeMs;
      const isSame = timeMs === after.timeMs && id === after.id;
      return page.order === 'asc' ? isLater : !isLater && !isSame;
    };
    const behind = (page.order === 'asc' ? sorted : sorted.toReversed()).filter(isBehind).slice(page.offset);
    assert.deepEqual(order.page(page), { places: behind.slice(0, page.limit), more: behind.length > page.limit });
  }
  assert.ok(order.size > 1_000);
});

test('another legal basis is neither the word consent nor a consent hash', () => {
  for (const basis of ['contract', 'legal_obligation', 'credit_protection']) assert.ok(isOtherBasis(basis), basis);
  for (const basis of [undefined, '', ' ', 'consent', 'Consent ', 'ab'.repeat(32), 7])
    assert.ok(!isOtherBasis(basis), String(basis));
});
