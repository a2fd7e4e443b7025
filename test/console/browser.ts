// A real browser without a window, which drives the console. A page's faults are violations of its policy,
// requests to another origin, and errors that nothing caught.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Browser, type HTTPRequest, launch, type Page } from 'puppeteer-core';
import { eventually, WAIT_MS_MAX } from '../support/eventually.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** A path may be given; otherwise it is where Debian puts it. */
const CHROMIUM = process.env['GRANARY_TEST_CHROMIUM'] ?? '/usr/bin/chromium';

const CLOSE_MS_MAX = 20_000;

/** A picture costs more than a check of a page, so only a run whose pictures a person wants to see takes them. */
const TAKES_SHOTS = process.env['GRANARY_TEST_SCREENSHOTS'] === '1';
/** Of screenshots. A page that does not show what it should leaves one in every run. */
const SHOTS = mkdtempSync(join(tmpdir(), 'granary-console-'));

/** The browser, closed after the test; undefined where there is none, and then the test is skipped. */
export async function startBrowser(t: TestContext): Promise<Browser | undefined> {
  const browser = await launchBrowser(t);
  if (browser !== undefined) t.after(() => closeBrowser(browser));
  return browser;
}

/** The browser, which the caller closes; undefined where there is none, and then the test is skipped. */
export function launchBrowser(t: TestContext): Promise<Browser> | undefined {
  if (!existsSync(CHROMIUM)) {
    t.skip(`no browser at ${CHROMIUM}: set GRANARY_TEST_CHROMIUM to the path of Chromium`);
    return undefined;
  }
  t.diagnostic(`screenshots: ${SHOTS}`);
  const isRoot = process.getuid?.() === 0;
  return launch({
    executablePath: CHROMIUM,
    // Chromium refuses to run as root within its sandbox.
    args: [...(isRoot ? ['--no-sandbox'] : []), '--disable-gpu', '--disable-dev-shm-usage', '--lang=en'],
    env: { ...process.env, TZ: 'UTC' },
    // A key, a picture or an expression that the browser does not answer fails with the name of the call.
    protocolTimeout: WAIT_MS_MAX,
  });
}

/** Ends the browser; one that does not end by itself is killed, because it would keep the file from ending. */
export async function closeBrowser(browser: Browser): Promise<void> {
  const kill = setTimeout(() => browser.process()?.kill('SIGKILL'), CLOSE_MS_MAX);
  await browser.close();
  clearTimeout(kill);
}

/** A server whose console is built. The caller closes it. */
export async function startConsole(flags: Record<string, string> = {}): Promise<TestServer> {
  const server = await startTestServer(flags);
  await eventually('the console is built', async () => (await fetch(`${server.http}/console/`)).status !== 503);
  return server;
}

export interface WatchedPage {
  readonly page: Page;
  /** The page's faults since the last call. */
  readonly faults: () => Promise<readonly string[]>;
}

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly theme: 'light' | 'dark';
}

/** Widths of a phone, a laptop and a large screen. */
export const LOOKS: readonly Look[] = [390, 1280, 2560].flatMap((width) =>
  (['light', 'dark'] as const).map((theme) => ({
    width,
    height: width === 390 ? 844 : width === 1280 ? 800 : 1440,
    theme,
  })),
);

/** A page that may ask only its own server. `expected`: refusals that the test provokes, such as `401`. */
export async function watchedPage(
  browser: Browser,
  server: string,
  { look = { width: 1280, height: 800, theme: 'light' }, expected }: { look?: Look; expected?: RegExp } = {},
): Promise<WatchedPage> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS_MAX);
  // A page behind another one draws nothing, and then a key may wait for a frame that never comes.
  await page.bringToFront();
  await wear(page, look);
  const faults: string[] = [];
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${server}/`) && !url.startsWith('data:') && !url.startsWith('blob:'))
      faults.push(`request to ${url}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error instanceof Error ? error.stack : String(error)}`));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && expected?.test(text) !== true) faults.push(`console: ${text}`);
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.evaluateOnNewDocument(NOTE_VIOLATIONS);
  return {
    page,
    faults: async () => {
      // A test that is skipped opens no document.
      const violations = await page.evaluate(
        () => (globalThis as unknown as { violations?: string[] }).violations?.splice(0) ?? [],
      );
      return [...faults.splice(0), ...violations.map((one) => `policy: ${one}`)];
    },
  };
}

/** Code of the page, as text: its types are those of a browser. */
const NOTE_VIOLATIONS = `
  globalThis.violations = [];
  document.addEventListener('securitypolicyviolation', (event) =>
    violations.push(event.effectiveDirective + ': ' + event.blockedURI + ' ' + event.sourceFile + ':' + event.lineNumber));
