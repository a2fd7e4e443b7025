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

test('--no-docs serves none', async (t) => {
  const server = await startTestServer({ docs: 'false' });
  t.after(() => server.close());
  assert.equal((await fetch(`${server.http}/docs/`)).status, 404);
});
