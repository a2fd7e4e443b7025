// The container image without a container engine: the Dockerfile's last stage is laid out by the script that its build runs,
// and started as an engine starts it: an unprivileged user, a read-only root, volumes for data and keys, a network and
// process numbers of its own. Libraries and shell are this machine's, in place of the base image's.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { build } from '../scripts/build.ts';
import { withoutSymbols } from '../scripts/elf-symbols.ts';
import { layOut } from '../scripts/lay-out.ts';
import { startContainer, whyNoContainer } from './support/container.ts';
import { stagesOf, textsOf, variablesOf, wordsOf } from './support/dockerfile.ts';
import { BUILT } from './support/program.ts';

const ROOT = join(import.meta.dirname, '..');
/** Bytes of debian:trixie-slim, rounded up, and the aim of the whole image. */
const BASE_BYTES = 80e6;
const IMAGE_BYTES_MAX = 300e6;
const HOME = 'usr/lib/granary';
const run = promisify(execFile);
const isLinux = process.platform === 'linux';

const stages = stagesOf(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
const image = stages.at(-1)!; // the file has stages
const directory = mkdtempSync(join(tmpdir(), 'granary-image-'));
const tree = join(directory, 'tree');

before(async () => {
  if (!isLinux) return;
  const dist = BUILT === undefined ? join(directory, 'dist') : join(BUILT, 'dist');
  if (BUILT === undefined) await build(dist);
  layOut(tree, dist);
});
after(() => rmSync(directory, { recursive: true, force: true }));

const files = (): readonly string[] =>
  readdirSync(tree, { recursive: true, encoding: 'utf8' }).filter((file) => statSync(join(tree, file)).isFile());

test('the image holds what the script lays out, and nothing else is added to its base', () => {
  const [first] = stages;
  assert.deepEqual([stages.length, first?.name, image.base], [2, 'build', 'debian:trixie-slim']);
  assert.match(
    textsOf(first!, 'RUN').at(-1) ?? '',
    /^npm run -s build && npm exec -c "node scripts\/lay-out\.ts \/out"$/,
  );
  assert.deepEqual(textsOf(image, 'COPY'), ['--from=build /out /']);
  for (const line of textsOf(image, 'RUN')) assert.match(line, /^install -d /);
});

test('the image has at most 300 MB', { skip: !isLinux && 'the layout is one of Linux' }, (t) => {
  const bytes = files().reduce((sum, file) => sum + statSync(join(tree, file)).size, 0);
  t.diagnostic(`${Math.round(bytes / 1e6)} MB in the tree, and at most ${BASE_BYTES / 1e6} MB in the base`);
  assert.ok(bytes + BASE_BYTES <= IMAGE_BYTES_MAX, `${bytes} bytes`);
});

test('only a whole program loses its symbols', { skip: !isLinux }, () => {
  const node = readFileSync(process.execPath);
  assert.ok(withoutSymbols(node).length <= node.length);
  assert.throws(() => withoutSymbols(Buffer.from('#!/bin/sh')), /not a 64-bit little-endian ELF file/);
  assert.throws(() => withoutSymbols(node.subarray(0, 100_000)), /the ELF file is cut off/);
});

test('the tree has only files that a server reads, with the modes of a package', { skip: !isLinux }, () => {
  const own = process.getuid?.();
  for (const file of files()) {
    if (file.includes('/node_modules/') && !/\/(readme|licen[cs]e|notice)[^/]*$/i.test(file))
      assert.doesNotMatch(file, /\.(map|ts|md)$|\.musl\.|darwin|win32/);
    const { mode, uid } = statSync(join(tree, file));
    const isProgram = file === 'usr/bin/granary' || file === `${HOME}/bin/node`;
    assert.deepEqual([(mode & 0o777).toString(8), uid], [isProgram ? '755' : '644', own], file);
  }
});

/** Names that are loaded when they are needed: `import("a")`, `require("a")`, `onDemand(…, "a")`. */
const LOADED = /(?<![.\w])(?:import|require|onDemand)\((?:.*, )?["']((?:@[\w.-]+\/)?[a-z][\w./-]*)["']\)/g;
/** The user installs them. */
const OPTIONAL: ReadonlySet<string> = new Set(['pdfkit', 'gpt-tokenizer', 'dejavu-fonts-ttf']);

test('every package that the program names loads from the tree', { skip: !isLinux }, async () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'devDependencies',
    Readonly<Record<string, string>>
  >; // our own package.json
  const home = join(tree, HOME);
  const named = new Set<string>();
  const packageOf = (name: string): string => name.split('/', name.startsWith('@') ? 2 : 1).join('/');
  for (const file of globSync('dist/{cli,embed,engine,parts,server,shards}/**/*.js', { cwd: home })) {
    const code = readFileSync(join(home, file), 'utf8');
    for (const [, name = ''] of code.matchAll(/["'`]((?:@[\w.-]+\/)?[\w./-]+)["'`]/g))
      if (Object.hasOwn(dependencies, packageOf(name))) named.add(name);
    // A module that is loaded by name is no part of the build: its package must be installed.
    for (const [, name = ''] of code.matchAll(LOADED))
      assert.ok(!Object.hasOwn(devDependencies, packageOf(name)) || OPTIONAL.has(name), `${file} loads ${name}`);
  }
  for (const name of Object.keys(dependencies))
    assert.ok(
      [...named].some((one) => one === name || one.startsWith(`${name}/`)),
      name,
    );
  // These are read as files. Names resolve from where the program's own imports begin.
  const read = /^(stopwords-iso|@energetic-ai\/model-embeddings-en)$/;
  const lines = [...named].map((name) =>
    read.test(name) ? `require.resolve(${JSON.stringify(name)});` : `await import(${JSON.stringify(name)});`,
  );
  const require = 'import { createRequire } from "node:module"; const require = createRequire(process.cwd() + "/");';
  const { stderr } = await run(join(home, 'bin/node'), ['--input-type=module', '-e', [require, ...lines].join('\n')], {
    cwd: join(home, 'dist'),
    env: {},
  });
  assert.equal(stderr, '');
});

test('the image serves as an unprivileged user from a read-only root, is healthy, and ends on SIGTERM', async (t) => {
  const reason = whyNoContainer();
  if (reason !== undefined) return t.skip(reason);
  const paths = JSON.parse(textsOf(image, 'VOLUME').at(-1) ?? '') as string[]; // the JSON form, or this throws
  assert.deepEqual(paths, ['/var/lib/granary/data', '/var/lib/granary/data/keys']);
  const [data, keys] = ['data', 'keys'].map((name) => join(directory, name)) as [string, string];
  const user = textsOf(image, 'USER').at(-1) ?? '';
  assert.match(user, /^[1-9]\d+:[1-9]\d+$/, 'a cluster can see that the user by number is not root');
  const environment = variablesOf(image);
  const options = {
    tree,
    setup: textsOf(image, 'RUN'),
    volumes: new Map([
      [paths[0]!, data],
      [paths[1]!, keys],
    ]),
    user,
    environment,
    command: [...wordsOf(image, 'ENTRYPOINT'), ...wordsOf(image, 'CMD')],
  };
  const first = await startContainer(t, { ...options, folder: join(directory, 'first') });
  const check = await first.execute(...wordsOf(image, 'HEALTHCHECK'));
  assert.deepEqual([check.code, /^status +ok$/m.test(check.output)], [0, true], check.output);
  const status = await first.execute(
    'sh',
    '-c',
    'cat /proc/1/status /proc/1/cmdline; touch /usr/file /etc/file /tmp/file 2>&1',
  );
  assert.match(status.output, /^Uid:\t10001\t10001\t10001\t10001$/m);
  assert.match(status.output, /^CapEff:\t0{16}$/m);
  assert.match(status.output, /^NoNewPrivs:\t1$/m);
  assert.equal(status.output.match(/Read-only file system/g)?.length, 3, status.output);
  assert.ok(status.output.includes(`${options.command.join('\0')}\0`), 'the server is process 1');
  const added = await first.execute('granary', 'add', 'ada', 'likes', 'green tea');
  assert.match(added.output, /^[0-9a-f]{64}\n$/);
  assert.equal(await first.stop(textsOf(image, 'STOPSIGNAL').at(-1) as NodeJS.Signals), 0, first.output());
  // The keys are in their own volume, and nothing of them in the other.
  assert.ok(['bootstrap.key', 'master.key', 'shard-0'].every((name) => existsSync(join(keys, name))));
  assert.deepEqual(readdirSync(join(data, 'keys')), []);

  // A new container over the same volumes has the data. Its command may have further options.
  const second = await startContainer(t, {
    ...options,
    folder: join(directory, 'second'),
    command: [...options.command, '--http', 'node'],
  });
  const found = await second.execute('granary', 'recall', 'what does ada drink?');
  assert.match(found.output, /ada likes green tea/);
  assert.equal(await second.stop('SIGTERM'), 0, second.output());
});

test('the check of an image whose server does not run fails, and leaves the data alone', async (t) => {
  const reason = whyNoContainer();
  if (reason !== undefined) return t.skip(reason);
  const home = join(tree, HOME);
  const command = wordsOf(image, 'HEALTHCHECK').slice(1);
  const data = join(directory, 'none');
  await assert.rejects(
    run(join(home, 'bin/node'), [join(home, 'dist/cli/main.js'), ...command], { env: { GRANARY_DATA_DIR: data } }),
    (error: Error & { code?: number }) => error.code === 1 && error.message.includes('NO-SERVER'),
  );
  assert.ok(!existsSync(data));
});
