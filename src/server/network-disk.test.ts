import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { networkDiskOf } from './network-disk.ts';

test('a shared file system is recognised and named', { skip: process.platform !== 'linux' }, (t) => {
  assert.equal(networkDiskOf(temporaryDirectory(t)), undefined);
  // The kernel's number is signed on some machines.
  for (const [type, name] of [
    [0x6969, 'NFS'],
    [0xff534d42 | 0, 'CIFS'],
    [0xfe534d42, 'SMB'],
    [0xef53, undefined],
  ] as const)
    assert.equal(
      networkDiskOf('anywhere', () => ({ type })),
      name,
    );
});
