// Tests of the console share one browser and one server a file. Each has a memory of its own, and a page that is signed in
// and free of faults at its end.
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'puppeteer-core';
import { Granary, type Memory } from '../../src/client/index.ts';
import type { TestServer } from '../support/server.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { button, click, closeBrowser, goTo, launchBrowser, signIn, startConsole, watchedPage } from './browser.ts';

/** A test that takes longer hangs: it fails with its name, and the next one runs. */
const TEST_MS_MAX = 8 * 60_000;

export interface Opened {
  readonly t: TestContext;
  readonly server: TestServer;
  /** With which that server was started. */
  readonly flags: Record<string, string>;
  readonly page: Page;
  readonly client: Granary;
  /** The test's own memory. */
  readonly memory: Memory;
  /** Goes to a page of that memory, or with a slash at its begin to one of the whole console, as a link does. */
  readonly open: (address: string) => Promise<void>;
  /** Clicks the enabled button of this text. */
  readonly press: (text: string) => Promise<void>;
}

export interface Opening {
  /** Messages of the browser's console that the test provokes, such as `status of 401`. */
  readonly expected?: RegExp;
  /** Given: a server of the test's own. */
  readonly flags?: (t: TestContext) => Record<string, string>;
  /** False: the test signs in by itself. */
  readonly isSignedIn?: boolean;
}

/** Flags of a server whose data outlive it. */
export const ownFolder = (t: TestContext): Record<string, string> => ({ dataDir: temporaryDirectory(t) });

type Run = (opened: Opened) => Promise<void>;

/** Defines tests of this file. */
export function consoleTests(): (name: string, opening: Opening, run: Run) => void {
  let started: Promise<Browser> | undefined;
  let shared: Promise<TestServer> | undefined;
  let memories = 0;
  after(async () => {
    if (started !== undefined) await closeBrowser(await started);
    await (await shared)?.close();
  });
  return (name, { expected, flags: own, isSignedIn = true }, run) => {
    test(name, { timeout: TEST_MS_MAX }, async (t) => {
      started ??= launchBrowser(t);
      if (started === undefined) return;
      const browser = await started;
      const flags = own?.(t) ?? {};
      if (own === undefined) shared ??= startConsole();
      const server = await (own === undefined ? shared! : startConsole(flags)); // started one line above
      const { page, faults } = await watchedPage(browser, server.http, expected === undefined ? {} : { expected });
      try {
        const client = new Granary({ url: server.http, apiKey: server.key });
        memories += 1;
        const id = `m${memories}`;
        await client.operations.createMemory({ id });
        if (isSignedIn) await signIn(page, server.http, server.key);
        const open = (address: string): Promise<void> =>
          goTo(page, `${server.http}/console${address.startsWith('/') ? address : `/m/${id}/${address}`}`);
        const press = (text: string): Promise<void> => click(page, button(text));
        await run({ t, server, flags, page, client, memory: client.memory(id), open, press });
        assert.deepEqual(await faults(), []);
      } finally {
        await page.browserContext().close();
        if (own !== undefined) await server.close();
      }
    });
  };
}
