// Makes the package that is published: what the command line and the threads import, as JavaScript, with the data that
// lies beside it. `npm run build` writes dist/; a test builds into another folder and runs what came out.
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** Read by the code at run time, from beside it. */
const DATA = ['server/gen/memory.binpb'];

/** The file that programs import. Its declarations name no other file, so it is declared alone. */
const DOOR = join('src', 'index.ts');
const DECLARE = '--declaration --emitDeclarationOnly --isolatedDeclarations --noResolve --noCheck'.split(' ');
const AS_SOURCES = '--ignoreConfig --target es2024 --module nodenext --allowImportingTsExtensions'.split(' ');

/** Writes the compiled sources under `folder`, an absolute path, which is emptied first. Throws with the compiler's words. */
export function build(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const compile = (...words: string[]): void => {
    execFileSync(process.execPath, [compiler, ...words, '--outDir', folder], { cwd: ROOT, stdio: 'inherit' });
  };
  compile('--project', join(ROOT, 'tsconfig.build.json'));
  compile(DOOR, ...DECLARE, ...AS_SOURCES);
  for (const file of DATA) copyFileSync(join(ROOT, 'src', file), join(folder, file));
}

if (import.meta.main) build(join(ROOT, 'dist'));
