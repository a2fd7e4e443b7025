import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostPortText, parseHostPort } from './host-port.ts';

test('addresses are read as operators write them', () => {
  for (const [text, host, port] of [
    ['10.0.0.1:7070', '10.0.0.1', 7070],
    ['node-1.example.com:0', 'node-1.example.com', 0],
    ['[fd00::1]:65535', 'fd00::1', 65_535],
  ] as const) {
    assert.deepEqual(parseHostPort(text), { host, port });
    assert.equal(hostPortText({ host, port }), text);
  }
  for (const text of ['', '7070', ':7070', 'host', 'host:', 'host:65536', 'fd00::1:7070', 'http://host:1', 'a b:1'])
    assert.throws(() => parseHostPort(text), /must be HOST:PORT, or \[ADDRESS\]:PORT for IPv6/, text);
});
