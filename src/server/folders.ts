// Texts for callers who must not learn where a deployment keeps its files.
import { basename, normalize, resolve } from 'node:path';
import { EngineError } from '../engine/base/errors.ts';

/** An absolute path, but not the path of a URL. */
const PATH = /(?<![\w:./\\-])(?:[A-Za-z]:)?[/\\](?:[^\s/\\'"`,;:()]+[/\\])*[^\s/\\'"`,;:()]+/g;

/** The text with paths relative to the data directory; of any other path, its last part is left. */
export function withoutFolders(text: string, dataDir: string): string {
  let rest = text;
  for (const folder of new Set([resolve(dataDir), dataDir.replace(/[/\\]+$/, '')]))
    if (/[/\\]/.test(folder))
      rest = rest.replaceAll(`${folder}/`, '').replaceAll(`${folder}\\`, '').replaceAll(folder, 'the data directory');
  // As `join` makes it of a relative one.
  const joined = normalize(dataDir).replace(/[/\\]$/, '');
  if (/^\w/.test(joined))
    rest = rest.replaceAll(new RegExp(`(?<![\\w./\\\\-])${joined.replaceAll(/\W/g, '\\$&')}[/\\\\]`, 'g'), '');
  return rest.replaceAll(PATH, (path) => basename(path.replaceAll('\\', '/')));
}

/** The error as callers get it: a storage failure names its folders only in the log. */
export function errorWithoutFolders(error: EngineError, dataDir: string): EngineError {
  if (!error.code.startsWith('STO-')) return error;
  const message = withoutFolders(error.message, dataDir);
  return message === error.message ? error : EngineError.fromWire({ ...error.toWire(), message });
}
