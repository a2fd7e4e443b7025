// The documents as the server shows them. The test builds them once, where no build of these sources is kept.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestServer } from '../../../test/support/server.ts';

for (const http of ['node', 'uws']) {
  test(`the documents are served from memory, with their policy, on ${http}`, async (t) => {
    const server = await startTestServer({ http });
    t.after(() => server.close());
    const at = `${server.http}/docs`;
    await eventually('the documents are built', async () => (await fetch(`${at}/`)).status !== 503);
    const page = await fetch(`${at}/threat-model`, { headers: { 'accept-encoding': 'br' } });
    const html = await page.text();
    assert.equal(page.status, 200, html);
    assert.match(html, /<h1[^>]*>Threat model/);
    const policy = page.headers.get('content-security-policy') ?? '';
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)];
    assert.ok(inline.length > 0);
    for (const [, code = ''] of inline)
      assert.ok(policy.includes(`'sha256-${createHash('sha256').update(code).digest('base64')}'`), code);
    assert.doesNotMatch(html, /<style|\son\w+=|<[^>]*\sstyle=/);
    // Only links that a reader follows lead elsewhere.
    for (const [tag] of html.matchAll(/<(?!a\b)[^>]*(?:src|href)="[^"]*"[^>]*>/g)) assert.doesNotMatch(tag, /"https?:/);
    assert.equal(page.headers.get('content-encoding'), 'br');
    const again = await fetch(`${at}/threat-model`, { headers: { 'if-none-match': page.headers.get('etag') ?? '' } });
    assert.equal(again.status, 304);

    for (const [, link = ''] of html.matchAll(/<a[^>]* href="(\/docs\/[^"#]*)/g))
      assert.equal((await fetch(`${server.http}${link}`, { method: 'HEAD' })).status, 200, link);

    const [script = ''] = /\/docs\/assets\/app\.[^"]+\.js/.exec(html) ?? assert.fail(html);
    assert.match((await fetch(`${server.http}${script}`)).headers.get('cache-control') ?? '', /immutable/);
    assert.match(await (await fetch(`${at}/threat-model.md`)).text(), /^# Threat model/);
    assert.equal((await fetch(`${at}/no-such-page`)).status, 404);
    assert.equal((await fetch(`${at}/..%2fpackage.json`)).status, 404);
    assert.equal((await fetch(at, { redirect: 'manual' })).headers.get('location'), 'docs/');
    assert.equal((await fetch(`${at}/`, { method: 'POST' })).status, 405);
  });
}

test('below a base path every link and file leads to a page of the documents', async (t) => {
  const server = await startTestServer({ basePath: '/granary' });
  t.after(() => server.close());
  const start = '/granary/docs/';
  await eventually('the documents are built', async () => (await fetch(server.http + start)).status !== 503);
  const compressed = { headers: { 'accept-encoding': 'br' } };
  const seen = new Map<string, string>();
  const asked = [start];
  const fragments: (readonly [page: string, id: string])[] = [];
  for (let path = asked.pop(); path !== undefined; path = asked.pop()) {
    if (seen.has(path)) continue;
    const answer = await fetch(server.http + path, compressed);
    const text = await answer.text();
    assert.equal(answer.status, 200, path);
    seen.set(path, text);
    if (!/html/.test(answer.headers.get('content-type') ?? '')) continue;
    for (const [, given = ''] of text.matchAll(/<[^>]*(?:src|href)="([^"]*)"/g)) {
      const { origin, pathname, hash } = new URL(given, server.http + path);
      if (origin !== server.http) continue;
      assert.ok(pathname.startsWith('/granary/'), `${path}: ${given}`);
      if (hash !== '') fragments.push([pathname, decodeURIComponent(hash.slice(1))]);
      // The table of operations has links to the API's own document.
      if (pathname.startsWith(start)) asked.push(pathname);
    }
  }
  await eventually('a page that was asked for is compressed', async () => {
    const page = await fetch(`${server.http}${start}concepts`, compressed);
    assert.equal(await page.text(), seen.get(`${start}concepts`));
    return page.headers.get('content-encoding') === 'br';
  });
  assert.ok(seen.size > 60, `${seen.size} pages and files`);
  for (const [page, id] of fragments)
    if (seen.has(page) && id !== 'VPContent') assert.ok(seen.get(page)?.includes(`id="${id}"`), `${page}#${id}`);
});

test('--no-docs serves none', async (t) => {
  const server = await startTestServer({ docs: 'false' });
  t.after(() => server.close());
  assert.equal((await fetch(`${server.http}/docs/`)).status, 404);
});
