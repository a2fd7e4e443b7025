// Pages show what is so now, of the memory and the row that are open, and give numbers as they are.
import assert from 'node:assert/strict';
import type { Page } from 'puppeteer-core';
import type { Memory } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { becomes, click, fill, holdFirst, inPage, isAt, settled, shows, signIn, wear } from './browser.ts';
import { consoleTests, type Opened } from './opened.ts';

const inConsole = consoleTests();

const TEA = { type: 'belief', subject: 'Ada', relation: 'drinks', object: 'tea' } as const;

async function lacks(page: Page, text: string): Promise<void> {
  await becomes(page, `no longer shows ${text}`, `!document.body.innerText.includes(${JSON.stringify(text)})`);
}

inConsole('a verdict on the trail of one memory is not shown for another', {}, async (opened) => {
  const { page, client, memory, open, press } = opened;
  await client.operations.createMemory({ id: 'beside' });
  await memory.add(TEA);
  await open('audit');
  await press('Verify the chain');
  await shows(page, 'an intact chain');
  await open('/m/beside/audit');
  await isAt(page, /\/beside\/audit$/);
  await lacks(page, 'an intact chain');
});

/** Two goals, and a page that shows the first one, whose move waits for its answer. */
async function movedLate({ page, memory, open, press }: Opened) {
  const [first, second] = await Promise.all(
    ['first', 'second'].map(async (description) => (await memory.add({ type: 'goal', description })).blobHash),
  );
  await open(`goals?grain=${first}`);
  await settled(page, 'Move to');
  const held = await holdFirst(page, (request) => request.method() === 'PUT');
  await press('Move');
  await eventually('the move is held', () => held.length === 1);
  const end = async (): Promise<void> => {
    const listed = page.waitForResponse((response) => response.url().includes('/grains?'));
    await held[0]?.continue();
    // The list is read again after the move.
    await listed;
  };
  return { first, second, end };
}

inConsole('a move that ends late leaves the goal that was opened since', {}, async (opened) => {
  const { page, open } = opened;
  const { second, end } = await movedLate(opened);
  await open(`goals?grain=${second}`);
  await isAt(page, new RegExp(`grain=${second}`));
  await end();
  await settled(page, 'satisfied');
  assert.match(await inPage<string>(page, 'location.search'), new RegExp(`grain=${second}`));
});

inConsole('a move that ends late leaves the filter that was set since', {}, async (opened) => {
  const { page } = opened;
  const { first, end } = await movedLate(opened);
  await page.select('.filters select', 'satisfied');
  await isAt(page, /state=satisfied/);
  await end();
  await isAt(page, new RegExp(`grain=(?!${first})[0-9a-f]{64}`));
  assert.match(await inPage<string>(page, 'location.search'), /state=satisfied/);
});

inConsole('an answer does not hold what was forgotten from it', { expected: /status of 404/ }, async (opened) => {
  const { page, memory, open, press } = opened;
  const { blobHash } = await memory.add(TEA);
  await open(`recall?q=what+does+Ada+drink&grain=${blobHash}`);
  await settled(page, 'Ada drinks tea');
  await press('Forget…');
  await settled(page, 'This cannot be undone.');
  await fill(page, 'dialog input[type=text]', blobHash.slice(0, 8));
  await click(page, 'dialog button.danger');
  await shows(page, 'Nothing was found.');
  await lacks(page, 'Ada drinks tea');
});

inConsole('of many open requests the oldest are shown', {}, async ({ page, memory, open }) => {
  const { operations } = memory;
  const receivedAt = new Date(Date.now() - 20 * 86_400_000);
  await operations.openSubjectRequest({ userId: 'ada', kind: 'access', receivedAt });
  for (let i = 0; i < 100; i += 1) await operations.openSubjectRequest({ userId: `later-${i}`, kind: 'access' });
  await open('people');
  await settled(page, 'The first 100 of 101 are shown.');
  assert.match(
    await inPage<string>(page, `document.querySelector('.requests li').innerText`),
    /^access\s*ada\s*day 20/,
  );
});

