// Builds the published package: the command line and the threads with everything they import, as JavaScript, and their
// data files. `npm run build` writes dist/; a test builds into another folder and runs the result.
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** Data files that the code reads at run time, relative to its own location. */
const DATA = ['server/gen/memory.binpb'];

/** The file that programs import. It imports no other file in its declarations, so its types are generated alone. */
const DOOR = join('src', 'index.ts');
const DECLARE = '--declaration --emitDeclarationOnly --isolatedDeclarations --noResolve --noCheck'.split(' ');
const AS_SOURCES = '--ignoreConfig --target es2024 --module nodenext --allowImportingTsExtensions'.split(' ');

/**
 * Compiles the sources into `folder`, an absolute path, which is emptied first. Throws with the compiler's output.
 * `checked`: false skips the check of types, which does not change what is written.
 */
export function build(folder: string, { checked = true }: { readonly checked?: boolean } = {}): void {
  rmSync(folder, { recursive: true, force: true });
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const compile = (...words: string[]): void => {
    execFileSync(process.execPath, [compiler, ...words, '--outDir', folder], { cwd: ROOT, stdio: 'inherit' });
  };
  compile('--project', join(ROOT, 'tsconfig.build.json'), ...(checked ? [] : ['--noCheck']));
  compile(DOOR, ...DECLARE, ...AS_SOURCES);
  for (const file of DATA) copyFileSync(join(ROOT, 'src', file), join(folder, file));
}

if (import.meta.main) build(join(ROOT, 'dist'));
