// No key, link or way back loses a secret that is shown once, or text that is typed and not sent.
import assert from 'node:assert/strict';
import type { HTTPRequest, Page } from 'puppeteer-core';
import { Granary } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { becomes, checkAccessible, click, fill, inPage, settled, shot, shows } from './browser.ts';
import { consoleTests } from './opened.ts';

const inConsole = consoleTests();

const QUESTION = 'Discard what you typed?';
const SHOWN_KEY = `/gr_[0-9a-f]{64}/.exec(document.body.innerText)?.[0] ?? ''`;

/** Asks the page as a browser does before it closes the tab. True: the browser would ask the person. */
function holdsTheTab(page: Page): Promise<boolean> {
  return inPage(page, `!dispatchEvent(new Event('beforeunload', { cancelable: true }))`);
}

async function isGone(page: Page, text: string): Promise<void> {
  await becomes(page, `no longer shows ${text}`, `!document.body.innerText.includes(${JSON.stringify(text)})`);
}

inConsole(
  'the secret of a new key stays until a person says that it is copied',
  {},
  async ({ server, page, open, press }) => {
    await open('/keys');
    await settled(page, 'bootstrap');
    // The form is left while the server makes the key.
    const held: HTTPRequest[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/auth/keys')) held.push(request);
      else void request.continue();
    });
    await page.setRequestInterception(true);
    await press('New key');
    await press('Make it');
    await eventually('the request is held', async () => held.length === 1);
    assert.equal(await holdsTheTab(page), true);
    await page.keyboard.press('Escape');
    await held[0]?.continue();
    await shows(page, 'I have copied it');
    const secret = await inPage<string>(page, SHOWN_KEY);
    assert.match(secret, /^gr_/);
    // A second Escape closes a dialog of the browser's own accord, whatever the page answered to the first one.
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape');
    await shows(page, 'cannot show it again');
    await inPage(page, `history.back()`);
    await becomes(page, 'is the form of a new key again', `location.search.includes('new=1')`);
    await inPage(page, `document.querySelector('dialog').requestClose?.()`);
    assert.equal(await inPage<string>(page, SHOWN_KEY), secret);
    assert.equal(await holdsTheTab(page), true);
    await shot(page, 'key-kept');
    await checkAccessible(page, 'a secret that is shown once');
    await press('I have copied it');
    await isGone(page, secret);
    assert.equal(await holdsTheTab(page), false);
    const { operations } = new Granary({ url: server.http, apiKey: secret });
    assert.deepEqual((await operations.whoami()).scopes, ['read', 'write']);
  },
);

inConsole('typed text is lost only when a person says so', {}, async ({ page, memory, open, press }) => {
  const { blobHash } = await memory.add({ type: 'belief', subject: 'Ada', relation: 'drinks', object: 'tea' });
  await open('grains');
  await open(`grains?grain=${blobHash}`);
  await press('Correct…');
  await shows(page, 'Make the new version');
  // Nothing is typed yet: Escape closes the dialog, and only it.
  await page.keyboard.press('Escape');
  await isGone(page, 'Make the new version');
  await shows(page, 'Correct…');
  await press('Correct…');
  await fill(page, 'dialog textarea', 'Ada Lovelace');
  for (let presses = 0; presses < 2; presses++) {
    await page.keyboard.press('Escape');
    await shows(page, QUESTION);
    await shot(page, 'discard');
    await press('Keep it');
    await isGone(page, QUESTION);
  }
  await inPage(page, 'history.back()');
  await shows(page, QUESTION);
  await checkAccessible(page, 'the question about typed text');
  await press('Keep it');
  const typed = `document.querySelector('dialog textarea').value`;
  assert.equal(await inPage<string>(page, typed), 'Ada Lovelace');
  assert.match(await inPage<string>(page, 'location.search'), new RegExp(blobHash));
  assert.equal(await holdsTheTab(page), true);
  await inPage(page, 'history.back()');
  await shows(page, QUESTION);
  await press('Discard it');
  await becomes(page, 'is the list alone', `location.search === '' && document.querySelector('.panel') === null`);
  assert.equal(await holdsTheTab(page), false);

  // A form in a page: links, other rows, the choice of the memory and sign-out ask as well.
  await open('policy');
  await press('Try a change');
  await fill(page, '.change-policy textarea', 'retention.default_ttl_days = 90');
  await click(page, 'nav a[href$="/keys"]');
  await shows(page, QUESTION);
  await press('Keep it');
  await click(page, '[aria-label="Sign out"]');
  await shows(page, QUESTION);
  await press('Keep it');
  const rules = `document.querySelector('.change-policy textarea').value`;
  assert.equal(await inPage<string>(page, rules), 'retention.default_ttl_days = 90');
  await click(page, 'nav a[href$="/keys"]');
  await press('Discard it');
  await shows(page, 'bootstrap');
  assert.match(await inPage<string>(page, 'location.pathname'), /\/keys$/);

  // A name that confirms is nothing to keep.
  await open(`grains?grain=${blobHash}`);
  await press('Forget…');
  await settled(page, 'This cannot be undone.');
  await fill(page, 'dialog input[type=text]', blobHash.slice(0, 7));
  await page.keyboard.press('Escape');
  await isGone(page, 'This cannot be undone.');
});
