// The documents in a real browser: both themes, a phone and a laptop, the search, and no breach of the policy.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startTestServer } from '../support/server.ts';
import { fill, inPage, LOOKS, settled, shot, shows, startBrowser, watchedPage } from './browser.ts';

const PAGES = ['', 'concepts', 'quickstart-python', 'cal-output', 'gdpr', 'reference/operations', 'reference/recall'];

test('pages fit the screen in both themes, and the search finds', async (t) => {
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  const server = await startTestServer({});
  t.after(() => server.close());
  const at = `${server.http}/docs`;
  await eventually('the documents are built', async () => (await fetch(`${at}/`)).status !== 503);
  for (const look of LOOKS.filter(({ width }) => width < 2000)) {
    const { page, faults } = await watchedPage(browser, server.http, { look });
    const where = (name: string): string => `docs-${name.replaceAll('/', '-')}-${look.width}-${look.theme}`;
    for (const name of PAGES) {
      await page.goto(`${at}/${name}`);
      await settled(page, name === '' ? 'Documentation of Granary' : 'Granary');
      await shot(page, where(name));
      assert.ok(await inPage<boolean>(page, 'document.documentElement.scrollWidth <= innerWidth'), where(name));
      assert.doesNotMatch(
        await inPage<string>(page, 'document.body.innerText'),
        /\{\{ (?:site|text|title)/,
        where(name),
      );
      assert.equal(await inPage(page, `document.documentElement.classList.contains('dark')`), look.theme === 'dark');
    }
    if (look.width === 1280) {
      await page.keyboard.press('/');
      await fill(page, '#localsearch-input', 'tombstone');
      await shows(page, 'Keys and names');
      await shot(page, where('search'));
    }
    assert.deepEqual(await faults(), [], `${look.width} ${look.theme}`);
    await page.close();
  }
});

test('the search finds and leads on below a base path', async (t) => {
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  const server = await startTestServer({ basePath: '/granary' });
  t.after(() => server.close());
  const at = `${server.http}/granary/docs/`;
  await eventually('the documents are built', async () => (await fetch(at)).status !== 503);
  const { page, faults } = await watchedPage(browser, server.http, { look: LOOKS[0]! }); // there are some
  await page.goto(at);
  await settled(page, 'Documentation of Granary');
  // The page loads its scripts from below the base, or the key would do nothing.
  await page.keyboard.press('/');
  await fill(page, '#localsearch-input', 'tombstone');
  await shows(page, 'Keys and names');
  await page.keyboard.press('Enter');
  await eventually('a page of the documents is shown', async () =>
    /^\/granary\/docs\/.+/.test(await inPage<string>(page, 'location.pathname')),
  );
  assert.deepEqual(await faults(), []);
});
