import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { containerLine, decodeLine, encodeLine, signLine, verifyLine } from './grain.ts';
import { answerLines, linesOf } from './json-lines.ts';

const FIELDS = '"created_at":1768471200000';
const GOOD = `{"grain_type":"reasoning","fields":{${FIELDS},"conclusion":"caf\u00e9"}}`;
const GOOD_HASH = hashOf(GOOD);

function hashOf(line: string): string {
  return (encodeLine(JSON.parse(line)) as { hash: string }).hash;
}

interface Answer {
  readonly hash?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

async function answersTo(lines: (string | Buffer)[], answer = encodeLine): Promise<Answer[]> {
  const input = Readable.from(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]));
  const output = new PassThrough();
  const [out] = await Promise.all([text(output), answerLines(answer, input, output).then(() => output.end())]);
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test('every line gets one answer, in input order, whatever it contains', async () => {
  const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
  const field = (value: string): string => `{"grain_type":"reasoning","fields":{${FIELDS},"x":${value}}}`;
  const cases: [line: string | Buffer, code: string][] = [
    ['', 'ERR_CORRUPT'],
    ['nonsense', 'ERR_CORRUPT'],
    ['{"grain_type":', 'ERR_CORRUPT'],
    ['[]', 'ERR_SCHEMA'],
    ['null', 'ERR_SCHEMA'],
    ['{}', 'ERR_NO_TYPE'],
    ['{"grain_type":7}', 'ERR_SCHEMA'],
    ['{"grain_type":"episode","fields":{}}', 'ERR_UNKNOWN_TYPE'],
    ['{"grain_type":"belief"}', 'ERR_SCHEMA'],
    ['{"grain_type":"belief","fields":[]}', 'ERR_SCHEMA'],
    [Buffer.concat([Buffer.from(GOOD.slice(0, -3)), Buffer.of(0xff), Buffer.from('"}}')]), 'ERR_CORRUPT'],
    [field('"\\ud800"'), 'ERR_CORRUPT'],
    [field('{"\\udc00":1}'), 'ERR_CORRUPT'],
    [field(deep), 'ERR_CORRUPT'],
    [field('['.repeat(10_000) + ']'.repeat(10_000)), 'ERR_CORRUPT'],
    [deep, 'ERR_NO_TYPE'],
    [field(`"${'x'.repeat(3_000_000)}"`), 'ERR_TOO_LARGE'],
    [field(`[${'1,'.repeat(2_000_000)}1]`), 'ERR_TOO_LARGE'],
    [field('1e999'), 'ERR_FLOAT_INVALID'],
    [field('{"$float":"NaN"}'), 'ERR_FLOAT_INVALID'],
    [field('{"$float":"-Infinity"}'), 'ERR_FLOAT_INVALID'],
    [field('{"$float":"1e999"}'), 'ERR_FLOAT_INVALID'],
    [field('{"$float":"0x10"}'), 'ERR_SCHEMA'],
    [field('{"$int":"1.5"}'), 'ERR_SCHEMA'],
    [field('{"$int":5}'), 'ERR_SCHEMA'],
    [field('{"$int":"18446744073709551616"}'), 'ERR_RANGE'],
    [field(`{"$int":"${'9'.repeat(1_000_000)}"}`), 'ERR_RANGE'],
    [field('{"$bin":"0"}'), 'ERR_SCHEMA'],
    [field('{"$bin":"00"}'), 'ERR_SCHEMA'],
    [GOOD.replace('"fields"', '"options":{"sensitivity":4},"fields"'), 'ERR_RANGE'],
    [GOOD.replace('"fields"', '"options":{"sensitivity":"secret"},"fields"'), 'ERR_RANGE'],
    [GOOD.replace('"fields"', '"options":7,"fields"'), 'ERR_SCHEMA'],
  ];
  const answers = await answersTo(cases.flatMap(([line]) => [line, GOOD]));
  assert.equal(answers.length, cases.length * 2);
  for (const [i, [line, code]] of cases.entries()) {
    assert.equal(answers[2 * i]!.error?.code, code, String(line).slice(0, 100));
    assert.ok(!answers[2 * i]!.error?.message.includes('xxx'));
    assert.equal(answers[2 * i + 1]!.hash, GOOD_HASH);
  }
});

test('a key named __proto__ is data', () => {
  const line = `{"grain_type":"reasoning","fields":{${FIELDS},"__proto__":{"__proto__":1},"context":{"__proto__":null}}}`;
  const encoded = encodeLine(JSON.parse(line)) as { hash: string; blob_hex: string };
  const decoded = JSON.stringify(decodeLine({ blob_hex: encoded.blob_hex }));
  assert.ok(decoded.includes('"__proto__":{"__proto__":1}'));
  assert.equal(hashOf(decoded), encoded.hash);
});

