// Texts in headers and metadata. They carry ASCII: what another byte means is each sender's and each listener's own idea,
// and one listener takes bytes beyond ASCII off the ends of a value. A name read in another way than it was meant is
// somebody else's. Such names come as RFC 8187 writes them, which every client can send: `UTF-8''zo%C3%AB`.
import { EngineError } from '../engine/base/errors.ts';
import { nameForm } from './operations/name-form.ts';

const EXTENDED = /^utf-8'[a-z0-9-]*'(?<encoded>.*)$/i;
const BEYOND_ASCII = /[^ -~]/;

/** The text of a header, decoded where it is written as RFC 8187 has it; undefined without one. VAL-E001. */
export function headerText(value: string | undefined, header: string): string | undefined {
  if (value === undefined || value === '') return undefined;
  const encoded = EXTENDED.exec(value)?.groups?.['encoded'];
  if (encoded === undefined) return value;
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw unreadable(header, 'is not percent-encoded UTF-8');
  }
}

/** A name that a header gives, in NFC. VAL-E001 for what may mean another name than was sent. */
export function headerName(value: string | undefined, header: string): string | undefined {
  const text = headerText(value, header);
  if (text === undefined || text === '') return undefined;
  if (text === value && BEYOND_ASCII.test(text))
    throw unreadable(header, "goes beyond ASCII: send it percent-encoded behind UTF-8''");
  if (text.includes('\0')) throw unreadable(header, 'holds a NUL');
  return nameForm(text);
}

function unreadable(header: string, issue: string): EngineError {
  return new EngineError('VAL-E001', `\`${header}\` ${issue}`, { details: [{ field: header, issue }] });
}
