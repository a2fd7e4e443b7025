// The documents of the repository: every Markdown file for readers, except the changelog, which names former code.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = ['docs', 'bench', 'examples', 'test'];

/** Paths from the root. */
export function documentsOf(root: string): readonly string[] {
  const top = readdirSync(root).filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md');
  return [...top, ...FOLDERS.flatMap((folder) => documentsUnder(root, folder))];
}

function documentsUnder(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}
