import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { ADMIN, ask, makeParts } from '../../testing/parts.ts';

test('an incomplete copy is reported as a storage problem, and removed', async (t) => {
  const folder = temporaryDirectory(t);
  // A key file must be copied, and cannot be read.
  const unreadable = join(folder, 'data', 'keys', 'bootstrap.key');
  mkdirSync(unreadable, { recursive: true });
  const parts = await makeParts({ flags: { dataDir: join(folder, 'data') } });
  const backup = (name: string) =>
    ask(parts, 'POST', '/memories/default/app/exec', {
      key: ADMIN,
      json: { command: 'backup', args: { path: join(folder, name) } },
    });
  // The operator's own folder stays, such as a mounted disk.
  mkdirSync(join(folder, 'empty'));
  for (const name of ['copy', 'empty']) {
    const answer = await backup(name);
    assert.equal(answer.body['code'], 'STO-E001');
    assert.match(String(answer.body['message']), /is incomplete and was removed/);
  }
  assert.equal(existsSync(join(folder, 'copy')), false);
  assert.deepEqual(readdirSync(join(folder, 'empty')), []);
  rmdirSync(unreadable);
  assert.equal((await backup('copy')).status, 200);
  const files = readdirSync(join(folder, 'copy'), { recursive: true });
  assert.equal((await backup('copy')).body['code'], 'VAL-E001');
  assert.deepEqual(readdirSync(join(folder, 'copy'), { recursive: true }), files);
});

test('a copy that was cut off has no layout, so nothing takes it for a backup', async (t) => {
  const folder = temporaryDirectory(t);
  const parts = await makeParts({ flags: { dataDir: join(folder, 'data') } });
  const path = join(folder, 'copy');
  let hasLayout: boolean | undefined;
  const { keyFiles } = parts.services;
  t.mock.method(keyFiles, 'read', (name: string) => {
    hasLayout ??= existsSync(join(path, 'data', 'layout.json'));
    return Buffer.from(name);
  });
  const answer = await ask(parts, 'POST', '/memories/default/app/exec', {
    key: ADMIN,
    json: { command: 'backup', args: { path } },
  });
  assert.equal(answer.status, 200);
  assert.equal(hasLayout, false);
  assert.ok(existsSync(join(path, 'data', 'layout.json')));
});

test('the next backup removes what a crash left of earlier ones, and nothing else', async (t) => {
  const folder = temporaryDirectory(t);
  const list = join(folder, 'data', 'backups.json');
  mkdirSync(join(folder, 'data'));
  const parts = await makeParts({ flags: { dataDir: join(folder, 'data') } });
  const backup = (name: string) =>
    ask(parts, 'POST', '/memories/default/app/exec', {
      key: ADMIN,
      json: { command: 'backup', args: { path: join(folder, name) } },
    });
  // The operator's own folder, such as a mounted disk.
  mkdirSync(join(folder, 'given'));
  const noted: unknown[] = [];
  for (const name of ['new', 'given']) {
    const path = join(folder, name);
    const read = t.mock.method(parts.services.keyFiles, 'read', (file: string) => {
      if (!existsSync(`${path}.then`)) {
        cpSync(path, `${path}.then`, { recursive: true });
        noted.push(...JSON.parse(readFileSync(list, 'utf8')));
      }
      return Buffer.from(file);
    });
    assert.equal((await backup(name)).status, 200);
    read.mock.restore();
    assert.equal(existsSync(list), false);
    // As if the process had ended in the middle.
    rmSync(path, { recursive: true });
    renameSync(`${path}.then`, path);
    assert.ok(existsSync(join(path, 'data')));
  }
  assert.equal((await backup('whole')).status, 200);
  const whole = readdirSync(join(folder, 'whole'), { recursive: true });
  writeFileSync(join(folder, 'whole', 'unfinished'), 'its id');
  mkdirSync(join(folder, 'other', 'data'), { recursive: true });
  writeFileSync(join(folder, 'other', 'unfinished'), 'of another deployment');
  noted.push({ id: 'its id', path: join(folder, 'whole'), isNew: true });
  noted.push({ id: 'an id', path: join(folder, 'other'), isNew: true });
  writeFileSync(list, JSON.stringify(noted));
  // The place of one that was cut off can be used again.
  assert.equal((await backup('given')).status, 200);
  assert.deepEqual(readdirSync(join(folder, 'given')).sort(), ['backup.json', 'data', 'keys']);
  assert.equal(existsSync(join(folder, 'new')), false);
  assert.deepEqual(readdirSync(join(folder, 'whole'), { recursive: true }), whole);
  assert.deepEqual(readdirSync(join(folder, 'other')).sort(), ['data', 'unfinished']);
  assert.equal(existsSync(list), false);
});

test('a backup that the control log cannot note is complete, and says so', async (t) => {
  const folder = temporaryDirectory(t);
  const parts = await makeParts({ flags: { dataDir: join(folder, 'data') } });
  t.mock.method(parts.services.control, 'commit', () =>
    Promise.reject(new EngineError('STO-E001', 'no room: the disk is full')),
  );
  const { status, body } = await ask(parts, 'POST', '/memories/default/app/exec', {
    key: ADMIN,
    json: { command: 'backup', args: { path: join(folder, 'copy') } },
  });
  assert.equal(status, 200);
  assert.match(String(body['warnings']), /is complete, but cannot be noted: .*the disk is full/);
  assert.ok(existsSync(join(folder, 'copy', 'backup.json')));
});
