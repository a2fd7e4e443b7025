// `granary upgrade --check` on data directories of every format: it says what a start would change, and changes no byte.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { UPGRADE_EXIT } from '../src/cli/exit-codes.ts';
import { EngineError } from '../src/engine/base/errors.ts';
import { FORMAT_VERSION as SEGMENT_FORMAT } from '../src/engine/index/files/segment-file.ts';
import { FORMAT_VERSION } from '../src/engine/log/format.ts';
import { MOVED_FILE, openLayout, RESTORE_FOLDER, RESTORE_READY_FILE } from '../src/server/data-directory.ts';
import { granary, granaryJson, serve } from './support/cli.ts';
import { fixtureNames, unpackFixture } from './support/deployment-fixture.ts';
import { memoryFolder } from './support/memory-files.ts';

const root = memoryFolder();
process.on('exit', () => rmSync(root, { recursive: true, force: true }));

/** Every name, size, time of change and byte below the folder. */
function digest(directory: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()) {
    const found = statSync(join(directory, name));
    hash.update(`${name}\0${found.mode}\0${found.mtimeMs}\0`);
    if (found.isFile()) hash.update(readFileSync(join(directory, name)));
  }
  return hash.digest('hex');
}

/** The fixture of the current formats. */
const NEWEST = 'log-7';

const checked = (directory: string, code: number, ...words: readonly string[]) =>
  granaryJson(['upgrade', '--check', directory, '--embedder', 'ngram', ...words], code);

const kindsOf = (report: Record<string, unknown>): readonly string[] =>
  (report['changes'] as readonly { readonly kind: string }[]).map(({ kind }) => kind);

/** A folder of its own, so that no test sees another's. */
const folder = (): string => mkdtempSync(join(root, 'd-'));

for (const name of fixtureNames())
  test(`${name} is looked at without a change`, async () => {
    const directory = folder();
    const { formats } = unpackFixture(name, directory);
    const before = digest(directory);
    const isCurrent = name === NEWEST;
    const report = await checked(directory, isCurrent ? UPGRADE_EXIT.same : UPGRADE_EXIT.changes);
    assert.equal(digest(directory), before);
    assert.deepEqual([report['opens'], report['can_go_back'], report['problems']], [true, isCurrent, []]);
    const found = Object.fromEntries(
      (report['formats'] as readonly { readonly part: string; readonly found: readonly number[] }[]).map((one) => [
        one.part,
        one.found,
      ]),
    );
    assert.deepEqual(found['log'], [formats.log]);
    assert.deepEqual(found['control'], [formats.control]);
    assert.deepEqual(found['segments'], [formats.segments]);
    assert.deepEqual(found['vectors'], [1]);
    assert.equal(kindsOf(report).includes('index'), formats.segments < SEGMENT_FORMAT);
    assert.equal(kindsOf(report).includes('vectors'), false);
  });

test('segments that a rebuild has put into another folder are looked at too', async () => {
  const directory = folder();
  const { formats } = unpackFixture(fixtureNames().find((name) => name !== NEWEST)!, directory);
  assert.ok(formats.segments < SEGMENT_FORMAT);
  for (const name of readdirSync(directory)) {
    const live = join(directory, name, 'segments');
    if (existsSync(live)) renameSync(live, `${live}-1`);
  }
  const report = await checked(directory, UPGRADE_EXIT.changes);
  const segments = (report['formats'] as readonly { readonly part: string; readonly found: readonly number[] }[]).find(
    ({ part }) => part === 'segments',
  );
  assert.deepEqual(segments?.found, [formats.segments]);
  assert.ok(kindsOf(report).includes('index'));
});

test('another embedder makes the vectors again', async () => {
  const directory = folder();
  unpackFixture(NEWEST, directory);
  const report = await granaryJson(['upgrade', '--check', directory]);
  const change = (report['changes'] as readonly { readonly kind: string; readonly message: string }[]).find(
    ({ kind }) => kind === 'vectors',
  );
  assert.match(
    change?.message ?? '',
    /^Of ngram-hash-512\/1: \d+ vectors\. The configured embedder computes them again/,
  );
});

