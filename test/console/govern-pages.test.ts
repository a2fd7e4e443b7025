// The pages of governance and of queries in a real browser: both themes and three widths, accessible; and what they change.
import assert from 'node:assert/strict';
import { becomes, fill, lookAt, type Pages, settled } from './browser.ts';
import { fillWithHistory, hasHistory } from './history.ts';
import { consoleTests } from './opened.ts';

const inConsole = consoleTests();

inConsole(
  'pages of people, policy, trail, metrics, keys, CAL and the graph are complete and accessible',
  { expected: /status of (?:400|501)/ },
  async ({ t, server, page, client, open }) => {
    if (!hasHistory(t)) return;
    await fillWithHistory(server);
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
    await lookAt(
      page,
      server.http,
      pages,
      async (name) =>
        (name === 'graph' || name === 'graph-whole') && page.waitForSelector('[data-laid-out=true], .graph-place .bad'),
    );
    assert.deepEqual(server.errors, []);

    // A server that does not offer the metrics.
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (request.postData()?.includes('"metrics"') !== true) return void request.continue();
      const error = { code: 'SYS-E002', message: 'not offered', request_id: 'r1' };
      void request.respond({ status: 501, contentType: 'application/json', body: JSON.stringify({ error }) });
    });
    await open('/m/default/metrics');
    await becomes(
      page,
      'is hidden',
      `![...document.querySelectorAll('nav a')].some((one) => one.textContent === 'Metrics')`,
    );
  },
);

inConsole(
  'a person is restricted, withdraws and is erased; a policy is tried and sealed; a key is made and revoked',
  { expected: /status of (?:400|501)/ },
  async ({ page, client, memory, open, press }) => {
    await memory.add({ type: 'belief', subject: 'Ada', relation: 'likes', object: 'tea', user_id: 'ada' });
    await memory.operations.grantConsent({ userId: 'ada', purpose: 'personalization' });

    await open('people?person=ada');
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

    await open('policy?change=1');
    await fill(page, 'textarea', 'retention.default_ttl_days = 90');
    await press('Show what it means');
    await settled(page, 'It tightens the policy');
    await press('Seal this version');
    await settled(page, 'set here');
    assert.equal((await memory.operations.policy({})).rules.retention.defaultTtlDays, 90);

    await open('/keys?new=1');
    await fill(page, 'dialog input[type=text]', 'agent');
    await press('Make it');
    await settled(page, 'Copy it now');
    await press('I have copied it');
    const made = (await client.operations.listKeys({})).keys.find(({ name }) => name === 'agent');
    assert.deepEqual(made?.scopes, ['read', 'write']);
    await open(`/keys?key=${made.keyId}`);
    await press('Revoke…');
    await fill(page, 'dialog input', 'agent');
    await press('Revoke agent');
    await settled(page, 'revoked');
    assert.notEqual(
      (await client.operations.listKeys({})).keys.find(({ name }) => name === 'agent')?.revokedAt,
      undefined,
    );
  },
);
