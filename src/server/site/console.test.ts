import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestServer } from '../../../test/support/server.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Unlike fetch, this neither decompresses nor follows. */
async function ask(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const sent = request(url, { headers, method }).end();
  const [response] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

for (const http of ['node', 'uws']) {
  test(`the console is served from memory, with its policy, on ${http}`, async (t) => {
    const server = await startTestServer({ http });
    t.after(() => server.close());
    const at = `${server.http}/console`;
    let page = await ask(`${at}/`);
    // The sources may have to be built first; a page says so.
    if (page.status === 503) assert.match(page.body.toString(), /is being built/);
    await eventually('the console is built', async () => {
      page = await ask(`${at}/`);
      return page.status !== 503;
    });
    assert.equal(page.status, 200, page.body.toString());
    const policy = String(page.headers['content-security-policy']);
    for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      assert.ok(policy.split('; ').includes(rule), rule);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    const html = page.body.toString();
    assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/);

    const [, script] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(html) ?? [];
    assert.ok(script !== undefined, html);
    const plain = await ask(`${server.http}${script}`);
    const compressed = await ask(`${server.http}${script}`, { 'accept-encoding': 'gzip, br;q=0.9' });
    assert.equal(compressed.headers['content-encoding'], 'br');
    assert.ok(compressed.body.length * 2 < plain.body.length);
    assert.deepEqual(brotliDecompressSync(compressed.body), plain.body);
    assert.equal(
      (await ask(`${server.http}${script}`, { 'accept-encoding': 'br;q=0' })).headers['content-encoding'],
      undefined,
    );
    assert.match(String(plain.headers['cache-control']), /immutable/);
    assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8');

    const tag = String(page.headers['etag']);
    const again = await ask(`${at}/`, { 'if-none-match': `"other", W/${tag}` });
    assert.deepEqual([again.status, again.body.length], [304, 0]);
    const head = await ask(`${at}/`, {}, 'HEAD');
    assert.deepEqual([head.status, head.body.length], [200, 0]);

    // Every address of the console is its page; its files are only those that are there.
    assert.equal((await ask(`${at}/m/default/grains?type=belief`)).body.toString(), html);
    const missing = await ask(`${at}/assets/..%2f..%2fpackage.json`);
    assert.equal(missing.status, 404);
    assert.match(missing.body.toString(), /SYS-E003/);
    const posted = await ask(`${at}/`, {}, 'POST');
    assert.deepEqual([posted.status, posted.headers['allow']], [405, 'GET, HEAD']);

    // A browser that opens the server gets there; programs do not.
    const opened = await ask(server.http, { accept: 'text/html,*/*' });
    assert.deepEqual([opened.status, opened.headers['location']], [302, 'console/']);
    assert.equal((await ask(at)).headers['location'], 'console/');
    assert.equal((await ask(server.http)).status, 404);
    assert.equal((await ask(`${server.http}/consoles`)).status, 404);
  });
}

/** Gzip, the common form of compression. */
const FIRST_PAGE_BYTES_MAX = 120_000;

test('the first page is small', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  let page = await ask(`${server.http}/console/`);
  await eventually('the console is built', async () => {
    page = await ask(`${server.http}/console/`);
    return page.status !== 503;
  });
  const files = [...page.body.toString().matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path = '']) => path);
  assert.ok(files.length >= 3, files.join());
  const bodies = await Promise.all(files.map(async (path) => (await ask(`${server.http}${path}`)).body));
  const bytes = [page.body, ...bodies].reduce((sum, body) => sum + gzipSync(body).length, 0);
  assert.ok(bytes > 5_000 && bytes <= FIRST_PAGE_BYTES_MAX, `${bytes} bytes`);
});

test('--no-console serves none', async (t) => {
  const server = await startTestServer({ console: 'false' });
  t.after(() => server.close());
  assert.equal((await ask(`${server.http}/console/`)).status, 404);
  assert.equal((await ask(server.http, { accept: 'text/html' })).status, 404);
});
