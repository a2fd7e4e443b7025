// An e-mail: its headers that a person reads, its body, and those of its attachments that are documents.
import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { EngineError } from '../../../engine/base/errors.ts';
import { type DocumentLimits, tooLarge, unreadable } from '../limits.ts';
import { cleanText, HeadingPath, type SectionWriter } from '../section-writer.ts';
import { readHtml } from './html.ts';

/** Reads an attachment under the given headings. */
export type ReadAttachment = (bytes: Uint8Array, fileName: string, headings: readonly string[]) => Promise<void>;

const NESTING_MAX = 64;
const HEADERS_BYTES_MAX = 1_048_576;

export async function readMail(
  bytes: Uint8Array,
  out: SectionWriter,
  limits: DocumentLimits,
  readAttachment: ReadAttachment,
): Promise<void> {
  const mail = await parsed(bytes);
  if (mail.attachments.length > limits.entries) throw tooLarge(`has more than ${limits.entries} attachments`);
  const subject = cleanText(mail.subject ?? '').trim();
  await out.under(subject === '' ? [] : new HeadingPath().enter(1, subject), async () => {
    out.write(`${headersOf(mail, subject)}\n\n`);
    if (mail.text !== undefined && mail.text.trim() !== '') out.write(`${cleanText(mail.text)}\n`);
    else if (mail.html !== undefined) readHtml(mail.html, out, limits);
    for (const attachment of mail.attachments) await readOne(attachment, out, readAttachment);
  });
}

async function parsed(bytes: Uint8Array): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, { maxNestingDepth: NESTING_MAX, maxHeadersSize: HEADERS_BYTES_MAX });
  } catch {
    throw unreadable('the e-mail cannot be read');
  }
}

function headersOf(mail: Email, subject: string): string {
  const lines: readonly (readonly [string, string])[] = [
    ['Subject', subject],
    ['From', mail.from === undefined ? '' : named(mail.from)],
    ['To', (mail.to ?? []).map(named).join(', ')],
    ['Cc', (mail.cc ?? []).map(named).join(', ')],
    ['Date', mail.date ?? ''],
  ];
  const shown = lines.filter(([, value]) => value !== '').map(([name, value]) => `${name}: ${cleanText(value)}`);
  return shown.join('\n');
}

function named({ name, address }: Address): string {
  if (name === '' || name === undefined) return address ?? '';
  return address === undefined || address === '' ? name : `${name} <${address}>`;
}

/** An attachment that is no document, or a damaged one, is only named: the e-mail itself can be read. */
async function readOne(
  { filename, content, disposition, mimeType }: Attachment,
  out: SectionWriter,
  read: ReadAttachment,
): Promise<void> {
  const name = cleanText(filename ?? '').trim();
  // Signatures and pictures within the text.
  if (name === '' && disposition !== 'attachment' && mimeType !== 'message/rfc822') return;
  out.write(`Attachment: ${name === '' ? mimeType : name}\n`);
  try {
    await read(bytesOf(content), name, [name === '' ? mimeType : name]);
  } catch (error) {
    if (!(error instanceof EngineError) || error.code === 'LIM-E003') throw error;
  }
}

function bytesOf(content: Attachment['content']): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof Uint8Array ? content : new Uint8Array(content);
}
