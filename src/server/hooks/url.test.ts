import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Resolve } from '../outgoing/addresses.ts';
import { checkHookUrl } from './url.ts';

const RULE = { privateToo: false, loopbackToo: false };

test('the answer does not tell whether a name of the inner network exists', async () => {
  const answers: readonly Resolve[] = [
    (_, answer) => answer(null, [{ address: '10.0.0.7', family: 4 }]),
    (_, answer) => answer(null, [{ address: '127.0.0.1', family: 4 }]),
    (_, answer) => answer(null, []),
    (_, answer) => answer(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []),
    (_, answer) => answer(Object.assign(new Error('try again'), { code: 'EAI_AGAIN' }), []),
  ];
  for (const resolve of answers)
    await assert.rejects(checkHookUrl('http://vault.corp/', RULE, resolve), {
      code: 'HOK-E001',
      message: 'HOK-E001: vault.corp cannot be resolved, or has an address that webhooks may not reach',
    });
  await checkHookUrl('http://example.com/', RULE, (_, answer) => answer(null, [{ address: '8.8.8.8', family: 4 }]));
  await assert.rejects(
    checkHookUrl('http://10.0.0.7/', RULE),
    /10\.0\.0\.7 has an address that webhooks may not reach$/,
  );
});