/** Stores a belief with further fields as they are written, which the client could not write. */
async function addWritten({ server, memory }: Opened, more: string): Promise<string> {
  const answer = await fetch(`${server.http}/api/memories/${memory.id}/add`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    body: `{"grain_type": "belief", "subject": "Ada", "relation": "has", "object": "a ticket", ${more}}`,
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  return ((await answer.json()) as { readonly blob_hash: string }).blob_hash;
}

inConsole('a number is a time only in the fields that are times', {}, async (opened) => {
  const { page, open } = opened;
  const hash = await addWritten(
    opened,
    '"posted_at": 1700000000000000, "assigned_to": 3, "valid_to": 1800000000, "ticket": 9007199254740993',
  );
  await open(`grains?grain=${hash}`);
  await settled(page, 'Correct…');
  const fields = await inPage<Readonly<Record<string, string>>>(
    page,
    `Object.fromEntries([...document.querySelectorAll('.fields > div')].map(({ children: [name, value] }) =>
      [name.textContent, value.textContent]))`,
  );
  const { posted_at: postedAt, assigned_to: assignedTo, valid_to: validTo, ticket } = fields;
  assert.deepEqual([postedAt, assignedTo, ticket], ['1700000000000000', '3', 'about 9007199254740992']);
  assert.match(validTo ?? '', /^15 Jan 2027/);
});

const LABELS = `[...document.querySelectorAll('dialog .edit-fields label')].map(({ innerText }) => innerText)`;

inConsole('a correction leaves integers alone that the page does not know exactly', {}, async (opened) => {
  const { page, open, press } = opened;
  const hash = await addWritten(opened, '"order": {"id": 9007199254740993, "note": "a"}, "mood": "tired"');
  await open(`grains?grain=${hash}`);
  await press('Correct…');
  await shows(page, 'Make the new version');
  const labels = await inPage<readonly string[]>(page, LABELS);
  assert.deepEqual([labels.includes('mood'), labels.includes('order')], [true, false]);
  await shows(page, 'Not here: order');
});

inConsole('a correction drops a text that is emptied', {}, async (opened) => {
  const { page, memory, open, press } = opened;
  const hash = await addWritten(opened, '"mood": "tired"');
  await open(`grains?grain=${hash}`);
  await press('Correct…');
  await shows(page, 'Make the new version');
  await page.focus('dialog textarea[id$="-mood"]');
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await page.keyboard.up('Control');
  await page.keyboard.press('Backspace');
  await press('Make the new version');
  await settled(page, '2 versions');
  const { fields } = await newest(memory, hash);
  assert.deepEqual([fields['object'], 'mood' in fields], ['a ticket', false]);
});

async function newest(memory: Memory, hash: string) {
  const { supersededBy } = await memory.get(hash);
  return memory.get(supersededBy ?? hash);
}

inConsole('the browser keeps no answer', { expected: /ERR_CACHE_MISS/ }, async ({ page, memory, open }) => {
  const { blobHash } = await memory.add(TEA);
  await open(`grains?grain=${blobHash}`);
  await settled(page, 'Correct…');
  await click(page, '[aria-label="Sign out"]');
  await page.waitForSelector('input[type=password]');
  const address = JSON.stringify(`/api/memories/${memory.id}/grains/${blobHash}`);
  const kept = `fetch(${address}, { cache: 'only-if-cached', mode: 'same-origin', credentials: 'omit' })`;
  assert.equal(await inPage<string>(page, `${kept}.then((answer) => answer.text(), () => '')`), '');
});

inConsole('a memory that is made or deleted here changes what may be chosen', {}, async ({ page, open, press }) => {
  const choices = `[...document.querySelectorAll('.memory-choice option')].map(({ value }) => value)`;
  const links = `[...document.querySelectorAll('nav a')].map(({ pathname }) => pathname)`;
  await open('/memories');
  await press('New memory');
  await fill(page, 'dialog input', 'fresh');
  await press('Make it');
  await becomes(page, 'offers the new memory', `${choices}.includes('fresh')`);
  await open('/m/fresh/grains');
  await settled(page, 'This memory is empty');
  await open('/memories?memory=fresh');
  await press('Delete…');
  await settled(page, 'This cannot be undone.');
  await fill(page, 'dialog input[type=text]', 'fresh');
  await press('Delete fresh');
  await becomes(page, 'no longer offers it', `!${choices}.includes('fresh')`);
  await becomes(page, 'leads to another memory', `!${links}.some((path) => path.includes('/m/fresh/'))`);
});

inConsole('a list of tags may end in a comma', {}, async ({ page, memory, open }) => {
  await memory.add({ ...TEA, tags: ['drinks'] });
  await open('grains?tag=drinks,');
  await settled(page, '1 grain');
});

inConsole('a copy is told to readers that hear the page', {}, async ({ page, memory, open }) => {
  const { blobHash } = await memory.add(TEA);
  await open(`grains?grain=${blobHash}`);
  await settled(page, 'Correct…');
  await click(page, '[aria-label="Copy the hash"]');
  const told = `[...document.querySelectorAll('[role=status]')].map(({ textContent }) => textContent.trim())`;
  await becomes(page, 'tells of the copy', `${told}.some((text) => text === 'Copied' || text === 'Not copied')`);
});

inConsole(
  'Refresh asks for the health too, and an unavailable server is shown with its reasons',
  { expected: /status of 503/ },
  async ({ page, press }) => {
    await settled(page, 'rate limit per minute');
    page.on('request', (request) => {
      if (!request.url().endsWith('/api/health')) return void request.continue();
      const body = { status: 'unavailable', version: '0.1.0', reasons: ['the disk of the data is full'] };
      void request.respond({ status: 503, contentType: 'application/json', body: JSON.stringify(body) });
    });
    await page.setRequestInterception(true);
    await press('Refresh');
    await shows(page, 'the disk of the data is full');
    assert.match(await inPage<string>(page, `document.querySelector('.cards').innerText`), /^Status\s+unavailable/i);
  },
);

inConsole('Refresh asks for the history too', {}, async ({ page, open, press }) => {
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().includes('/stats/history')) asked += 1;
  });
  await open('metrics');
  await settled(page, 'Not computed');
  await eventually('the history is asked for', () => asked === 1);
  await press('Refresh');
  await eventually('the history is asked for again', () => asked === 2);
});

