// Parts of pages that say why: versions, sources and recalls of a grain; what a recall left out, and a recall as others
// make it; the words of a query; the time of a graph.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'puppeteer-core';
import type { Granary } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { hasCurl } from '../support/example-shell.ts';
import { becomes, holdFirst, inPage, settled, shot, shows } from './browser.ts';
import { consoleTests } from './opened.ts';

/** The editor takes no offer that is younger than 75 ms. */
const OFFER_MS = 200;
/** The editor looks for completions 100 ms after a letter. */
const TYPED_MS = 500;

const inConsole = consoleTests();
const run = promisify(execFile);

const textOf = (page: Page, selector: string): Promise<string> =>
  inPage(page, `document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`);

inConsole('a grain shows its versions as differences, its sources, and who recalled it', {}, async (opened) => {
  const { page, memory, open, press } = opened;
  const source = await memory.add({ type: 'event', role: 'user', content: 'I moved to Bergen in May.' });
  const first = await memory.add({ type: 'belief', subject: 'Ada', relation: 'lives_in', object: 'Oslo' });
  const { newHash } = await memory.supersede(
    first.blobHash,
    { object: 'Bergen', derived_from: [source.blobHash] },
    { reason: 'she moved' },
  );
  await memory.recall('where does Ada live?', { recordProvenance: true });
  await open(`grains?grain=${newHash}`);
  await settled(page, '2 versions');
  const changes = await inPage<readonly string[]>(
    page,
    `[...document.querySelectorAll('.diff > div')].map((row) => row.innerText.replaceAll(/\\s+/g, ' '))`,
  );
  assert.ok(changes.includes('object Oslo Bergen'), changes.join(', '));
  const sources = `[...document.querySelectorAll('.panel section')].find((one) => one.innerText.startsWith('Sources'))`;
  assert.match(
    await inPage<string>(page, `${sources}.querySelector('a').href`),
    new RegExp(`grain=${source.blobHash}`),
  );
  await press('Who recalled it');
  await shows(page, 'rank 1');
  await press('Audit entries');
  await settled(page, 'memory.');
  await shot(page, 'grain-trail');
});

/** The text that a page offers to be copied, by the name of its button. */
async function copied(page: Page, press: (text: string) => Promise<void>, form: string): Promise<string> {
  await press(form);
  await becomes(
    page,
    `copies as ${form}`,
    `[...document.querySelectorAll('button[aria-pressed=true]')].some((one) => one.innerText === ${JSON.stringify(form)})`,
  );
  return textOf(page, '.answers .code pre');
}

inConsole('a recall that is copied gives the same answer: as curl, TypeScript and CAL', {}, async (opened) => {
  const { t, server, page, client, memory, open, press } = opened;
  const adas: string[] = [];
  for (const object of ['"green" tea', "Ada's own tea", 'coffee'])
    adas.push((await memory.add({ type: 'belief', subject: 'Ada', relation: 'drinks', object })).blobHash);
  await memory.add({ type: 'belief', subject: 'Bob', relation: 'drinks', object: 'tea' });
  const question = encodeURIComponent(`which tea is Ada's \\ own`);
  await open(`recall?q=${question}&a.subject=Ada&a.grain_type=belief&a.limit=2&a.record_provenance=true`);
  await settled(page, 'candidates in');
  const hashes = await inPage<readonly string[]>(
    page,
    `[...document.querySelectorAll('.hit-head a')].map(({ href }) => new URL(href).searchParams.get('grain'))`,
  );
  assert.equal(hashes.length, 2);
  const seen = (found: readonly { readonly hash: string }[]): readonly string[] => found.map(({ hash }) => hash);
  // Every part of a score is a bar, and what was left out is told.
  assert.ok((await inPage<number>(page, `document.querySelectorAll('.hit:first-child .bar').length`)) > 2);
  await press('Show which and why');
  await shows(page, 'limit');

  const curl = await copied(page, press, 'curl');
  if (!hasCurl) t.diagnostic('curl is not installed: its command is not run');
  else {
    const env = { ...process.env, GRANARY_API_KEY: server.key };
    const { stdout } = await run('sh', ['-c', curl.replace('curl', 'curl -s')], { env });
    assert.deepEqual(seen((JSON.parse(stdout) as { results: { hash: string }[] }).results), hashes);
  }
  const line = await copied(page, press, 'TypeScript');
  const program = `return (async () => { ${line}\n return results; })();`;
  // The line is the page's own; a person would paste it into a program.
  const asked = new Function('granary', program) as (granary: Granary) => Promise<readonly { hash: string }[]>;
  assert.deepEqual(seen(await asked(client)), hashes);
  const query = await copied(page, press, 'CAL');
  const { result } = await memory.operations.cal({ query });
  const found = (result['grains'] as unknown as { hash: string }[]).map(({ hash }) => hash.replace('sha256:', ''));
  // CAL ranks by the words alone; the conditions and the limit are the same.
  assert.equal(found.length, 2, query);
  for (const hash of found) assert.ok(adas.includes(hash), query);

  // Two settings side by side: each hit says where the other one has it.
  await open(`recall?q=${question}&compare=1&a.limit=3&b.limit=1`);
  await settled(page, 'only here');
  await shows(page, 'same place');
  await shot(page, 'recall-moves');
});

