// An address shows the audit entry that it names, although no list on the page has it. A report is saved as a file.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Granary } from '../../src/client/index.ts';
import { defined } from '../../src/engine/base/defined.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { button, click, goTo, settled, shows, signIn, startBrowser, startConsole, watchedPage } from './browser.ts';

test('the address of an audit entry opens it, listed or not', async (t) => {
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  const server = await startConsole(t);
  const memory = new Granary({ url: server.http, apiKey: server.key }).memory('default');
  await memory.add({ type: 'belief', subject: 'Ada', relation: 'drinks', object: 'tea' });
  for (let i = 0; i < 5; i += 1)
    await memory.operations.grantConsent({ userId: 'ada', purpose: `p${i}`, basis: 'form' });
  const first = (await memory.operations.audit({ seq: 1 })).entries;
  assert.deepEqual(
    first.map(({ seq, partition }) => [seq, partition]),
    [[1, 0]],
  );
  assert.deepEqual((await memory.operations.audit({ seq: 9_999 })).entries, []);
  assert.deepEqual((await memory.operations.audit({ seq: 1, partition: 3 })).entries, []);
  const { page, faults } = await watchedPage(browser, server.http);
  await signIn(page, server.http, server.key);
  // The filter leaves the entry out of the list.
  await goTo(page, `${server.http}/console/m/default/audit?event=consent.*&entry=0-1`);
  await settled(page, '1 of partition 0');
  await shows(page, first[0]?.hash ?? '');
  await goTo(page, `${server.http}/console/m/default/audit?entry=0-9999`);
  await settled(page, 'There is no entry 0-9999.');
  assert.deepEqual(await faults(), []);
});

test('the report of a request is saved as a file, in both languages', async (t) => {
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  const server = await startConsole(t);
  const memory = new Granary({ url: server.http, apiKey: server.key }).memory('default');
  await memory.add({ type: 'belief', subject: 'Ada', relation: 'drinks', object: 'tea', user_id: 'ada' });
  const { requestId } = await memory.operations.openSubjectRequest({ userId: 'ada', kind: 'access' });
  const { page, faults } = await watchedPage(browser, server.http);
  const folder = temporaryDirectory(t);
  const session = await page.createCDPSession();
  const { id: browserContextId } = page.browserContext();
  await session.send(
    'Browser.setDownloadBehavior',
    defined({ behavior: 'allow' as const, downloadPath: folder, browserContextId }),
  );
  await signIn(page, server.http, server.key);
  await goTo(page, `${server.http}/console/m/default/people`);
  await settled(page, 'Open requests');
  for (const [label, name, says] of [
    ['Report in English', `${requestId}-en.html`, /<html lang="en">/],
    ['Report in German', `${requestId}-de.html`, /<html lang="de">/],
  ] as const) {
    await click(page, button(label));
    await eventually(`${name} is saved`, async () => existsSync(join(folder, name)));
    assert.match(readFileSync(join(folder, name), 'utf8'), says, readdirSync(folder).join());
  }
  assert.deepEqual(await faults(), []);
});
