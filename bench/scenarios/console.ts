// The console in a real browser, with the server on the same processors: the first page, a long list, a recall.
import { existsSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { type Browser, type HTTPResponse, launch, type Page } from 'puppeteer-core';
import { Granary } from '../../src/client/index.ts';
import { inFolder } from '../lib/folder.ts';
import { grainSource } from '../lib/grains.ts';
import { generator } from '../lib/random.ts';
import { type Measured, type Options, type Scenario, type Skipped, serverSize, sized } from '../lib/scenario.ts';
import { startServer, type Target } from '../lib/server.ts';
import { median, rounded } from '../lib/statistics.ts';

const CHROMIUM = process.env['GRANARY_TEST_CHROMIUM'] ?? '/usr/bin/chromium';
const LOOK_MS = 50;
/** Nothing of the console takes longer. */
const WAIT_MS = 300_000;

export const scenario: Scenario = {
  name: 'console',
  about:
    'the console in Chromium: its first page, a hundred thousand grains scrolled, a recall drawn, a graph laid out',
  aims: [
    { metric: 'first_page_gzip_kb', atMost: 120 },
    { metric: 'interactive_ms', atMost: 1_000 },
    { metric: 'scroll_task_max_ms', atMost: 100 },
    { metric: 'scroll_heap_mb', atMost: 150 },
    { metric: 'recall_drawn_ms', atMost: 50 },
    { metric: 'graph_readable_ms', atMost: 3_000 },
    { metric: 'graph_task_max_ms', atMost: 200 },
  ],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured | Skipped> {
  if (!existsSync(CHROMIUM))
    return { skipped: `no browser at ${CHROMIUM}: set GRANARY_TEST_CHROMIUM to the path of Chromium` };
  const grains = sized(size, { full: 100_000, quick: 20_000, smoke: 600 });
  const edges = sized(size, { full: 20_000, quick: 20_000, smoke: 600 });
  const rounds = sized(size, { full: 9, quick: 5, smoke: 1 });
  return inFolder(async (folder) => {
    const server = await start({ dataDirectory: folder, auth: 'api-key', profile, ...serverSize(size) });
    const browser = await launch({
      executablePath: CHROMIUM,
      // Chromium refuses to run as root within its sandbox.
      args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', '--disable-dev-shm-usage'],
    });
    try {
      const at = `http://127.0.0.1:${server.http}`;
      await fill(at, server, grains);
      await until('the console is built', async () => (await fetch(`${at}/console/`)).status !== 503);
      const first = await firstPage(browser, at, rounds);
      const page = await signedIn(browser, at, server.key ?? '');
      const list = await scrolled(page, at, grains);
      const drawn = await recallDrawn(page, at, rounds);
      await fillGraph(at, server, edges);
      const graph = await graphDrawn(page, at, edges, rounds);
      return {
        parameters: { grains, edges, nodes: edges / EDGES_A_NODE, rounds },
        metrics: rounded({ ...first, ...list, recall_drawn_ms: drawn, ...graph }),
      };
    } finally {
      await browser.close();
      await server.stop();
    }
  });
}

const MEMORY = 'console-bench';

async function fill(at: string, { key }: Target, grains: number): Promise<void> {
  const client = new Granary({ url: at, apiKey: key });
  await client.operations.createMemory({ id: MEMORY });
  const source = grainSource(1);
  const memory = client.memory(MEMORY);
  const step = 10_000;
  for (let left = grains; left > 0; left -= step) {
    const { errors } = await memory.addMany(
      source.take(Math.min(left, step)).map(({ grainType, fields }) => ({ type: grainType, ...fields }) as never),
    );
    if (errors.length > 0) throw new Error(JSON.stringify(errors[0]));
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + WAIT_MS; !(await isSo()); ) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${WAIT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** The value of an expression in the page. */
async function inPage<T>(page: Page, expression: string): Promise<T> {
  return (await page.evaluate(expression)) as T; // the caller knows what it asks for
}

/** The files that a new visitor loads until the form for the key is there. */
async function firstPage(browser: Browser, at: string, rounds: number): Promise<Record<string, number>> {
  const times: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    const bodies: Promise<Buffer>[] = [];
    const keep = (response: HTTPResponse): void => {
      if (response.url().includes('/console/')) bodies.push(response.buffer());
    };
    page.on('response', keep);
    await page.goto(`${at}/console/`, { waitUntil: 'domcontentloaded' });
    await page.waitForSelector('input[type=password]');
    times.push(await inPage<number>(page, 'performance.now()'));
    // A body that comes later cannot be read once the context is closed.
    page.off('response', keep);
    const sizes = (await Promise.all(bodies)).map((body) => gzipSync(body, { level: 9 }).length);
    bytes = sizes.reduce((sum, one) => sum + one, 0);
    await context.close();
  }
  return { first_page_gzip_kb: bytes / 1000, interactive_ms: median(times) };
}

async function signedIn(browser: Browser, at: string, key: string): Promise<Page> {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 800 });
  await page.goto(`${at}/console/m/${MEMORY}/grains`);
  await page.waitForSelector('input[type=password]');
  await page.type('input[type=password]', key);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.table-body [role=row]');
  return page;
}

/** Notes the longest task of the page from now on. */
const WATCH_TASKS = `
  globalThis.longest = 0;
  globalThis.taskObserver ??= new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  });
  taskObserver.observe({ type: 'longtask', buffered: false });
`;

/** Scrolls a little with each frame until every grain has been listed. */
const SCROLL = `
  ${WATCH_TASKS}
  const scroller = document.querySelector('.table-scroll');
  const step = () => {
    scroller.scrollTop += 4000;
    requestAnimationFrame(step);
  };
  step();
`;

async function scrolled(page: Page, at: string, grains: number): Promise<Record<string, number>> {
  const start = performance.now();
  await inPage(page, `{${SCROLL}}`);
  await until(`${grains} grains are listed at ${at}`, () =>
    inPage<boolean>(
      page,
      `document.querySelector('.table-foot').innerText.startsWith('${grains.toLocaleString('en')} grains')`,
    ),
  );
  const seconds = (performance.now() - start) / 1000;
  const session = await page.createCDPSession();
  await session.send('HeapProfiler.collectGarbage');
  const { JSHeapUsedSize: heap = Number.NaN } = await page.metrics();
  return {
    scroll_task_max_ms: await inPage<number>(page, 'longest'),
    scroll_heap_mb: heap / 1e6,
    scroll_grains_per_s: grains / seconds,
  };
}

/** From the end of the answer to the frame that shows its hits. */
const DRAWN = `new Promise((resolve) => {
  // The browser keeps 250 entries, which the pages of the list before have filled.
  performance.clearResourceTimings();
  const observer = new MutationObserver(() => {
    const answer = performance.getEntriesByType('resource').findLast(({ name }) => name.endsWith('/recall'));
    if (document.querySelector('.hit') === null || answer === undefined) return;
    observer.disconnect();
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => resolve(performance.now() - answer.responseEnd);
      channel.port2.postMessage(0);
    });
  });
  observer.observe(document.body, { childList: true, subtree: true });
})`;

async function recallDrawn(page: Page, at: string, rounds: number): Promise<number> {
  const times: number[] = [];
  await go(page, `${at}/console/m/${MEMORY}/recall`);
  await page.waitForSelector('.settings');
  const source = grainSource(2);
  for (let round = 0; round < rounds; round++) {
    const drawn = inPage<number>(page, DRAWN);
    await go(page, `${at}/console/m/${MEMORY}/recall?q=${encodeURIComponent(source.question())}`);
    times.push(await drawn);
  }
  return median(times);
}

const GRAPH = 'console-bench-graph';
const EDGES_A_NODE = 2;
/** Circles of people and things that mostly know one another. */
const CIRCLE_NODES = 100;
const WITHIN_CIRCLE = 0.92;

/** Beliefs of which each is an edge; every node has one at least. */
async function fillGraph(at: string, { key }: Target, edges: number): Promise<void> {
  const client = new Granary({ url: at, apiKey: key });
  await client.operations.createMemory({ id: GRAPH });
  const random = generator(3);
  const nodes = edges / EDGES_A_NODE;
  const name = (node: number): string => `thing ${node}`;
  const beliefs = Array.from({ length: edges }, (_, edge) => {
    // The first edges reach every node.
    const object = edge < nodes ? edge : Math.floor(random() * nodes);
    const circle = Math.floor((random() < WITHIN_CIRCLE ? object : random() * nodes) / CIRCLE_NODES);
    const subject = circle * CIRCLE_NODES + Math.floor(CIRCLE_NODES * random() ** 3);
    return {
      type: 'belief' as const,
      subject: name(subject),
      relation: `relation ${edge % 30}`,
      object: name(object),
      number: edge,
    };
  });
  for (let from = 0; from < edges; from += 10_000) {
    const { errors } = await client.memory(GRAPH).addMany(beliefs.slice(from, from + 10_000));
    if (errors.length > 0) throw new Error(JSON.stringify(errors[0]));
  }
}

/** From a click until every edge of the memory is drawn and the nodes have their places. */
async function graphDrawn(page: Page, at: string, edges: number, rounds: number): Promise<Record<string, number>> {
  const times: number[] = [];
  const tasks: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await go(page, `${at}/console/m/${GRAPH}/graph`);
    await until('the graph page is there', () =>
      inPage<boolean>(page, `document.querySelector('.graph-place') === null`),
    );
    await inPage(page, `{${WATCH_TASKS}}`);
    const start = performance.now();
    await go(page, `${at}/console/m/${GRAPH}/graph?whole=1`);
    await until(`${edges} edges are laid out`, () =>
      inPage<boolean>(
        page,
        `document.querySelector('[data-laid-out=true]') !== null &&
          document.querySelector('.graph-time').innerText.includes('${edges.toLocaleString('en')} edges')`,
      ),
    );
    times.push(performance.now() - start);
    tasks.push(await inPage<number>(page, 'longest'));
  }
  const picture = process.env['GRANARY_BENCH_PICTURE'];
  if (picture !== undefined) await page.screenshot({ path: picture });
  return { graph_readable_ms: median(times), graph_task_max_ms: Math.max(...tasks) };
}

/** As a link does, so that the page keeps its key. */
async function go(page: Page, address: string): Promise<void> {
  const { pathname, search } = new URL(address);
  const href = JSON.stringify(`${pathname}${search}`);
  await inPage(
    page,
    `{ const link = document.createElement('a'); link.href = ${href}; document.body.append(link); link.click(); link.remove(); }`,
  );
}
