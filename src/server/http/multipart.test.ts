import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError, type ErrorCode } from '../../engine/base/errors.ts';
import { fakeRequest } from './fake-request.ts';
import { fileUpload } from './multipart.ts';

const withCode =
  (code: ErrorCode) =>
  (error: unknown): boolean =>
    error instanceof EngineError && error.code === code;

interface Part {
  readonly name: string;
  readonly file?: string;
  readonly type?: string;
  readonly content: string | Uint8Array;
}

function form(...parts: Part[]): Buffer {
  const pieces = parts.flatMap(({ name, file, type, content }) => [
    Buffer.from(
      `--limit\r\nContent-Disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}\r\n` +
        `${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`,
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from('--limit--\r\n')]);
}

const upload = (body: Uint8Array, type = 'multipart/form-data; boundary=limit') =>
  fakeRequest({ body, headers: { 'content-type': type } });

test('the part named file is returned, with its name and type', async () => {
  const content = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 256));
  const body = form(
    { name: 'config', content: '{"a":1}' },
    { name: 'file', file: 'grâins.mg', type: 'application/vnd.mg', content },
    { name: 'other', file: 'x.txt', content: 'passed over' },
  );
  const { fileName, contentType, bytes, otherParts } = await fileUpload(upload(body));
  assert.deepEqual(otherParts, ['config', 'other']);
  assert.equal(fileName, 'grâins.mg');
  assert.equal(contentType, 'application/vnd.mg');
  assert.ok(content.equals(bytes));
});

test('folders in a file name are dropped', async () => {
  const { fileName } = await fileUpload(upload(form({ name: 'file', file: '../../etc/passwd', content: '' })));
  assert.equal(fileName, 'passwd');
});

test('a file of exactly the limit passes and one byte more is refused', async () => {
  const { bytes } = await fileUpload(upload(form({ name: 'file', file: 'a', content: 'x'.repeat(1_000) })), 1_000);
  assert.equal(bytes.byteLength, 1_000);
  const longer = upload(form({ name: 'file', file: 'a', content: 'x'.repeat(1_001) }));
  await assert.rejects(fileUpload(longer, 1_000), withCode('LIM-E003'));
});

test('a body without the part, or with two of them, is rejected', async () => {
  const file: Part = { name: 'file', file: 'a', content: 'b' };
  await assert.rejects(fileUpload(upload(form({ name: 'upload', file: 'a', content: 'b' }))), withCode('VAL-E003'));
  await assert.rejects(fileUpload(upload(form(file, file))), withCode('VAL-E003'));
});

test('a body that is not multipart is refused', async () => {
  const body = form({ name: 'file', file: 'a', content: 'b'.repeat(500) });
  await assert.rejects(fileUpload(upload(body, 'application/json')), withCode('VAL-E006'));
  await assert.rejects(fileUpload(fakeRequest({ body })), withCode('VAL-E006'));
  await assert.rejects(fileUpload(upload(body, 'multipart/form-data')), withCode('VAL-E002'));
  await assert.rejects(fileUpload(upload(body.subarray(0, body.length - 200))), withCode('VAL-E002'));
  await assert.rejects(fileUpload(upload(Buffer.alloc(0))), withCode('VAL-E002'));
  const many = Array.from({ length: 40 }, (_, at) => ({ name: `p${at}`, content: '' }));
  await assert.rejects(fileUpload(upload(form(...many))), withCode('VAL-E002'));
});

test('a file of pieces of boundaries is returned whole, as a view of the body', async () => {
  const pieces = ['\r', '\n', '\r\n', '--', '\r\n--', '\r\n--lim', '\r\n--limi', 'x', 'lim', 'a line of words'];
  let random = 1;
  for (let i = 0; i < 40; i += 1) {
    const parts: string[] = [];
    // From shorter than a boundary to several of the stretches that are parsed at a time.
    for (let left = i < 30 ? i : 60_000; left > 0; left -= 1) {
      random = (random * 48_271) % 2_147_483_647;
      parts.push(pieces[random % pieces.length]!);
    }
    const content = Buffer.from(parts.join(''));
    const body = form({ name: 'file', file: 'a', content }, { name: 'other', content: 'b' });
    const request = upload(body);
    const { bytes } = await fileUpload(request);
    assert.ok(content.equals(bytes), `${i}`);
    if (content.length > 100) assert.equal(bytes.buffer, (await request.body(body.length)).buffer);
  }
});
