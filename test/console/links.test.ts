// An address shows the audit entry that it names, although no list on the page has it. A report is saved as a file.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Module } from 'node:module';
import { join } from 'node:path';
import { defined } from '../../src/engine/base/defined.ts';
import { eventually } from '../support/eventually.ts';
import { pdfText } from '../support/pdf-text.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { settled, shot, shows } from './browser.ts';
import { consoleTests } from './opened.ts';

const inConsole = consoleTests();

inConsole('the address of an audit entry opens it, listed or not', {}, async ({ page, memory, open }) => {
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
  // The filter leaves the entry out of the list.
  await open('audit?event=consent.*&entry=0-1');
  await settled(page, '1 of partition 0');
  await shows(page, first[0]?.hash ?? '');
  await open('audit?entry=0-9999');
  await settled(page, 'There is no entry 0-9999.');
});

inConsole(
  'the report of a request is saved as a file, in both languages and formats',
  { expected: /status of 501/ },
  async ({ t, page, memory, open, press }) => {
    await memory.add({ type: 'belief', subject: 'Ada', relation: 'drinks', object: 'tea', user_id: 'ada' });
    const { requestId } = await memory.operations.openSubjectRequest({ userId: 'ada', kind: 'access' });
    const folder = temporaryDirectory(t);
    const session = await page.createCDPSession();
    const { id: browserContextId } = page.browserContext();
    await session.send(
      'Browser.setDownloadBehavior',
      defined({ behavior: 'allow' as const, downloadPath: folder, browserContextId }),
    );
    await open('people');
    await settled(page, 'Open requests');
    // A server without the package says what to install, and the page stays.
    const found = withoutPackage('pdfkit');
    t.after(found);
    await press('PDF, English');
    await shows(page, 'a PDF needs the package pdfkit');
    await shot(page, 'no-pdfkit');
    found();
    for (const [label, name, says] of [
      ['HTML, English', `${requestId}-en.html`, /<html lang="en">/],
      ['HTML, German', `${requestId}-de.html`, /<html lang="de">/],
      ['PDF, English', `${requestId}-en.pdf`, /Report on the request of a data subject[\s\S]*Page 1 of \d/],
      ['PDF, German', `${requestId}-de.pdf`, /Bericht zum Antrag[\s\S]*Seite 1 von \d/],
    ] as const) {
      await press(label);
      // Chromium makes an empty file of the name, and fills one beside it first.
      const isSaved = () => existsSync(join(folder, name)) && !existsSync(join(folder, `${name}.crdownload`));
      await eventually(`${name} is saved`, isSaved);
      const bytes = readFileSync(join(folder, name));
      const text = name.endsWith('.html') ? bytes.toString() : await pdfText(bytes);
      assert.match(text, says, readdirSync(folder).join());
    }
    await shot(page, 'reports');
  },
);

/** Until the returned function is called, no module finds the package. */
function withoutPackage(name: string): () => void {
  const modules = Module as unknown as { _resolveFilename: (asked: string, ...rest: unknown[]) => string };
  const find = modules._resolveFilename;
  modules._resolveFilename = (asked, ...rest) => {
    if (asked === name) throw Object.assign(new Error(`no ${name}`), { code: 'MODULE_NOT_FOUND' });
    return find.call(modules, asked, ...rest);
  };
  return () => {
    modules._resolveFilename = find;
  };
}