/** A grain as the server lists it. */
const LISTED = {
  ...{
    hash: 'a'.repeat(64),
    blob_hash: 'a'.repeat(64),
    grain_type: 'event',
    text: 'tea at noon',
    namespace: 'default',
  },
  ...{ created_at: 1_790_000_000, version_status: 'current', size_bytes: 100, fields: { session_id: 'one' } },
};

/** Answers each request for a list of grains; `pageOf` gets the cursor. */
async function listAs(page: Page, pageOf: (cursor: string | null) => { grains: object[]; next_cursor: string | null }) {
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (!pathname.endsWith('/grains')) return void request.continue();
    const body = JSON.stringify({ ...pageOf(searchParams.get('cursor')), total: null });
    void request.respond({ status: 200, contentType: 'application/json', body });
  });
  await page.setRequestInterception(true);
}

inConsole('a page of a list without a readable grain does not end the list', {}, async ({ page, open }) => {
  await listAs(page, (cursor) =>
    cursor === null ? { grains: [], next_cursor: 'more' } : { grains: [LISTED], next_cursor: null },
  );
  await open('grains');
  await settled(page, 'tea at noon');
});

inConsole('sessions are looked for in some grains, and further only by request', {}, async ({ page, open, press }) => {
  let asked = 0;
  await listAs(page, () => {
    asked += 1;
    return { grains: [LISTED], next_cursor: 'more' };
  });
  await open('sessions');
  await shows(page, 'more grains');
  const first = asked;
  assert.ok(first < 50, `${first} requests`);
  await press('Look through 20,000 more grains');
  await eventually('it looks further', () => asked > first);
  await shows(page, 'more grains');
  assert.ok(asked < 100, `${asked} requests`);
});

inConsole('a start that is typed stays while another setting of the graph is chosen', {}, async ({ page, open }) => {
  await open('graph');
  await settled(page, 'Name a subject');
  await fill(page, 'form.filters input', 'Ada');
  await page.select('form.filters select', '3');
  await isAt(page, /depth=3/);
  assert.equal(await inPage<string>(page, `document.querySelector('form.filters input').value`), 'Ada');
});

