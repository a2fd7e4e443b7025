// Faults that a first look at the console finds: addresses that are none, pages whose code does not arrive, crowded controls,
// figures without a meaning, text that ends at the wrong side.
import assert from 'node:assert/strict';
import type { HTTPRequest } from 'puppeteer-core';
import { eventually } from '../support/eventually.ts';
import { startTestServer } from '../support/server.ts';
import { becomes, click, fill, goTo, inPage, settled, shot, shows } from './browser.ts';
import { consoleTests, ownFolder } from './opened.ts';

const inConsole = consoleTests();

inConsole(
  'pages are readable, and an address that is none keeps the frame',
  {},
  async ({ server, page, memory, open }) => {
    await memory.add({ type: 'belief', subject: 'עדה', relation: 'גרה ב', object: 'אוסלו '.repeat(80) });

    await settled(page, 'rate limit per minute');
    const caller = await inPage<readonly string[]>(
      page,
      `(({ innerText, title }) => [innerText, title])(document.querySelector('.caller-name'))`,
    );
    assert.equal(caller[0], 'bootstrap admin');
    assert.match(caller[1] ?? '', /^key:key_/);
    const facts = await inPage<string>(page, `document.querySelector('main').innerText`);
    assert.match(facts, /grpc port\s+\d+\n/);
    assert.match(facts, /rate limit per minute\s+none/);

    await open('/keys?new=1');
    await shows(page, 'Last day');
    await shot(page, 'new-key-scopes');
    const gaps = await inPage<readonly number[]>(
      page,
      `[...document.querySelectorAll('fieldset label')].map((label) => {
       const text = document.createRange();
       text.selectNodeContents(label.lastChild);
       return text.getBoundingClientRect().left - label.querySelector('input').getBoundingClientRect().right;
     })`,
    );
    assert.equal(gaps.length, 4);
    for (const gap of gaps) assert.ok(gap >= 4, `${gap} px between a box and its word`);
    await page.keyboard.press('Escape');

    await open('grains');
    await settled(page, '1 grain');
    await shot(page, 'right-to-left-row');
    // The block that cuts the text has the direction of the text.
    const cut = `(() => { const { direction, textOverflow, display } = getComputedStyle(
    document.querySelector('.table-body [dir=auto]')); return [direction, textOverflow, display].join(' '); })()`;
    assert.equal(await inPage<string>(page, cut), 'rtl ellipsis block');

    await open('metrics');
    await settled(page, 'Audit chain is intact');
    assert.match(await inPage<string>(page, `document.querySelector('main').innerText`), /Audit chain is intact\s+yes/);

    await goTo(page, `${server.http}/console/m/%E0%A4%A/grains`);
    await shows(page, 'This page cannot be shown');
    await shot(page, 'malformed-address');
    await click(page, 'nav a[href$="/keys"]');
    await shows(page, 'bootstrap');
  },
);

inConsole(
  'a page whose code does not arrive says so, and arrives when the server is back',
  { expected: /ERR_CONNECTION|ERR_EMPTY|ERR_NETWORK/, flags: ownFolder },
  async ({ t, server, flags, page, open }) => {
    await settled(page, 'rate limit per minute');
    await server.close();
    await open('/keys');
    await shows(page, 'This page did not arrive');
    await shot(page, 'page-missing');
    const second = await startTestServer({ ...flags, httpPort: String(server.httpPort) });
    t.after(() => second.close());
    await click(page, '.error-facts > button');
    await settled(page, 'bootstrap');
  },
);

inConsole(
  'a repeated question is asked again, and a query that writes runs only when a person runs it',
  { flags: () => ({ calTier1: 'true' }) },
  async ({ page, memory, open, press }) => {
    await memory.add({ type: 'belief', subject: 'Ada', relation: 'drinks', object: 'tea' });
    await open('recall?q=what+does+Ada+drink');
    await settled(page, 'Ada drinks tea');
    await memory.add({ type: 'belief', subject: 'Ada', relation: 'drinks', object: 'water' });
    await press('Recall');
    await settled(page, 'Ada drinks water');

    const statement = 'ADD belief SET subject = "Bob" SET relation = "likes" SET object = "figs" REASON "said"';
    await open('cal?q=RECALL+beliefs+RECENT+5');
    await settled(page, '2 items');
    await open(`cal?q=${encodeURIComponent(statement)}`);
    await shows(page, 'comes from the link');
    await shot(page, 'cal-from-address');
    const bobs = async (): Promise<number> => (await memory.recall('', { subject: 'Bob' })).results.length;
    assert.equal(await bobs(), 0);
    await press('Run');
    await eventually('the belief is added', async () => (await bobs()) === 1);
    // The way back shows each query with its answer, and the way forward does not write again.
    await page.goBack();
    await page.goBack();
    await settled(page, '3 items');
    const shown = `document.querySelector('.cal-editor').shadowRoot.querySelector('.cm-content').innerText.trim()`;
    await becomes(page, 'has the query in its editor', `${shown} === 'RECALL beliefs RECENT 5'`);
    await page.goForward();
    await shows(page, 'comes from the link');
  },
);

inConsole(
  'goals of a state are found on any page of the list, and a policy is sealed only as the form shows it',
  {},
  async ({ page, memory, open, press }) => {
    const goal = (i: number, state: 'satisfied' | 'active') =>
      ({ type: 'goal', description: `goal ${i}`, goal_state: state, created_at: 1_700_000_000 + i }) as const;
    const { errors } = await memory.addMany([
      goal(0, 'satisfied'),
      ...Array.from({ length: 450 }, (_, i) => goal(i + 1, 'active')),
    ]);
    assert.deepEqual(errors, []);
    await open('goals?state=satisfied');
    await settled(page, '1 goal');
    await shows(page, 'goal 0');

    await open('policy');
    await press('Try a change');
    await fill(page, '.change-policy textarea', 'retention.default_ttl_days = 90');
    // The answer about the first form comes after the form was changed.
    const held: HTTPRequest[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/policy/simulate') && held.length === 0) held.push(request);
      else void request.continue();
    });
    await page.setRequestInterception(true);
    await press('Show what it means');
    await eventually('the question is held', async () => held.length === 1);
    await page.type('.change-policy textarea', '0');
    await held[0]?.continue();
    await becomes(page, 'has its answer', `!document.body.innerText.includes('Working…')`);
    const text = await inPage<string>(page, `document.querySelector('.change-policy').innerText`);
    assert.doesNotMatch(text, /Seal this version|Effect on stored data/);
    await press('Show what it means');
    await shows(page, 'Seal this version');
    await shot(page, 'policy-changed');
  },
);
