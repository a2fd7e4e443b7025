import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { buildFromSources, sourceBuild } from './source-build.ts';

test('a build is in its folder once its program has ended well', async (t) => {
  const root = temporaryDirectory(t);
  const [program, folder] = [join(root, 'program.mjs'), join(root, 'site')];
  writeFileSync(
    program,
    `import { mkdirSync, writeFileSync } from 'node:fs';
     mkdirSync(process.argv[2]);
     setTimeout(() => writeFileSync(process.argv[2] + '/index.html', 'built'), 300);`,
  );
  const build = { program, folder, isThere: false };
  // Servers may build the same at the same time, also in one process.
  await Promise.all([buildFromSources(build), buildFromSources(build), buildFromSources(build)]);
  assert.equal(readFileSync(join(folder, 'index.html'), 'utf8'), 'built');
  assert.deepEqual(readdirSync(root).sort(), ['program.mjs', 'site']);
});

test('a build that fails rejects with what it said, and leaves nothing', async (t) => {
  const root = temporaryDirectory(t);
  const [program, folder] = [join(root, 'program.mjs'), join(root, 'site')];
  writeFileSync(
    program,
    `import { mkdirSync } from 'node:fs';
     mkdirSync(process.argv[2]);
     console.error('the page x.md has a dead link');
     process.exitCode = 1;`,
  );
  await assert.rejects(buildFromSources({ program, folder, isThere: false }), /the page x\.md has a dead link/);
  assert.ok(!existsSync(folder));
  assert.deepEqual(readdirSync(root), ['program.mjs']);
});

test('the folder of a build is named by all that it is made of', () => {
  const recipe = { name: 'some', program: 'scripts/build-docs.ts', madeOf: ['docs/concepts.md'] };
  const { folder } = sourceBuild(recipe);
  assert.equal(sourceBuild(recipe).folder, folder);
  assert.notEqual(sourceBuild({ ...recipe, madeOf: ['docs/sizing.md'] }).folder, folder);
  assert.notEqual(sourceBuild({ ...recipe, program: 'scripts/build-console.ts' }).folder, folder);
});