inConsole('the counts of a deletion are those of now', {}, async ({ page, memory, open, press }) => {
  await open(`/memories?memory=${memory.id}`);
  await settled(page, 'Purges pending');
  await memory.add(TEA);
  await press('Delete…');
  const counts = `document.querySelector('.counts')?.innerText ?? ''`;
  await becomes(page, 'counts the new grain', `/Grains\\s+1\\n/.test(${counts})`);
});

inConsole('an erasure of somebody who is not known says so', {}, async ({ page, open, press }) => {
  await open('people?person=nobody');
  await press('Erase…');
  await settled(page, 'Type nobody to confirm');
  await fill(page, 'dialog input:not([id$=reason])', 'nobody');
  await press('Erase nobody');
  await settled(page, 'Nothing was stored under this id');
  assert.doesNotMatch(await inPage<string>(page, 'document.body.innerText'), /Destroyed key|DSR-E003/);
});

inConsole('a chart has the colours of the theme that is shown', {}, async ({ page, open }) => {
  const points = [1, 2, 3].map((at) => ({
    timestamp: 1_790_000_000 + at * 3_600,
    total_grains: at,
    disk_space_bytes: at * 1_000_000,
    type_counts: {},
  }));
  page.on('request', (request) => {
    if (!request.url().includes('/stats/history')) return void request.continue();
    const body = JSON.stringify({ points, interval: 'hour' });
    void request.respond({ status: 200, contentType: 'application/json', body });
  });
  await page.setRequestInterception(true);
  await open('metrics');
  const canvas = `document.querySelector('.chart canvas')`;
  await becomes(page, 'draws the chart', `${canvas} !== null`);
  await inPage(page, `${canvas}.dataset.mark = 'light'`);
  await wear(page, { width: 1280, height: 800, theme: 'dark' });
  await becomes(page, 'draws the chart anew', `${canvas} !== null && ${canvas}.dataset.mark === undefined`);
});

inConsole('an act whose effect cannot be counted says why', { expected: /status of 403/ }, async (opened) => {
  const { page, memory, open, press } = opened;
  const { blobHash } = await memory.add(TEA);
  await open(`grains?grain=${blobHash}`);
  await settled(page, 'Forget…');
  page.on('request', (request) => {
    if (request.headers()['x-dry-run'] === undefined) return void request.continue();
    const error = { code: 'AUT-E001', message: 'AUT-E001: not with this key', details: [], request_id: 'r1' };
    void request.respond({ status: 403, contentType: 'application/json', body: JSON.stringify({ error }) });
  });
  await page.setRequestInterception(true);
  await press('Forget…');
  await shows(page, 'not with this key');
  await lacks(page, 'Counting');
});

inConsole(
  'an answer to an earlier sign-in does not end the present one',
  { expected: /status of 401/, isSignedIn: false },
  async ({ server, page, client, memory, press }) => {
    const { rawKey, keyId } = await client.operations.createKey({ name: 'short' });
    await signIn(page, server.http, rawKey!, `m/${memory.id}/audit`);
    await settled(page, 'Verify the chain');
    const held = await holdFirst(page, (request) => request.postData()?.includes('"verify_audit_chain"') === true);
    await press('Verify the chain');
    await eventually('the question is held', () => held.length === 1);
    await client.operations.revokeKey({ keyId });
    await click(page, '[aria-label="Sign out"]');
    await fill(page, 'input[type=password]', server.key);
    await page.keyboard.press('Enter');
    await settled(page, 'Verify the chain');
    const refused = page.waitForResponse((response) => response.status() === 401);
    await held[0]?.continue();
    await (await refused).text();
    // The page has the answer before that to a later question, and draws what it changes.
    await inPage(page, `fetch('/api/health').then((answer) => answer.text())`);
    await inPage(page, 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))');
    assert.doesNotMatch(await inPage<string>(page, 'document.body.innerText'), /no longer accepted/);
  },
);

inConsole('a page that is left, and kept for the way back, has no key', {}, async ({ page, open }) => {
  await open('grains');
  await settled(page, 'This memory is empty');
  // As a browser says it. One that is driven by a program keeps no pages.
  await inPage(page, `dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))`);
  await page.waitForSelector('input[type=password]');
});

inConsole('the address of an entry opens it, also where the list is empty', {}, async ({ page, memory, open }) => {
  await memory.add(TEA);
  await open('audit?actor=nobody&entry=0-1');
  await settled(page, '1 of partition 0');
});
