// Tells the files of an import apart: documents, which the server reads, and files that this command reads.
import { glob, open, readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Failure } from '../failure.ts';

const DOCUMENTS: ReadonlySet<string> = new Set(
  [
    ...['pdf', 'docx', 'docm', 'dotx', 'pptx', 'pptm', 'ppsx', 'xlsx', 'xlsm', 'html', 'htm', 'xhtml', 'md'],
    ...['markdown', 'mdx', 'csv', 'tsv', 'eml', 'txt'],
  ].map((name) => `.${name}`),
);
/** The first bytes of a PDF, and of the container of DOCX, PPTX and XLSX. */
const MAGIC = ['%PDF-', 'PK\x03\x04'];
/** Files of one import. */
const FILES_MAX = 100_000;

export interface SortedFiles {
  readonly documents: readonly string[];
  readonly others: readonly string[];
}

/** With `all`, every file is a document. Rejects with Failure for a path that is not there. */
export async function sortFiles(given: readonly string[], all: boolean): Promise<SortedFiles> {
  const documents = new Set<string>();
  const others = new Set<string>();
  for (const path of given) {
    if (path === '-') others.add(path);
    else
      for await (const file of filesOf(path, all)) {
        (all || (await isDocument(file)) ? documents : others).add(file);
        if (documents.size + others.size > FILES_MAX)
          throw new Failure('FILE', `more than ${FILES_MAX} files: import them in several runs`);
      }
  }
  return { documents: [...documents], others: [...others] };
}

async function* filesOf(path: string, all: boolean): AsyncGenerator<string> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) {
    yield* documentsBelow(path, all);
    return;
  }
  if (found !== undefined) {
    yield path;
    return;
  }
  let count = 0;
  if (/[*?[{]/.test(path))
    for await (const match of glob(path)) {
      const isFile = (await stat(match)).isFile();
      if (isFile) yield match;
      if (isFile) count += 1;
    }
  if (count === 0) throw new Failure('FILE', `cannot read ${path}: there is no such file`);
}

/** In the order of their names; hidden files and folders are left out. */
async function* documentsBelow(folder: string, all: boolean): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* documentsBelow(path, all);
    else if (entry.isFile() && (all || DOCUMENTS.has(extname(path).toLowerCase()))) yield path;
  }
}

async function isDocument(path: string): Promise<boolean> {
  if (DOCUMENTS.has(extname(path).toLowerCase())) return true;
  const head = (await headOf(path)).toString('latin1');
  return MAGIC.some((magic) => head.startsWith(magic));
}

/** Throws Failure for a file that is no text, such as an image: reading its lines would only count errors. */
export async function checkLines(path: string): Promise<void> {
  const head = await headOf(path);
  const [first = 0] = head;
  const begins = first < 0x80 || (first >= 0xc2 && first <= 0xf4);
  if (head.includes(0) || !begins)
    throw new Failure(
      'FILE',
      `cannot import ${path}: it is neither a document that the server reads nor lines of JSON`,
    );
}

const HEAD_BYTES = 4_096;

/** The first bytes; none of a file that cannot be read. */
async function headOf(path: string): Promise<Buffer> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return Buffer.alloc(0);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
