// PDF by the direct reader, and by PDF.js where that one gives up.
import { EngineError } from '../../../engine/base/errors.ts';
import { type DocumentLimits, unreadable } from '../limits.ts';
import type { SectionWriter } from '../section-writer.ts';
import { readDirectly } from './direct.ts';
import { writePdf } from './layout.ts';
import type { PdfText } from './page-lines.ts';

/** Returns the number of pages. Throws IMP-E004 for a file that cannot be read or has no text. */
export async function readPdf(bytes: Uint8Array, out: SectionWriter, limits: DocumentLimits): Promise<number> {
  const direct = directly(bytes, limits);
  if (direct !== undefined && writePdf(direct, out)) return direct.pages.length;
  const { readByPdfJs } = await import('./pdfjs.ts');
  // It takes the bytes over.
  const text = await readByPdfJs(new Uint8Array(bytes), limits);
  if (!writePdf(text, out))
    throw unreadable('the document has no text: its pages are probably scanned, and need text recognition (OCR) first');
  return text.pages.length;
}

/** Undefined for a file that the direct reader does not understand, for whatever reason: PDF.js is the judge of damage. */
function directly(bytes: Uint8Array, limits: DocumentLimits): PdfText | undefined {
  try {
    return readDirectly(bytes, limits);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    return undefined;
  }
}
