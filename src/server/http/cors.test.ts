import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cors } from './cors.ts';
import { fakeRequest } from './fake-request.ts';

const ORIGIN = 'https://console.example';
const preflight = (origin: string, wanted?: string) =>
  fakeRequest({
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      ...(wanted === undefined ? {} : { 'access-control-request-headers': wanted }),
    },
  });

test('an allowed origin may read, another may not, and caches tell them apart', () => {
  const cors = new Cors([ORIGIN]);
  const headers = Object.fromEntries(cors.headers(fakeRequest({ headers: { origin: ORIGIN } })));
  assert.equal(headers['access-control-allow-origin'], ORIGIN);
  assert.equal(headers['vary'], 'Origin');
  assert.match(headers['access-control-expose-headers'] ?? '', /X-Request-Id/);
  for (const origin of ['https://console.example.evil', 'http://console.example', 'null']) {
    assert.deepEqual(cors.headers(fakeRequest({ headers: { origin } })), [['vary', 'Origin']], origin);
  }
  assert.deepEqual(cors.headers(fakeRequest({})), [['vary', 'Origin']]);
});

test('without origins no header is sent', () => {
  assert.deepEqual(new Cors([]).headers(fakeRequest({ headers: { origin: ORIGIN } })), []);
});

test('a star allows all origins, and needs no Vary', () => {
  const headers = Object.fromEntries(new Cors(['*']).headers(fakeRequest({ headers: { origin: ORIGIN } })));
  assert.equal(headers['access-control-allow-origin'], '*');
  assert.equal(headers['vary'], undefined);
});

test('a preflight is answered with the requested headers', () => {
  const request = preflight(ORIGIN, 'authorization, idempotency-key');
  assert.equal(new Cors([ORIGIN]).preflight(request), true);
  assert.equal(request.response?.status, 204);
  const headers = Object.fromEntries(request.response.headers);
  assert.equal(headers['access-control-allow-headers'], 'authorization, idempotency-key');
  assert.match(headers['access-control-allow-methods'] ?? '', /PATCH/);
});

test('a preflight from elsewhere, or with invalid headers, gets no permission', () => {
  for (const request of [preflight('https://evil.example'), preflight(ORIGIN, 'a: b')]) {
    assert.equal(new Cors([ORIGIN]).preflight(request), true);
    assert.equal(request.response?.status, 204);
    assert.ok(!request.response.headers.some(([name]) => name === 'access-control-allow-methods'));
  }
});

test('other requests are not preflights', () => {
  const cors = new Cors([ORIGIN]);
  assert.equal(cors.preflight(fakeRequest({ method: 'OPTIONS', headers: { origin: ORIGIN } })), false);
  assert.equal(cors.preflight(fakeRequest({ headers: { 'access-control-request-method': 'POST' } })), false);
});
