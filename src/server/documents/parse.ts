// Reads a document of any kind. It runs in a thread of its own (documents.ts); nothing here is shared between documents.
import type { DocumentKind, ParsedDocument, Section } from './document.ts';
import { MIME_TYPES } from './document.ts';
import { decodeText } from './encoding.ts';
import { readCsv } from './formats/csv.ts';
import { readMail } from './formats/eml.ts';
import { readHtml } from './formats/html.ts';
import { readJson } from './formats/json.ts';
import { readMarkdown } from './formats/markdown.ts';
import { readPlain } from './formats/plain.ts';
import { foundIn, kindOfText } from './kind.ts';
import { DOCUMENT_LIMITS, type DocumentLimits, unreadable, unsupported } from './limits.ts';
import { Archive } from './office/archive.ts';
import { readDocx } from './office/docx.ts';
import { mainPartOf } from './office/package.ts';
import { readPptx } from './office/pptx.ts';
import { readXlsx } from './office/xlsx.ts';
import { readPdf } from './pdf/pdf.ts';
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
  const { kind, pages } = await readInto(out, { bytes, fileName }, limits);
  const sections = out.finish();
  if (sections.length === 0) throw unreadable('the document has no text');
  return { kind, pages, sections };
}

/** The whole text, sections apart by an empty line. */
export function textOf(sections: readonly Section[]): string {
  return sections.map(({ text }) => text.trim()).join('\n\n');
}

/** E-mails hold e-mails and archives of office files; nothing deeper is opened. */
const ATTACHMENTS_DEPTH_MAX = 3;

async function readInto(
  out: SectionWriter,
  file: File,
  limits: DocumentLimits,
): Promise<Pick<ReadDocument, 'kind' | 'pages'>> {
  const { bytes } = file;
  switch (foundIn(bytes)) {
    case 'pdf':
      return { kind: 'pdf', pages: await readPdf(bytes, out, limits) };
    case 'zip':
      return readOffice(out, bytes, limits);
    default:
      return readTextual(out, file, limits);
  }
}

function readOffice(
  out: SectionWriter,
  bytes: Uint8Array,
  limits: DocumentLimits,
): Pick<ReadDocument, 'kind' | 'pages'> {
  const archive = new Archive(bytes, limits);
  const main = mainPartOf(archive, limits);
  if (main === undefined) throw unsupported('the document is an archive, and neither DOCX, PPTX nor XLSX');
  const { kind, path } = main;
  if (kind === 'pptx') return { kind, pages: readPptx(archive, path, out, limits) };
  if (kind === 'xlsx') return { kind, pages: readXlsx(archive, path, out, limits) };
  readDocx(archive, path, out, limits);
  return { kind };
}

async function readTextual(
  out: SectionWriter,
  file: File,
  limits: DocumentLimits,
): Promise<Pick<ReadDocument, 'kind'>> {
  const { bytes, fileName, depth = 0 } = file;
  const text = decodeText(bytes);
  const kind = kindOfText(text, fileName);
  switch (kind) {
    case 'html':
      readHtml(text, out, limits);
      break;
    case 'markdown':
      readMarkdown(text, out);
      break;
    case 'csv':
      readCsv(text, out);
      break;
    case 'json':
      readJson(text, out, limits);
      break;
    case 'eml':
      await readMail(bytes, out, limits, async (content, name, above) => {
        if (depth >= ATTACHMENTS_DEPTH_MAX || content.length === 0) return;
        const attached = { bytes: content, fileName: name, depth: depth + 1 };
        await out.under(above, () => readInto(out, attached, limits));
      });
      break;
    default:
      readPlain(text, out);
  }
  return { kind };
}

/** A file, or an attachment under the headings of its e-mail. */
interface File {
  readonly bytes: Uint8Array;
  readonly fileName: string;
  readonly depth?: number;
}
