// Every page of the console in a real browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../support/server.ts';
import { checkAccessible, goTo, LOOKS, shot, signIn, startBrowser, watchedPage, wear } from './browser.ts';

test('sign-in, overview and memories', async (t) => {
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  const server = await startTestServer();
  t.after(() => server.close());
  const { page, faults } = await watchedPage(browser, server.http);
  await page.goto(`${server.http}/console/`);
  await page.waitForSelector('input[type=password]');
  await shot(page, 'sign-in');
  await checkAccessible(page, 'sign-in');
  await signIn(page, server.http, server.key);
  for (const look of LOOKS) {
    await wear(page, look);
    for (const path of ['', 'memories', 'memories?memory=default']) {
      await goTo(page, `${server.http}/console/${path}`);
      await page.waitForNetworkIdle({ idleTime: 100 });
      await shot(page, `${path.replaceAll(/\W/g, '-') || 'overview'}-${look.width}-${look.theme}`);
      await checkAccessible(page, `${path} ${look.width} ${look.theme}`);
    }
  }
  assert.deepEqual(await faults(), []);
});
