// Builds the site of docs/ into a folder: `node scripts/build-docs.ts FOLDER`. Beside each page lies its Markdown, for
// programs; llms.txt lists them.
import { cpSync, globSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compressIn } from './compress.ts';

/** Imported without its types, which would declare the names of a browser in all the code. */
const VITEPRESS: string = 'vitepress';

interface VitePress {
  build(root: string, options: object): Promise<void>;
}

const DOCS = join(import.meta.dirname, '..', 'docs');

/** Builds into `folder`, an absolute path, which is emptied first. Throws when a page has a dead link. */
export async function buildDocs(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const temporary = join(DOCS, '..', 'node_modules', '.cache', `vitepress-${process.pid}`);
  const { build } = (await import(VITEPRESS)) as VitePress; // its documented interface
  await build(DOCS, {
    outDir: folder,
    onAfterConfigResolve: (config: object) => {
      // Builds at the same time do not share it.
      Object.assign(config, { tempDir: temporary });
    },
  });
  rmSync(temporary, { recursive: true, force: true });
  rmSync(join(folder, 'hashmap.json'), { force: true });
  for (const page of globSync(['*.md', '{guide,paths,reference}/**/*.md', 'llms.txt'], { cwd: DOCS }))
    cpSync(join(DOCS, page), join(folder, page));
  compressIn(folder, /\.woff2$/);
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('build-docs.ts FOLDER');
  await buildDocs(resolve(folder));
}