test('maps that look like the notation for values come back as maps', () => {
  for (const value of ['{"$int":"5"}', '{"$map":{"a":1}}', '{"$bin":[1]}']) {
    const line = `{"grain_type":"reasoning","fields":{${FIELDS},"x":{"$map":${value}}}}`;
    const { hash, blob_hex } = encodeLine(JSON.parse(line)) as { hash: string; blob_hex: string };
    const decoded = decodeLine({ blob_hex }) as { fields: { x: unknown } };
    assert.deepEqual(decoded.fields.x, { $map: JSON.parse(value) });
    assert.equal(hashOf(JSON.stringify(decoded)), hash);
  }
});

test('decode answers with the header, and with the options that encode would need', () => {
  const encoded = encodeLine({ ...JSON.parse(GOOD), options: { sensitivity: 2 } }) as {
    hash: string;
    blob_hex: string;
  };
  assert.deepEqual(decodeLine(encoded), {
    grain_type: 'reasoning',
    fields: { created_at: 1768471200000, conclusion: 'caf\u00e9' },
    hash: encoded.hash,
    header: { version: 1, flags: 128, type: 8, ns_hash: '0000', created_at_sec: 1768471200, sensitivity: 2 },
    options: { sensitivity: 2 },
  });
  assert.throws(() => decodeLine({ ...encoded, hash: GOOD_HASH }), { code: 'ERR_INTEGRITY' });
  for (const bad of [{}, { blob_hex: 1 }, { blob_hex: '0' }, { blob_hex: 'zz' }])
    assert.throws(() => decodeLine(bad), { code: 'ERR_SCHEMA' });
  assert.throws(() => decodeLine({ blob_hex: '' }), { code: 'ERR_TOO_SHORT' });
  const opaque = decodeLine({ blob_hex: '01000b00000000000081a174a5736b696c6c' });
  assert.deepEqual((opaque as { grain_type: string; fields: object }).grain_type, 'skill');
});

test('container lists the addresses of a file', () => {
  const file = '4d470100000000000100000000000000f018adaa915446d69fd3c4b0e264db9a32172dd82efb4066bd8351c6f3b05c34';
  assert.deepEqual(containerLine({ file_hex: file }), { grains: [] });
  assert.throws(() => containerLine({ file_hex: `${file.slice(0, -2)}00` }), { code: 'ERR_INTEGRITY' });
});

test('signatures are created and verified', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { blob_hex } = encodeLine({ ...JSON.parse(GOOD), options: { signed: true } }) as { blob_hex: string };
  const signed = signLine({ blob_hex, iat: 5 }, privateKey, 1) as { envelope_hex: string; did: string; hash: string };
  const { envelope_hex, did, hash } = signed;
  assert.deepEqual(verifyLine({ envelope_hex }), { valid: true, did, hash });
  assert.deepEqual(verifyLine({ envelope_hex, did }), { valid: true, did, hash });
  assert.deepEqual((decodeLine({ blob_hex: envelope_hex }) as { hash: string }).hash, hash);
  const forged = `${envelope_hex.slice(0, -2)}${envelope_hex.endsWith('00') ? '01' : '00'}`;
  const judged = verifyLine({ envelope_hex: forged }) as { valid: boolean; error: { code: string } };
  assert.deepEqual([judged.valid, judged.error.code], [false, 'ERR_INTEGRITY']);
  assert.throws(() => verifyLine({ envelope_hex: 'd284' }), { code: 'ERR_CORRUPT' });
  assert.throws(() => verifyLine({ envelope_hex: '01' }), { code: 'ERR_CORRUPT' });
  const bare = encodeLine(JSON.parse(GOOD)) as { blob_hex: string };
  assert.throws(() => signLine(bare, privateKey, 1), { code: 'ERR_SIGNED_MISMATCH' });
  assert.equal(createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' })).asymmetricKeyType, 'ed25519');
});

test('lines may span chunks, and a line over the limit is not buffered', async () => {
  const stream = Buffer.from('one\ntwo\n\n0123456789ab\nlast');
  for (const step of [1, 2, 5, 100]) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < stream.length; at += step) chunks.push(stream.subarray(at, at + step));
    const lines: (string | undefined)[] = [];
    for await (const line of linesOf(Readable.from(chunks), 10)) lines.push(line?.toString());
    assert.deepEqual(lines, ['one', 'two', '', undefined, 'last']);
  }
});

test('the program reads lines and answers them', async () => {
  const main = new URL('main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, 'grain', 'encode'], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(`${GOOD}\nbad\n${GOOD}`);
  const lines = (await text(child.stdout)).trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as Answer).hash),
    [GOOD_HASH, undefined, GOOD_HASH],
  );
});