`;

/** The value of an expression in the page. */
export async function inPage<T>(page: Page, expression: string): Promise<T> {
  return (await page.evaluate(expression)) as T; // the caller knows what it asks for
}

/** An expression was asked for while the browser went to another page. */
const LEFT = /context was destroyed|find context|detached|does not belong to the document/i;

/** Waits until an expression in the page is true, over changes of the page. */
export async function becomes(page: Page, what: string, expression: string): Promise<void> {
  await eventually(`the page ${what}`, async () => {
    try {
      return await inPage<boolean>(page, expression);
    } catch (error) {
      if (error instanceof Error && LEFT.test(error.message)) return false;
      throw error;
    }
  });
}

/**
 * Waits until the page's own address, without the origin, is the text or fits the pattern. `page.url()` lags behind
 * `history.replaceState`, and a page may change its address after it shows its first elements.
 */
export async function isAt(page: Page, address: string | RegExp): Promise<void> {
  const fits = typeof address === 'string' ? `=== ${JSON.stringify(address)}` : `.search(${String(address)}) !== -1`;
  await becomes(page, `is at ${String(address)}`, `(location.pathname + location.search) ${fits}`);
}

/** Sets width and theme. */
export async function wear(page: Page, { width, height, theme }: Look): Promise<void> {
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: theme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ]);
}

/** Address of each page, by a name for its picture, with a text that it must show. */
export type Pages = Readonly<Record<string, readonly [address: string, text: string]>>;

/**
 * Shows each page in both themes and at three widths: each is complete, accessible, and as wide as the window at most. A page
 * is loaded once a width, and its theme changes while it is open, as that of a computer does.
 */
export async function lookAt(
  page: Page,
  server: string,
  pages: Pages,
  ready: (name: string) => Promise<unknown> = async () => undefined,
): Promise<void> {
  for (const looks of Map.groupBy(LOOKS, ({ width }) => width).values()) {
    await wear(page, looks[0]!); // a width has looks
    for (const [name, [address, text]] of Object.entries(pages)) {
      await goTo(page, `${server}/console/${address}`);
      await settled(page, text);
      for (const look of looks) {
        await wear(page, look);
        await ready(name);
        await drawn(page);
        await shot(page, `${name}-${look.width}-${look.theme}`);
        // A large screen shows the elements and colours of a laptop.
        if (look.width <= 1280) await checkAccessible(page, `${name} ${look.width} ${look.theme}`);
      }
      const isWider = await inPage<boolean>(page, 'document.documentElement.scrollWidth > innerWidth');
      assert.ok(!isWider, `${name} is wider than ${looks[0]!.width}`);
    }
  }
}

/** Opens the console and signs in with the key, through the form. */
export async function signIn(page: Page, server: string, key: string, path = ''): Promise<void> {
  await page.goto(`${server}/console/${path}`);
  await fill(page, 'input[type=password]', key);
  await page.keyboard.press('Enter');
  await page.waitForSelector('main#page h1');
}

/** Clicks what the selector finds, once it is in sight, enabled and at rest. Looks again if the page changes meanwhile. */
export async function click(page: Page, selector: string): Promise<void> {
  await page.locator(selector).setVisibility('visible').setTimeout(WAIT_MS_MAX).click();
}

/** The selector of a button that is enabled, by its text. */
export function button(text: string): string {
  return `::-p-xpath(//button[not(@disabled) and normalize-space()=${JSON.stringify(text)}])`;
}

/** Replaces the text of a field by typing, and makes sure that it arrived. */
export async function fill(page: Page, selector: string, text: string): Promise<void> {
  const field = page.locator(selector).setVisibility('visible').setTimeout(WAIT_MS_MAX);
  await field.fill(text, { typingThreshold: Number.POSITIVE_INFINITY });
  const typed = await page.$eval(selector, (element) => (element as unknown as { value: string }).value); // a field
  assert.equal(typed, text, `${selector} lost what was typed`);
}

/** Goes to another address of the console as a link does: the page stays, and with it the key. */
export async function goTo(page: Page, address: string): Promise<void> {
  const { pathname, search } = new URL(address);
  const href = JSON.stringify(`${pathname}${search}`);
  await inPage(
    page,
    `{ const link = document.createElement('a'); link.href = ${href}; document.body.append(link); link.click(); link.remove(); }`,
  );
}

/** Waits until the page shows the text and awaits nothing more. */
export async function settled(page: Page, text: string): Promise<void> {
  await shows(page, text);
  // The count of requests that puppeteer keeps does not return to zero where the page before was left early.
  await becomes(page, 'awaits nothing', `!/Loading|loading more|Working…|Counting/.test(document.body.innerText)`);
}

/** Waits until the page shows the text. The policy of the page forbids puppeteer's own way, which evaluates text in it. */
export async function shows(page: Page, text: string): Promise<void> {
  try {
    await becomes(page, `shows ${text}`, `document.body.innerText.includes(${JSON.stringify(text)})`);
  } catch (error) {
    await keep(page, 'failed');
    throw error;
  }
}

/** Waits until the page has drawn itself in its present look. */
function drawn(page: Page): Promise<void> {
  return inPage(page, 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))');
}

/** Keeps a picture of what is in sight, in a run that takes them. */
export async function shot(page: Page, name: string): Promise<void> {
  if (TAKES_SHOTS) await keep(page, name);
}

async function keep(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(SHOTS, `${name}.png`), optimizeForSpeed: true });
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
  }[];
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Fails with what axe finds on the page. */
export async function checkAccessible(page: Page, where: string): Promise<void> {
  // It is part of the test, so the policy of the page does not apply to it.
  if (!(await inPage<boolean>(page, `typeof axe === 'object'`))) await page.evaluate(await axeSource());
  const { violations } = await inPage<AxeResult>(page, 'axe.run(document)');
  const found = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id} (${help}) at ${target.join(' ')}: ${failureSummary}`),
  );
  assert.deepEqual(found, [], where);
}

let source: Promise<string> | undefined;

function axeSource(): Promise<string> {
  source ??= import('node:fs/promises').then(({ readFile }) => readFile(AXE, 'utf8'));
  return source;
}

/** Holds the first request of this kind; it goes on with `continue`. */
export async function holdFirst(
  page: Page,
  isWanted: (request: HTTPRequest) => boolean,
): Promise<readonly HTTPRequest[]> {
  const held: HTTPRequest[] = [];
  page.on('request', (request) => {
    if (held.length === 0 && isWanted(request)) held.push(request);
    else void request.continue();
  });
  await page.setRequestInterception(true);
  return held;
}
