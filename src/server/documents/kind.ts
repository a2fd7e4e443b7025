// The kind of a document: by its first bytes, then by the extension of its name.
import { extname } from 'node:path';
import type { DocumentKind } from './document.ts';
import { unreadable, unsupported } from './limits.ts';

const BY_EXTENSION: ReadonlyMap<string, DocumentKind> = new Map(
  Object.entries({
    pdf: 'pdf',
    docx: 'docx',
    docm: 'docx',
    dotx: 'docx',
    pptx: 'pptx',
    pptm: 'pptx',
    ppsx: 'pptx',
    xlsx: 'xlsx',
    xlsm: 'xlsx',
    html: 'html',
    htm: 'html',
    xhtml: 'html',
    md: 'markdown',
    markdown: 'markdown',
    mdx: 'markdown',
    csv: 'csv',
    tsv: 'csv',
    json: 'json',
    jsonl: 'json',
    ndjson: 'json',
    geojson: 'json',
    eml: 'eml',
    txt: 'text',
  } as const),
);

/** Kinds whose content is recognised; a name alone does not make them. */
const BINARY: ReadonlySet<DocumentKind> = new Set(['pdf', 'docx', 'pptx', 'xlsx']);

/** The first bytes of formats that are not read, with what to say of them. */
const FOREIGN: readonly (readonly [magic: string, what: string])[] = [
  ['\x89PNG', 'an image'],
  ['\xff\xd8\xff', 'an image'],
  ['GIF8', 'an image'],
  ['II*\0', 'an image'],
  ['MM\0*', 'an image'],
  ['{\\rtf', 'an RTF file'],
  ['\x1f\x8b', 'a compressed file'],
  ['BZh', 'a compressed file'],
  ['\xfd7zXZ', 'a compressed file'],
  ['(\xb5/\xfd', 'a compressed file'],
  ['7z\xbc\xaf', 'an archive'],
  ['Rar!', 'an archive'],
  ['\x7fELF', 'a program'],
  ['MZ\x90\0', 'a program'],
  ['%!PS', 'a PostScript file'],
  ['SQLite format 3\0', 'a database'],
  ['MG\x01', 'a .mg file: use import-file'],
];

const ZIP = 'PK\x03\x04';
/** The container of DOC, XLS and PPT, and of encrypted DOCX, XLSX and PPTX. */
const COMPOUND = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
/** A PDF may have other bytes in front. */
const PDF_WITHIN = 1024;

/** The kind of the bytes; `zip` for a container whose entries tell the kind, or `textual`. */
export type Found = 'pdf' | 'zip' | 'textual';

/** Throws IMP-E001 for a format that is not read, IMP-E004 for an encrypted one. */
export function foundIn(bytes: Uint8Array): Found {
  const head = latin1(bytes, PDF_WITHIN);
  if (head.startsWith(ZIP)) return 'zip';
  if (head.includes('%PDF-')) return 'pdf';
  if (head.startsWith(COMPOUND)) throw refusalOfCompound(bytes);
  const foreign = FOREIGN.find(([magic]) => head.startsWith(magic));
  if (foreign !== undefined) throw unsupported(`the document is ${foreign[1]}`);
  return 'textual';
}

function refusalOfCompound(bytes: Uint8Array): Error {
  const name = Buffer.from('EncryptedPackage', 'utf16le');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(name)
    ? unreadable('the document is encrypted: remove its password')
    : unsupported('the document has the format of Office 97: save it as DOCX, XLSX or PPTX');
}

function latin1(bytes: Uint8Array, count: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(count, bytes.byteLength)).toString('latin1');
}

/** The kind that the name claims. */
function claimed(fileName: string): DocumentKind | undefined {
  return BY_EXTENSION.get(extname(fileName).slice(1).toLowerCase());
}

const MAIL_HEADER =
  /^(?:return-path|received|delivered-to|from|to|cc|date|subject|message-id|mime-version|dkim-signature|x-[\w-]+|reply-to|content-type|arc-[\w-]+|authentication-results):[ \t]/i;
const LOOKED_AT_CHARS = 4096;

/** Behind comments, each of which ends at the first mark that ends one: otherwise many of them could be read in very many ways. */
const PAGE = /^(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*(?:<!doctype\s+html|<html[\s>])/i;

/** The kind of a text. Throws IMP-E004 when the name promises a format that the content does not have. */
export function kindOfText(text: string, fileName: string): DocumentKind {
  const named = claimed(fileName);
  if (named !== undefined && BINARY.has(named))
    throw unreadable(`the document is named ${extname(fileName)}, but its content has another format`);
  if (named === 'eml') return 'eml';
  const head = text.slice(0, LOOKED_AT_CHARS).trimStart();
  if (named === 'markdown' || named === 'csv') return named;
  if (PAGE.test(head)) return 'html';
  if (named === 'html' || named === 'json') return named;
  if (isMail(head)) return 'eml';
  if (named === undefined && isJson(text, head)) return 'json';
  return 'text';
}

/** True for a text that begins with several headers of an e-mail, one of them its sender or its date. */
function isMail(head: string): boolean {
  const lines = head.split(/\r?\n/).filter((line) => !/^[ \t]/.test(line));
  const end = lines.findIndex((line) => !/^[\w-]+:/.test(line));
  const headers = lines.slice(0, end === -1 ? lines.length : end);
  return (
    MAIL_HEADER.test(headers[0] ?? '') &&
    headers.filter((line) => MAIL_HEADER.test(line)).length >= 3 &&
    headers.some((line) => /^(?:from|date|message-id):/i.test(line))
  );
}

function isJson(text: string, head: string): boolean {
  if (!/^[[{]/.test(head)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
