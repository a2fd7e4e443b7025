// Reads a document of any kind. It runs in a thread of its own (documents.ts); nothing here is shared between documents.
import type { DocumentKind, ParsedDocument, Section } from './document.ts';
import { MIME_TYPES } from './document.ts';
import { decodeText } from './encoding.ts';
import { readHtml } from './formats/html.ts';
import { readMarkdown } from './formats/markdown.ts';
import { readPlain } from './formats/plain.ts';
import { foundIn, kindOfText } from './kind.ts';
import { DOCUMENT_LIMITS, type DocumentLimits, unreadable, unsupported } from './limits.ts';
import { SectionWriter } from './section-writer.ts';

/** The sections of a document, before their texts are joined. */
export interface ReadDocument {
  readonly kind: DocumentKind;
  readonly pages?: number | undefined;
  readonly sections: readonly Section[];
}

/**
 * Reads `bytes`. Throws IMP-E001 for a format that is not read, IMP-E004 for a damaged or encrypted document or one
 * without text, LIM-E003 for one beyond its limits.
 */
export async function parseDocument(
  bytes: Uint8Array,
  fileName: string,
  limits: DocumentLimits = DOCUMENT_LIMITS,
): Promise<ParsedDocument> {
  const { kind, pages, sections } = await readDocument(bytes, fileName, limits);
  return { kind, mimeType: MIME_TYPES[kind], pages, sections, text: textOf(sections) };
}

export async function readDocument(bytes: Uint8Array, fileName: string, limits: DocumentLimits): Promise<ReadDocument> {
  if (bytes.length === 0) throw unreadable('the document is empty');
  const out = new SectionWriter(limits);
  const { kind, pages } = await readInto(out, bytes, fileName, limits);
  const sections = out.finish();
  if (sections.length === 0) throw unreadable('the document has no text');
  return { kind, pages, sections };
}

/** The whole text, sections apart by an empty line. */
export function textOf(sections: readonly Section[]): string {
  return sections.map(({ text }) => text.trim()).join('\n\n');
}

async function readInto(
  out: SectionWriter,
  bytes: Uint8Array,
  fileName: string,
  limits: DocumentLimits,
): Promise<Pick<ReadDocument, 'kind' | 'pages'>> {
  if (foundIn(bytes) !== 'textual') throw unsupported('the document has no known format');
  const text = decodeText(bytes);
  const kind = kindOfText(text, fileName);
  if (kind === 'html') readHtml(text, out, limits);
  else if (kind === 'markdown') readMarkdown(text, out);
  else readPlain(text, out);
  return { kind };
}
