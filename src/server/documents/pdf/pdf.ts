import { type DocumentLimits, unreadable } from '../limits.ts';
import type { SectionWriter } from '../section-writer.ts';
import { writePdf } from './layout.ts';
import { readByPdfJs } from './pdfjs.ts';

/** Returns the number of pages. Throws IMP-E004 for a file that cannot be read or has no text. */
export async function readPdf(bytes: Uint8Array, out: SectionWriter, limits: DocumentLimits): Promise<number> {
  const text = await readByPdfJs(bytes, limits);
  if (!writePdf(text, out))
    throw unreadable('the document has no text: its pages are probably scanned, and need text recognition (OCR) first');
  return text.pages.length;
}
