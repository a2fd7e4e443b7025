// Builds the package `granary-client` from src/client into dist-client: ES modules, CommonJS, and types for both.
// `npm run build-client`; a test builds into another folder and runs the result.
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = '--ignoreConfig --target es2022 --lib es2024,dom,dom.iterable --types node --skipLibCheck --strict';
const IMPORTS = '--allowImportingTsExtensions --rewriteRelativeImportExtensions --noCheck';

/** Module kinds of the package, with the compiler's words for each. */
const KINDS = {
  esm: '--module nodenext --moduleResolution nodenext',
  cjs: '--module commonjs --moduleResolution bundler',
} as const;

function manifest(): object {
  const { version, license, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')); // our own
  const forKind = (kind: string): object => ({ types: `./${kind}/index.d.ts`, default: `./${kind}/index.js` });
  return {
    name: 'granary-client',
    version,
    description: 'Typed client of Granary, a database server for the memory of AI agents.',
    license,
    type: 'module',
    sideEffects: false,
    engines,
    main: './cjs/index.js',
    module: './esm/index.js',
    types: './cjs/index.d.ts',
    exports: { '.': { import: forKind('esm'), require: forKind('cjs') }, './package.json': './package.json' },
    files: ['esm', 'cjs'],
  };
}

/** Builds the package into `folder`, an absolute path, which is emptied first. Throws with the compiler's output. */
export function buildClient(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const door = join('src', 'client', 'index.ts');
  const compile = (words: string): void => {
    const all = [compiler, door, ...`${SOURCES} ${IMPORTS} ${words}`.split(' ')];
    execFileSync(process.execPath, all, { cwd: ROOT, stdio: 'inherit' });
  };
  for (const [kind, words] of Object.entries(KINDS))
    compile(`${words} --removeComments --outDir ${join(folder, kind)}`);
  compile(`${KINDS.esm} --declaration --emitDeclarationOnly --outDir ${join(folder, 'esm')}`);
  for (const file of readdirSync(join(folder, 'esm'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.d.ts')) continue;
    const path = join(folder, 'esm', file);
    // The compiler does not rename imports in declarations.
    writeFileSync(path, readFileSync(path, 'utf8').replace(/(from '\.[^']*)\.ts'/g, "$1.js'"));
    cpSync(path, join(folder, 'cjs', file));
  }
  writeFileSync(join(folder, 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  copyFileSync(join(ROOT, 'docs', 'client.md'), join(folder, 'README.md'));
}

if (import.meta.main) buildClient(join(ROOT, 'dist-client'));
