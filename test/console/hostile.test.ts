// Harmful input and failures: planted script, large and foreign text, keys that are none, a server that is
// gone.
import assert from 'node:assert/strict';
import { Granary } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer } from '../support/server.ts';
import { click, fill, inPage, isAt, settled, shot, shows } from './browser.ts';
import { consoleTests, ownFolder } from './opened.ts';

const inConsole = consoleTests();

const SCRIPT = `"'><img src=x onerror=alert(1)><script>alert(2)</script><a href="javascript:alert(3)">x</a>{{7*7}}`;

inConsole(
  'script planted in every field is text',
  { expected: /status of 40[04]/ },
  async ({ page, client, memory, open }) => {
    const common = { user_id: SCRIPT, tags: [SCRIPT], session_id: SCRIPT };
    const { blobHash } = await memory.add({
      type: 'belief',
      subject: SCRIPT,
      relation: 'says',
      object: SCRIPT,
      ...common,
    });
    const { newHash } = await memory.supersede(blobHash, { object: `${SCRIPT} again` }, { reason: SCRIPT });
    await memory.add({ type: 'event', role: 'user', content: SCRIPT, ...common });
    await memory.add({ type: 'state', data: { [SCRIPT]: SCRIPT }, ...common });
    await memory.add({ type: 'goal', description: SCRIPT, goal_state: 'active', subject: SCRIPT, ...common });
    await client.operations.createMemory({ id: 'planted', name: SCRIPT, description: SCRIPT });
    const planted = encodeURIComponent(SCRIPT);
    const addresses = [
      '/memories?memory=planted',
      `grains?grain=${newHash}`,
      `grains?user=${planted}&tag=${planted}`,
      `recall?q=${planted}&a.subject=${planted}&a.record_provenance=true`,
      `sessions?session=${planted}`,
      `goals?session=${planted}`,
    ];
    for (const address of addresses) {
      await open(address);
      await settled(page, 'onerror=alert(1)');
      const made = await inPage<number>(
        page,
        `document.querySelectorAll('img[src=x], main script, a[href^=javascript]').length`,
      );
      assert.equal(made, 0, address);
    }
  },
);

inConsole(
  'a grain of a megabyte, text from right to left and a thousand namespaces are shown',
  {},
  async ({ page, memory, open }) => {
    const large = await memory.add({ type: 'event', role: 'user', content: 'grain '.repeat(160_000) });
    const right = await memory.add({ type: 'belief', subject: 'עדה', relation: 'גרה ב', object: 'אוסלו' });
    await memory.addMany(
      Array.from({ length: 1_000 }, (_, i) => ({
        type: 'event' as const,
        role: 'user',
        content: `note ${i}`,
        namespace: `team-${i}`,
      })),
    );
    await open(`grains?grain=${large.blobHash}`);
    await settled(page, 'more characters');
    const shown = await inPage<number>(page, `document.querySelector('.panel').innerText.length`);
    assert.ok(shown < 20_000, `${shown} characters`);
    await open(`grains?grain=${right.blobHash}`);
    await settled(page, 'אוסלו');
    await shot(page, 'right-to-left');
    const direction = `getComputedStyle(document.querySelector('.grain-text')).direction`;
    assert.equal(await inPage<string>(page, direction), 'rtl');
    await open(`/memories?memory=${memory.id}`);
    await settled(page, 'team-999');
    await shot(page, 'thousand-namespaces');
  },
);

inConsole(
  'wrong, expired and revoked keys are refused, and a new key goes on at the same place',
  { expected: /status of 401/, isSignedIn: false },
  async ({ server, page, client, memory, open }) => {
    await page.goto(`${server.http}/console/m/${memory.id}/grains?type=goal`);
    const soon = await client.operations.createKey({ name: 'expired', expiresAt: new Date(Date.now() + 1_000) });
    await eventually('the key has expired', () =>
      new Granary({ url: server.http, apiKey: soon.rawKey }).operations.whoami().then(
        () => false,
        () => true,
      ),
    );
    for (const wrong of ['not a key', 'gr_öä', `gr_${'0'.repeat(64)}`, soon.rawKey!]) {
      await fill(page, 'input[type=password]', wrong);
      await page.keyboard.press('Enter');
      await page.waitForSelector('[role=alert]');
    }
    await shows(page, 'AUT-E004');
    await shot(page, 'wrong-key');

    const { rawKey, keyId } = await client.operations.createKey({ name: 'short' });
    await fill(page, 'input[type=password]', rawKey!);
    await page.keyboard.press('Enter');
    await settled(page, 'No grain fits');
    await client.operations.revokeKey({ keyId });
    await open('grains?type=belief');
    await shows(page, 'no longer accepted');
    await shot(page, 'revoked-key');
    await fill(page, 'input[type=password]', server.key);
    await page.keyboard.press('Enter');
    await settled(page, 'No grain fits');
    await isAt(page, /type=belief$/);

    // The key is in the memory of the page alone.
    const stored = `JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie])`;
    assert.ok(!(await inPage<string>(page, stored)).includes('gr_'));
    await page.reload();
    await page.waitForSelector('input[type=password]');
  },
);

inConsole(
  'a server that is gone is told, and asked again when it is back',
  { expected: /ERR_CONNECTION|ERR_EMPTY|ERR_NETWORK/, flags: ownFolder },
  async ({ t, server, flags, page, open }) => {
    await open('grains');
    await settled(page, 'This memory is empty');
    await server.close();
    await open('grains?type=goal');
    await shows(page, 'What you see may be out of date');
    // The question itself has failed too, after its retries.
    await page.waitForSelector('.error-facts > button');
    await shot(page, 'server-gone');
    const second = await startTestServer({ ...flags, httpPort: String(server.httpPort) });
    t.after(() => second.close());
    await click(page, '.error-facts > button');
    await settled(page, 'No grain fits');
    assert.ok(!(await inPage<string>(page, 'document.body.innerText')).includes('out of date'));
  },
);