test('a newer format is refused, and says so', async () => {
  const directory = folder();
  unpackFixture(NEWEST, directory);
  // The stamp is JSON in a page of the log.
  const path = join(directory, 'shard-1', 'log', 'data.mdb');
  const bytes = readFileSync(path, 'latin1');
  writeFileSync(path, bytes.replaceAll(`"formatVersion":${FORMAT_VERSION}`, '"formatVersion":9'), 'latin1');
  const before = digest(directory);
  const report = await checked(directory, UPGRADE_EXIT.refused);
  assert.match(
    String(report['problems']),
    new RegExp(`The log has format 9, and this version reads 1 to ${FORMAT_VERSION}: a newer version wrote it`),
  );
  const text = await granary(['upgrade', '--check', directory]);
  assert.equal(text.code, UPGRADE_EXIT.refused);
  assert.match(text.stdout, /cannot open the directory/);
  assert.equal(digest(directory), before);
  writeFileSync(join(directory, 'layout.json'), '{"format":2,"shards":2}\n');
  const layout = await granary(['upgrade', '--check', directory]);
  assert.deepEqual([layout.code, /a format that this build cannot read/.test(layout.stderr)], [1, true]);
});

test('a directory whose layout a start refuses is refused for the same reason', async () => {
  const directory = folder();
  unpackFixture(NEWEST, directory);
  const states: readonly (readonly [name: string, more: readonly string[], prepare: (copy: string) => void])[] = [
    ['moved', [], (copy) => writeFileSync(join(copy, MOVED_FILE), '{}\n')],
    [
      'restored in part',
      [],
      (copy) => {
        mkdirSync(join(copy, RESTORE_FOLDER));
        writeFileSync(join(copy, RESTORE_FOLDER, RESTORE_READY_FILE), '');
      },
    ],
    ['of another number of shards', ['--shards', '5'], () => undefined],
  ];
  for (const [name, more, prepare] of states) {
    const copy = folder();
    cpSync(directory, copy, { recursive: true });
    prepare(copy);
    const before = digest(copy);
    const report = await checked(copy, UPGRADE_EXIT.refused, ...more);
    assert.equal(digest(copy), before, name);
    assert.equal(report['opens'], false, name);
    const [problem] = report['problems'] as readonly string[];
    assert.throws(
      () => openLayout(copy, more[1] === undefined ? undefined : Number(more[1]), 8),
      (error) => error instanceof EngineError && problem === `${error.message}.`,
      `${name}: ${problem}`,
    );
  }
});

test('damage, another master key and other folders are told', async () => {
  const directory = folder();
  unpackFixture(NEWEST, directory);
  const damaged = folder();
  cpSync(directory, damaged, { recursive: true });
  writeFileSync(join(damaged, 'control', 'data.mdb'), Buffer.alloc(4096, 7));
  assert.match(String((await checked(damaged, 1))['problems']), /STO-E001: .*(damaged|cut short)/);
  const file = join(folder(), 'master.key');
  writeFileSync(file, '0123456789abcdef'.repeat(4), { mode: 0o600 });
  const other = await checked(directory, 1, '--master-key-file', file);
  assert.match(String(other['problems']), /AUT-E003: wrong master key/);
  const empty = folder();
  const none = await granary(['upgrade', '--check', empty]);
  assert.deepEqual([none.code, /not a data directory/.test(none.stderr), readdirSync(empty)], [1, true, []]);
  const bare = await granary(['upgrade', directory]);
  assert.deepEqual([bare.code, /give --check/.test(bare.stderr)], [2, true]);
});

test('a running server is seen, and goes on', async () => {
  const directory = join(root, 'served');
  mkdirSync(directory);
  const server = await serve(directory);
  try {
    const report = await checked(directory, UPGRADE_EXIT.same);
    assert.deepEqual(report['server'], { state: 'running', http: server.http });
    assert.equal((await fetch(`${server.http}/api/health/live`)).status, 200);
  } finally {
    await server.stop();
  }
  assert.deepEqual((await checked(directory, UPGRADE_EXIT.same))['server'], { state: 'none' });
});
