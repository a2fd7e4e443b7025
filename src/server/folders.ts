// Texts for callers who must not learn where a deployment keeps its files.
import { basename, resolve } from 'node:path';

/** An absolute path, but not the path of a URL. */
const PATH = /(?<![\w:./\\-])(?:[A-Za-z]:)?[/\\](?:[^\s/\\'"`,;:()]+[/\\])*[^\s/\\'"`,;:()]+/g;

/** The text with paths relative to the data directory; of any other path, its last part is left. */
export function withoutFolders(text: string, dataDir: string): string {
  let told = text;
  for (const folder of new Set([resolve(dataDir), dataDir]))
    if (/[/\\]/.test(folder))
      told = told.replaceAll(`${folder}/`, '').replaceAll(`${folder}\\`, '').replaceAll(folder, 'the data directory');
  return told.replaceAll(PATH, (path) => basename(path.replaceAll('\\', '/')));
}
