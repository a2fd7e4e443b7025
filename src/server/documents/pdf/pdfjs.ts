// PDF by PDF.js, which reads everything that other programs write. It also parses what only looks, and its parts send each
// other messages, so it takes eight times as long as the direct reader: files that the latter understands never come here.
import { getDocumentProxy } from 'unpdf';
import { type DocumentLimits, tooLarge, unreadable } from '../limits.ts';
import type { OutlineEntry, PdfLine, PdfText } from './page-lines.ts';
import { inReadingOrder, type LinePiece } from './reading-order.ts';

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

const OPTIONS = {
  isEvalSupported: false,
  disableFontFace: true,
  useSystemFonts: false,
  stopAtErrors: false,
  // No warnings on the server's standard output.
  verbosity: 0,
};

/** `bytes` are taken over. Throws IMP-E004 for an encrypted or damaged file. */
export async function readByPdfJs(bytes: Uint8Array, limits: DocumentLimits): Promise<PdfText> {
  let document: PdfDocument;
  try {
    document = await getDocumentProxy(bytes, OPTIONS);
  } catch (error) {
    const isLocked = error instanceof Error && error.name === 'PasswordException';
    throw unreadable(
      isLocked ? 'the document is encrypted: remove its password' : 'the document is damaged or cut off',
    );
  }
  try {
    if (document.numPages > limits.pages) throw tooLarge(`has more than ${limits.pages} pages`);
    const pages: PdfLine[][] = [];
    for (let number = 1; number <= document.numPages; number++) pages.push(await linesOf(document, number));
    return { pages, outline: await outlineOf(document) };
  } finally {
    await document.loadingTask.destroy();
  }
}

/** A page that cannot be read has no lines; the others are worth having. */
async function linesOf(document: PdfDocument, number: number): Promise<PdfLine[]> {
  try {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return linesOfItems(items);
  } catch {
    return [];
  }
}

type Item = Awaited<ReturnType<Awaited<ReturnType<PdfDocument['getPage']>>['getTextContent']>>['items'][number];

function linesOfItems(items: readonly Item[]): PdfLine[] {
  const lines: PdfLine[] = [];
  let pieces: LinePiece[] = [];
  let [size, y] = [0, 0];
  const end = (): void => {
    const text = inReadingOrder(pieces);
    if (text.trim() !== '') lines.push({ text, size, y });
    pieces = [];
    size = 0;
  };
  for (const item of items) {
    if (!('str' in item)) continue;
    pieces.push({ text: item.str, x: Number(item.transform[4]) });
    if (item.str.trim() !== '') {
      size = Math.max(size, item.height);
      y = Number(item.transform[5]);
    }
    if (item.hasEOL) end();
  }
  end();
  return lines;
}

const OUTLINE_ENTRIES_MAX = 10_000;

async function outlineOf(document: PdfDocument): Promise<OutlineEntry[]> {
  const found: OutlineEntry[] = [];
  type Node = Awaited<ReturnType<PdfDocument['getOutline']>>[number];
  const visit = async (nodes: readonly Node[], level: number): Promise<void> => {
    for (const node of nodes) {
      if (found.length >= OUTLINE_ENTRIES_MAX || level > 9) return;
      const page = await pageOf(document, node.dest);
      if (page !== undefined && node.title.trim() !== '') found.push({ title: node.title.trim(), level, page });
      await visit(node.items, level + 1);
    }
  };
  try {
    await visit((await document.getOutline()) ?? [], 1);
  } catch {
    // A damaged outline: the pages are there.
  }
  return found;
}

async function pageOf(document: PdfDocument, named: unknown): Promise<number | undefined> {
  const dest = typeof named === 'string' ? await document.getDestination(named) : named;
  const target: unknown = Array.isArray(dest) ? dest[0] : undefined;
  if (typeof target === 'number') return target + 1;
  if (typeof target !== 'object' || target === null) return undefined;
  return (await document.getPageIndex(target as Parameters<PdfDocument['getPageIndex']>[0])) + 1; // a reference
}
