import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TrustedProxies } from './proxies.ts';

const proxies = new TrustedProxies(['10.0.0.0/8', '127.0.0.1', '2001:db8:1::/48']);

function client(remoteAddress: string, headers: Readonly<Record<string, string>>, of = proxies): string {
  return of.clientOf({ remoteAddress, joined: (name) => headers[name] });
}

const XFF = 'x-forwarded-for';

test('the address of a trusted peer gives way to the one that it names', () => {
  assert.equal(client('127.0.0.1', { [XFF]: '203.0.113.7' }), '203.0.113.7');
  assert.equal(client('::ffff:127.0.0.1', { [XFF]: '203.0.113.7' }), '203.0.113.7');
  assert.equal(client('10.1.2.3', { forwarded: 'for=203.0.113.7;proto=https;by=10.1.2.3' }), '203.0.113.7');
  assert.equal(client('2001:db8:1::9', { forwarded: 'proto=https;For="[2001:db8::7]:4711"' }), '2001:db8::7');
  assert.equal(client('127.0.0.1', { [XFF]: '203.0.113.7:4711' }), '203.0.113.7');
  assert.equal(client('127.0.0.1', { [XFF]: '2001:DB8::7' }), '2001:db8::7');
});

test('a peer that is not trusted is believed nothing', () => {
  assert.equal(client('203.0.113.9', { [XFF]: '203.0.113.7', forwarded: 'for=203.0.113.7' }), '203.0.113.9');
  assert.equal(client('127.0.0.1', { [XFF]: '203.0.113.7' }, new TrustedProxies([])), '127.0.0.1');
  assert.equal(client('', { [XFF]: '203.0.113.7' }), '');
});

test('entries that the caller put before those of the proxies are not believed', () => {
  assert.equal(client('127.0.0.1', { [XFF]: '198.51.100.1, 203.0.113.7, 10.0.0.4' }), '203.0.113.7');
  assert.equal(client('127.0.0.1', { forwarded: 'for=198.51.100.1, for=203.0.113.7' }), '203.0.113.7');
  assert.equal(client('127.0.0.1', { [XFF]: '10.0.0.5, 10.0.0.4' }), '10.0.0.5');
});

test('what is no address ends the search', () => {
  assert.equal(client('127.0.0.1', { [XFF]: '203.0.113.7, unknown' }), '127.0.0.1');
  assert.equal(client('127.0.0.1', { [XFF]: '203.0.113.7, unknown, 10.0.0.4' }), '10.0.0.4');
  assert.equal(client('127.0.0.1', { forwarded: 'for=_hidden' }), '127.0.0.1');
  assert.equal(client('127.0.0.1', { [XFF]: '' }), '127.0.0.1');
});

test('two headers that differ leave the address of the proxy', () => {
  assert.equal(client('127.0.0.1', { [XFF]: '203.0.113.7', forwarded: 'for=198.51.100.1' }), '127.0.0.1');
  assert.equal(client('127.0.0.1', { [XFF]: '203.0.113.7', forwarded: 'for=203.0.113.7' }), '203.0.113.7');
});

test('a name, a bad prefix and an empty network are refused', () => {
  for (const bad of ['proxy.internal', '10.0.0.0/33', '10.0.0.0/', '::/129', '10.0.0.0/8/8'])
    assert.throws(() => new TrustedProxies([bad]), { code: 'VAL-E001', message: /--trusted-proxies/ }, bad);
});
