import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AddressRefused, checkHost, guardedLookup, mayReach, type Resolve } from './addresses.ts';

const PUBLIC_ONLY = { privateToo: false, loopbackToo: false };

test('addresses that are not on the public internet are refused, in every form', () => {
  const refused = [
    ...['127.0.0.1', '127.1.2.3', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...[
      '169.254.169.254',
      '100.64.0.1',
      '100.100.100.200',
      '192.0.0.192',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
    ],
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:169.254.169.254', '::ffff:10.0.0.1', '::7f00:1'],
    ...[
      'fe80::1',
      'fe80::1%eth0',
      'fc00::1',
      'fd00:ec2::254',
      'fec0::1',
      'ff02::1',
      '2002:7f00:1::',
      '64:ff9b::7f00:1',
    ],
    ...['2001::1', '2001:db8::1', 'localhost', '', '1.2.3', '0x7f000001', '2130706433', '017700000001'],
  ];
  for (const address of refused) assert.equal(mayReach(address, PUBLIC_ONLY), false, address);
  for (const address of ['1.1.1.1', '8.8.8.8', '172.32.0.1', '172.15.255.255', '2606:4700::1111', '::ffff:8.8.8.8'])
    assert.equal(mayReach(address, PUBLIC_ONLY), true, address);
});

test('loopback is allowed by itself, and private addresses with everything', () => {
  const loopback = { privateToo: false, loopbackToo: true };
  assert.deepEqual(
    ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254', '0.0.0.0'].map((one) =>
      mayReach(one, loopback),
    ),
    [true, true, true, false, false, false],
  );
  const all = { privateToo: true, loopbackToo: false };
  assert.deepEqual(
    ['127.0.0.1', '10.0.0.1', 'fe80::1%lo', 'nonsense'].map((one) => mayReach(one, all)),
    [true, true, true, false],
  );
});

const resolving =
  (...addresses: string[]): Resolve =>
  (_, answer) =>
    answer(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

test('a URL is refused by the forms of an address that WHATWG URLs understand', async () => {
  for (const host of ['2130706433', '0x7f.1', '017700000001', '127.1', '[::1]', '[::ffff:127.0.0.1]', '①②⑦.⓪.⓪.①'])
    await assert.rejects(
      checkHost(new URL(`http://${host}/`), PUBLIC_ONLY, resolving('8.8.8.8')),
      AddressRefused,
      host,
    );
  await checkHost(new URL('http://8.8.8.8/'), PUBLIC_ONLY, resolving());
});

test('one private address refuses a name, and a name without addresses is refused', async () => {
  const url = new URL('https://hooks.example/');
  await checkHost(url, PUBLIC_ONLY, resolving('8.8.8.8', '2606:4700::1111'));
  for (const addresses of [['8.8.8.8', '10.0.0.1'], ['::ffff:169.254.169.254'], []])
    await assert.rejects(checkHost(url, PUBLIC_ONLY, resolving(...addresses)), AddressRefused);
  const failing: Resolve = (_, answer) => answer(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
  await assert.rejects(checkHost(url, PUBLIC_ONLY, failing), { code: 'ENOTFOUND' });
});

test('a socket gets the addresses that were checked', () => {
  const answers: unknown[] = [];
  const lookup = guardedLookup(PUBLIC_ONLY, resolving('8.8.8.8', '8.8.4.4'));
  lookup('hooks.example', { all: true }, (...answer) => answers.push(answer));
  lookup('hooks.example', {}, (...answer) => answers.push(answer));
  assert.deepEqual(answers, [
    [
      null,
      [
        { address: '8.8.8.8', family: 4 },
        { address: '8.8.4.4', family: 4 },
      ],
    ],
    [null, '8.8.8.8', 4],
  ]);
});
