// Acts on the pages: by keyboard alone, with a name typed before what cannot be taken back, and only what the key may do.
import assert from 'node:assert/strict';
import type { Page } from 'puppeteer-core';
import { NotFoundError } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { click, fill, inPage, isAt, settled, shows, signIn } from './browser.ts';
import { consoleTests } from './opened.ts';

const inConsole = consoleTests();

const FOCUSED = `(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.innerText ?? '').trim()`;

/** Presses Tab until the focus is on what has this label or text. */
async function tabTo(page: Page, label: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab');
    if ((await inPage<string>(page, FOCUSED)) === label) return;
  }
  assert.fail(`Tab does not reach ${label}`);
}

inConsole('a grain is found, opened and corrected by keyboard alone', {}, async ({ page, memory, open }) => {
  await memory.add({ type: 'belief', subject: 'Ada', relation: 'lives_in', object: 'Oslo' });
  await memory.add({ type: 'belief', subject: 'Ada', relation: 'drinks', object: 'tea' });
  await open('goals');
  await isAt(page, /goals$/);
  await tabTo(page, 'Grains');
  await page.keyboard.press('Enter');
  await settled(page, 'Ada lives in Oslo');
  for (let presses = 0; !(await inPage<boolean>(page, `document.activeElement.matches('.table-body [role=row]')`)); )
    assert.ok(presses++ < 60, await page.keyboard.press('Tab').then(() => 'Tab does not reach the rows'));
  await page.keyboard.press('ArrowDown');
  await eventually('the second row has the focus', () =>
    inPage<boolean>(page, `document.activeElement.getAttribute('aria-rowindex') === '3'`),
  );
  await page.keyboard.press('Enter');
  await settled(page, 'Correct…');
  await isAt(page, /grain=[0-9a-f]{64}/);
  await page.keyboard.press('Escape');
  await eventually('the row has the focus again', () =>
    inPage<boolean>(page, `document.activeElement.getAttribute('aria-rowindex') === '3'`),
  );
  await page.keyboard.press('Enter');
  await settled(page, 'Correct…');
  await tabTo(page, 'Correct…');
  await page.keyboard.press('Enter');
  await shows(page, 'Make the new version');
  for (let presses = 0; !(await inPage<boolean>(page, `document.activeElement.value === 'Oslo'`)); presses++) {
    assert.ok(presses < 60, 'Tab does not reach the field');
    await page.keyboard.press('Tab');
  }
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await page.keyboard.up('Control');
  await page.keyboard.type('Bergen');
  await tabTo(page, 'Make the new version');
  await page.keyboard.press('Enter');
  await settled(page, '2 versions');
  const { results } = await memory.recall('', { subject: 'Ada', relation: 'lives_in' });
  assert.deepEqual(
    results.map(({ text }) => text),
    ['Ada lives in Bergen'],
  );
});

inConsole(
  'what cannot be taken back shows counts and wants its name',
  { expected: /status of 404/ },
  async ({ page, client, memory, open }) => {
    const { blobHash } = await memory.add({ type: 'belief', subject: 'Ada', relation: 'drinks', object: 'tea' });
    await client.operations.createMemory({ id: 'old-notes' });
    const isDisabled = (): Promise<boolean> => inPage(page, `document.querySelector('dialog button.danger').disabled`);

    await open(`grains?grain=${blobHash}`);
    await settled(page, 'Forget…');
    await click(page, '.panel button.danger');
    await settled(page, 'This cannot be undone.');
    assert.match(await inPage<string>(page, `document.querySelector('.counts').innerText`), /Grains\s+1/);
    await fill(page, 'dialog input[type=text]', blobHash.slice(0, 7));
    assert.equal(await isDisabled(), true);
    await fill(page, 'dialog input[type=text]', blobHash.slice(0, 8));
    await eventually('the button is enabled', async () => !(await isDisabled()));
    await click(page, 'dialog button.danger');
    await settled(page, 'This memory is empty');
    await assert.rejects(memory.get(blobHash), NotFoundError);

    await open('/memories?memory=old-notes');
    await settled(page, 'Delete…');
    await click(page, '.panel button.danger');
    await settled(page, 'This cannot be undone.');
    await fill(page, 'dialog input[type=text]', 'default');
    assert.equal(await isDisabled(), true);
    await click(page, 'dialog .buttons button[type=button]');
    await click(page, '.panel button.danger');
    await settled(page, 'This cannot be undone.');
    await fill(page, 'dialog input[type=text]', 'old-notes');
    await click(page, 'dialog button.danger');
    await eventually('the memory is gone', async () => {
      const { memories } = await client.operations.listMemories();
      return !memories.some(({ id }) => id === 'old-notes');
    });
  },
);

inConsole(
  'a key sees the pages and buttons of what it may do',
  { isSignedIn: false },
  async ({ server, page, client, memory }) => {
    const { blobHash } = await memory.add({ type: 'belief', subject: 'Ada', relation: 'is', object: 'x' });
    const { rawKey } = await client.operations.createKey({ name: 'reader', scopes: ['read'], memoryId: memory.id });
    await signIn(page, server.http, rawKey!, `m/${memory.id}/grains?grain=${blobHash}`);
    await settled(page, 'Ada is x');
    const shown = await inPage<string>(page, 'document.body.innerText');
    for (const word of ['Grains', 'Recall']) assert.match(shown, new RegExp(word));
    for (const word of ['Forget…', 'Correct…', 'Restrict…', 'New memory']) assert.ok(!shown.includes(word), word);
  },
);

inConsole('a filter keeps what is typed, and leaves the others alone', {}, async ({ page, open }) => {
  await open('grains');
  await settled(page, 'This memory is empty');
  // A letter as soon as the address has changed, and a choice while it waits for the next letter.
  await inPage(
    page,
    `(() => {
      const set = (element, value) => {
        Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), 'value').set.call(element, value);
        element.dispatchEvent(new Event(element.matches('select') ? 'change' : 'input', { bubbles: true }));
      };
      const [user, type] = ['User', 'Type'].map((label) =>
        document.getElementById([...document.querySelectorAll('label')].find((one) => one.innerText === label).htmlFor));
      const { pushState } = history;
      history.pushState = (...address) => {
        pushState.apply(history, address);
        history.pushState = pushState;
        set(user, 'ada l');
        setTimeout(() => set(type, 'goal'), 100);
      };
      set(user, 'ada');
    })()`,
  );
  await isAt(page, /type=goal/);
  await isAt(page, /user=ada(?:%20|\+)l/);
});
