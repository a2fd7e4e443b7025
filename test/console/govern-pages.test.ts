// The pages of governance and of queries in a real browser: both themes and three widths, accessible; and what they change.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  becomes,
  button,
  click,
  fill,
  goTo,
  lookAt,
  type Pages,
  settled,
  signIn,
  startBrowser,
  startConsole,
  watchedPage,
} from './browser.ts';
import { fillWithHistory, hasHistory } from './history.ts';

test('pages of people, policy, trail, metrics, keys, CAL and the graph are complete and accessible', async (t) => {
  if (!hasHistory(t)) return;
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  const server = await startConsole(t);
  const { client } = await fillWithHistory(server);
  const { operations } = client.memory('default');
  await operations.grantConsent({ userId: 'ada', purpose: 'personalization', basis: 'sign-up form' });
  await operations.restrictProcessing({ userId: 'ben', reason: 'dispute' });
  await operations.openSubjectRequest({ userId: 'ada', kind: 'access' });
  for (const [subject, relation, object] of [
    ['Ada', 'works_with', 'Ben'],
    ['Ben', 'lives_in', 'Oslo'],
    ['Oslo', 'lies_in', 'Norway'],
  ] as const)
    await client.memory('default').add({ type: 'belief', subject, relation, object });
  const pages: Pages = {
    people: ['m/default/people', 'personalization: granted'],
    person: ['m/default/people?person=ada', 'sign-up form'],
    'people-request': ['m/default/people?request=new', 'Kind of request'],
    policy: ['m/default/policy', 'Presets'],
    'policy-change': ['m/default/policy?change=1', 'Show what it means'],
    compliance: ['m/default/compliance', 'Pass rate'],
    audit: ['m/default/audit?event=consent.*', 'consent.'],
    'audit-none': ['m/default/audit?actor=nobody', 'No entry fits'],
    metrics: ['m/default/metrics', 'Not computed'],
    keys: ['keys', 'valid'],
    'new-key': ['keys?new=1', 'Last day'],
    cal: ['m/default/cal?q=RECALL+beliefs+RECENT+5', '4 items'],
    'cal-plan': ['m/default/cal?q=EXPLAIN+RECALL+beliefs+RECENT+5', 'structural'],
    'cal-refused': ['m/default/cal?q=RECALL+nothing', 'CAL-E003'],
    'graph-empty': ['m/default/graph', 'Name a subject'],
    graph: ['m/default/graph?start=Ada&depth=3', '5 nodes, 4 edges'],
    'graph-whole': ['m/default/graph?whole=1&node=Ada', '5 nodes, 4 edges'],
    'graph-none': ['m/default/graph?start=nobody', 'Nothing is connected'],
  };
  const { page, faults } = await watchedPage(browser, server.http, { expected: /status of (?:400|501)/ });
  await page.goto(`${server.http}/console/`);
  await signIn(page, server.http, server.key);
  await lookAt(
    page,
    server.http,
    pages,
    async (name) =>
      (name === 'graph' || name === 'graph-whole') && page.waitForSelector('[data-laid-out=true], .graph-place .bad'),
  );
  assert.deepEqual(await faults(), []);
  assert.deepEqual(server.errors, []);

  // A server that does not offer the metrics.
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    if (request.postData()?.includes('"metrics"') !== true) return void request.continue();
    const error = { code: 'SYS-E002', message: 'not offered', request_id: 'r1' };
    void request.respond({ status: 501, contentType: 'application/json', body: JSON.stringify({ error }) });
  });
  await goTo(page, `${server.http}/console/m/default/metrics`);
  await becomes(
    page,
    'is hidden',
    `![...document.querySelectorAll('nav a')].some((one) => one.textContent === 'Metrics')`,
  );
});

test('a person is restricted, withdraws and is erased; a policy is tried and sealed; a key is made and revoked', async (t) => {
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  const server = await startConsole(t);
  const { page, faults } = await watchedPage(browser, server.http, { expected: /status of (?:400|501)/ });
  const { Granary } = await import('../../src/client/index.ts');
  const client = new Granary({ url: server.http, apiKey: server.key });
  const memory = client.memory('default');
  await memory.add({ type: 'belief', subject: 'Ada', relation: 'likes', object: 'tea', user_id: 'ada' });
  await memory.operations.grantConsent({ userId: 'ada', purpose: 'personalization' });
  await page.goto(`${server.http}/console/`);
  await signIn(page, server.http, server.key);
  const press = (text: string): Promise<void> => click(page, button(text));

  await goTo(page, `${server.http}/console/m/default/people?person=ada`);
  await press('Restrict');
  await settled(page, 'The data is frozen');
  assert.equal((await memory.operations.restrictions({})).restrictions[0]?.userId, 'ada');
  await press('Lift the restriction');
  await settled(page, 'may be read and changed');
  await press('Withdraw');
  await settled(page, 'revoked');
  await press('Erase…');
  await settled(page, 'Type ada to confirm');
  await fill(page, 'dialog input:not([id$=reason])', 'ada');
  await press('Erase ada');
  await settled(page, 'granary-erasure-proof');
  assert.equal((await memory.operations.listGrains({ userId: 'ada' })).grains.length, 0);

  await goTo(page, `${server.http}/console/m/default/policy?change=1`);
  await fill(page, 'textarea', 'retention.default_ttl_days = 90');
  await press('Show what it means');
  await settled(page, 'It tightens the policy');
  await press('Seal this version');
  await settled(page, 'set here');
  assert.equal((await memory.operations.policy({})).rules.retention.defaultTtlDays, 90);

  await goTo(page, `${server.http}/console/keys?new=1`);
  await fill(page, 'dialog input[type=text]', 'agent');
  await press('Make it');
  await settled(page, 'Copy it now');
  await press('I have copied it');
  const made = (await client.operations.listKeys({})).keys.find(({ name }) => name === 'agent');
  assert.deepEqual(made?.scopes, ['read', 'write']);
  await goTo(page, `${server.http}/console/keys?key=${made.keyId}`);
  await press('Revoke…');
  await fill(page, 'dialog input', 'agent');
  await press('Revoke agent');
  await settled(page, 'revoked');
  assert.notEqual(
    (await client.operations.listKeys({})).keys.find(({ name }) => name === 'agent')?.revokedAt,
    undefined,
  );
  assert.deepEqual(await faults(), []);
});