inConsole('words of a query are completed', {}, async ({ page, open }) => {
  const held = await holdFirst(page, (request) => request.postData()?.includes('DESCRIBE grammar') === true);
  await open('cal?q=');
  const editor = `document.querySelector('.cal-editor')?.shadowRoot`;
  const content = `${editor}.querySelector('.cm-content')`;
  await becomes(page, 'has its editor', `${editor} != null && ${content} !== null`);
  // A click beside the text is one into it.
  const { x, y } = await inPage<{ readonly x: number; readonly y: number }>(
    page,
    `(({ right, bottom }) => ({ x: right - 20, y: bottom - 20 }))(document.querySelector('.cal-editor').getBoundingClientRect())`,
  );
  await page.mouse.click(x, y);
  await becomes(page, 'has the focus in its text', `${editor}.activeElement === ${content}`);
  await page.keyboard.press('End');
  await page.keyboard.type(' LIM');
  // A word that is typed before the page knows the language is completed when it does.
  await eventually('the words are held', () => held.length === 1);
  await new Promise((resolve) => setTimeout(resolve, TYPED_MS));
  await held[0]!.continue();
  const offered = `[...${editor}.querySelectorAll('.cm-completionLabel')].map(({ innerText }) => innerText)`;
  await becomes(page, 'offers LIMIT', `${offered}.includes('LIMIT')`);
  await shot(page, 'cal-completion');
  // Letters that are typed faster than the page draws stay, in their order.
  await page.keyboard.type('IT 10 AND MORE');
  await becomes(page, 'keeps what is typed', `${content}.innerText.trim().endsWith(' LIMIT 10 AND MORE')`);

  // Enter takes the offered word, once the offer has been there for a moment.
  await page.keyboard.type(' EXPLA');
  await becomes(page, 'offers EXPLAIN', `${offered}.includes('EXPLAIN')`);
  await new Promise((resolve) => setTimeout(resolve, OFFER_MS));
  await page.keyboard.press('Enter');
  await becomes(page, 'has the word', `${content}.innerText.trim().endsWith(' AND MORE EXPLAIN')`);
});

inConsole('grains of a query are the sentences of the server', {}, async ({ page, memory, open }) => {
  await memory.add({ type: 'goal', description: 'plant twelve apple trees' });
  await open(`cal?q=${encodeURIComponent('RECALL goals | SELECT object')}`);
  const lines = `[...document.querySelectorAll('.cal-grains li')].map(({ innerText }) => innerText.trim())`;
  await becomes(page, 'shows what the goal says', `JSON.stringify(${lines}) === '["plant twelve apple trees"]'`);
});

inConsole('the keywords of a query are coloured from the start', {}, async ({ page, open }) => {
  await open('cal?q=RECALL%20beliefs%20LIMIT%201');
  const words = `[...document.querySelector('.cal-editor')?.shadowRoot?.querySelectorAll('.cm-line span') ?? []]`;
  const bold = `${words}.filter((one) => getComputedStyle(one).fontWeight === '600').map(({ innerText }) => innerText)`;
  await becomes(page, 'shows its keywords', `JSON.stringify(${bold}) === '["RECALL","LIMIT"]'`);
});

inConsole(
  'the time of a graph goes from its first edge to its last one, by keys',
  {},
  async ({ page, memory, open }) => {
    const at = 1_790_000_000;
    for (const [object, seconds] of [
      ['Oslo', 0],
      ['Bergen', 86_401],
      ['Rome', 7 * 86_403],
    ] as const)
      await memory.add({ type: 'belief', subject: 'Ada', relation: 'visits', object, created_at: at + seconds });
    await open('graph?start=Ada&depth=1');
    await settled(page, '4 nodes, 3 edges');
    const rows = `document.querySelectorAll('.table-body [role=row]').length`;
    await becomes(page, 'lists all edges', `${rows} === 3`);
    await page.focus('#graph-until');
    await page.keyboard.press('Home');
    await becomes(page, 'lists the first edge', `${rows} === 1`);
    for (let presses = 0; presses < 20; presses += 1) await page.keyboard.press('ArrowRight');
    await becomes(page, 'lists the second edge too', `${rows} === 2`);
    await page.keyboard.press('End');
    await becomes(page, 'lists all edges again', `${rows} === 3`);
  },
);
