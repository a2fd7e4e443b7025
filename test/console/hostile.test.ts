// Harmful input and failures: planted script, large and foreign text, keys that are none, a server that is
// gone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Granary } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer } from '../support/server.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import {
  click,
  fill,
  goTo,
  inPage,
  isAt,
  settled,
  shot,
  shows,
  signIn,
  startBrowser,
  startConsole,
  watchedPage,
} from './browser.ts';

const SCRIPT = `"'><img src=x onerror=alert(1)><script>alert(2)</script><a href="javascript:alert(3)">x</a>{{7*7}}`;

test('script planted in every field is text', async (t) => {
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  const server = await startConsole(t);
  const client = new Granary({ url: server.http, apiKey: server.key });
  const memory = client.memory('default');
  const common = { user_id: SCRIPT, tags: [SCRIPT], session_id: SCRIPT };
  const { blobHash } = await memory.add({
    type: 'belief',
    subject: SCRIPT,
    relation: 'says',
    object: SCRIPT,
    ...common,
  });
  const { newHash } = await memory.supersede(blobHash, { object: `${SCRIPT} again` }, { reason: SCRIPT });
  await memory.add({ type: 'event', role: 'user', content: SCRIPT, ...common });
  await memory.add({ type: 'state', data: { [SCRIPT]: SCRIPT }, ...common });
  await memory.add({ type: 'goal', description: SCRIPT, goal_state: 'active', subject: SCRIPT, ...common });
  await client.operations.createMemory({ id: 'planted', name: SCRIPT, description: SCRIPT });
  const { page, faults } = await watchedPage(browser, server.http, { expected: /status of 40[04]/ });
  await signIn(page, server.http, server.key);
  const planted = encodeURIComponent(SCRIPT);
  const addresses = [
    'memories?memory=planted',
    `m/default/grains?grain=${newHash}`,
    `m/default/grains?user=${planted}&tag=${planted}`,
    `m/default/recall?q=${planted}&a.subject=${planted}&a.record_provenance=true`,
    `m/default/sessions?session=${planted}`,
    `m/default/goals?session=${planted}`,
  ];
  for (const address of addresses) {
    await goTo(page, `${server.http}/console/${address}`);
    await settled(page, 'onerror=alert(1)');
    const made = await inPage<number>(
      page,
      `document.querySelectorAll('img[src=x], main script, a[href^=javascript]').length`,
    );
    assert.equal(made, 0, address);
  }
  assert.deepEqual(await faults(), []);
});

test('a grain of a megabyte, text from right to left and a thousand namespaces are shown', async (t) => {
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  const server = await startConsole(t);
  const memory = new Granary({ url: server.http, apiKey: server.key }).memory('default');
  const large = await memory.add({ type: 'event', role: 'user', content: 'grain '.repeat(160_000) });
  const right = await memory.add({ type: 'belief', subject: 'עדה', relation: 'גרה ב', object: 'אוסלו' });
  await memory.addMany(
    Array.from({ length: 1_000 }, (_, i) => ({
      type: 'event' as const,
      role: 'user',
      content: `note ${i}`,
      namespace: `team-${i}`,
    })),
  );
  const { page, faults } = await watchedPage(browser, server.http);
  await signIn(page, server.http, server.key);
  await goTo(page, `${server.http}/console/m/default/grains?grain=${large.blobHash}`);
  await settled(page, 'more characters');
  const shown = await inPage<number>(page, `document.querySelector('.panel').innerText.length`);
  assert.ok(shown < 20_000, `${shown} characters`);
  await goTo(page, `${server.http}/console/m/default/grains?grain=${right.blobHash}`);
  await settled(page, 'אוסלו');
  await shot(page, 'right-to-left');
  const direction = `getComputedStyle(document.querySelector('.grain-text')).direction`;
  assert.equal(await inPage<string>(page, direction), 'rtl');
  await goTo(page, `${server.http}/console/memories?memory=default`);
  await settled(page, 'team-999');
  await shot(page, 'thousand-namespaces');
  assert.deepEqual(await faults(), []);
});

test('wrong, expired and revoked keys are refused, and a new key goes on at the same place', async (t) => {
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  const server = await startConsole(t);
  const client = new Granary({ url: server.http, apiKey: server.key });
  const { page, faults } = await watchedPage(browser, server.http, { expected: /status of 401/ });
  await page.goto(`${server.http}/console/m/default/grains?type=goal`);
  const soon = await client.operations.createKey({ name: 'expired', expiresAt: new Date(Date.now() + 1_000) });
  await eventually('the key has expired', () =>
    new Granary({ url: server.http, apiKey: soon.rawKey }).operations.whoami().then(
      () => false,
      () => true,
    ),
  );
  for (const wrong of ['not a key', 'gr_öä', `gr_${'0'.repeat(64)}`, soon.rawKey]) {
    await fill(page, 'input[type=password]', wrong);
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=alert]');
  }
  await shows(page, 'AUT-E004');
  await shot(page, 'wrong-key');

  const { rawKey, keyId } = await client.operations.createKey({ name: 'short' });
  await fill(page, 'input[type=password]', rawKey);
  await page.keyboard.press('Enter');
  await settled(page, 'No grain fits');
  await client.operations.revokeKey({ keyId });
  await goTo(page, `${server.http}/console/m/default/grains?type=belief`);
  await shows(page, 'no longer accepted');
  await shot(page, 'revoked-key');
  await fill(page, 'input[type=password]', server.key);
  await page.keyboard.press('Enter');
  await settled(page, 'No grain fits');
  await isAt(page, /type=belief$/);

  // The key is in the memory of the page alone.
  const stored = `JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie])`;
  assert.ok(!(await inPage<string>(page, stored)).includes('gr_'));
  await page.reload();
  await page.waitForSelector('input[type=password]');
  assert.deepEqual(await faults(), []);
});

test('a server that is gone is told, and asked again when it is back', async (t) => {
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  const dataDir = temporaryDirectory(t);
  const first = await startConsole(t, { dataDir });
  const { page, faults } = await watchedPage(browser, first.http, { expected: /ERR_CONNECTION|ERR_EMPTY|ERR_NETWORK/ });
  await signIn(page, first.http, first.key);
  await goTo(page, `${first.http}/console/m/default/grains`);
  await settled(page, 'This memory is empty');
  await first.close();
  await goTo(page, `${first.http}/console/m/default/grains?type=goal`);
  await shows(page, 'What you see may be out of date');
  // The question itself has failed too, after its retries.
  await page.waitForSelector('.error-facts > button');
  await shot(page, 'server-gone');
  const second = await startTestServer({ dataDir, httpPort: String(first.httpPort) });
  t.after(() => second.close());
  await click(page, '.error-facts > button');
  await settled(page, 'No grain fits');
  assert.ok(!(await inPage<string>(page, 'document.body.innerText')).includes('out of date'));
  assert.deepEqual(await faults(), []);
});
