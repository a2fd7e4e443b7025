// Builds the console into a folder: `node scripts/build-console.ts FOLDER`. Each file that is shorter so has its compressed
// form beside it, so that the server need not compress.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'vite';
import { compressIn } from './compress.ts';

const ROOT = join(import.meta.dirname, '..');

/** Builds into `folder`, an absolute path, which is emptied first. Throws with what the build found wrong. */
export async function buildConsole(folder: string): Promise<void> {
  await build({
    root: join(ROOT, 'console'),
    configFile: false,
    // Files name one another relatively, so that the server decides where they are.
    base: './',
    logLevel: 'silent',
    resolve: { alias: { 'granary-client': join(ROOT, 'src', 'client', 'index.ts') } },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: ['chrome123', 'firefox121', 'safari17.5'],
      // The policy of the page lets nothing be inline.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      license: { fileName: 'licenses.md' },
      rolldownOptions: {
        onLog: (level, log) => {
          // Times of a busy machine are no fault of the console.
          if (level === 'warn' && log.code !== 'PLUGIN_TIMINGS') throw new Error(`the console: ${log.message}`);
        },
      },
    },
  });
  // The page is not compressed: the server writes into it where it is.
  compressIn(folder, /\.(?:html|woff2)$/);
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined || !existsSync(join(ROOT, 'console'))) throw new Error('build-console.ts FOLDER');
  await buildConsole(resolve(folder));
}
