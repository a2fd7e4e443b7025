// Text in headers and metadata. They carry only ASCII safely: senders and listeners disagree about other bytes, and one
// listener strips them from the ends of a value. A misread name would belong to another user. Such names must be sent
// in the notation of RFC 8187: `UTF-8''zo%C3%AB`.
import { EngineError } from '../engine/base/errors.ts';
import { nameForm } from './operations/name-form.ts';

const EXTENDED = /^utf-8'[a-z0-9-]*'(?<encoded>.*)$/i;
const BEYOND_ASCII = /[^ -~]/;

/** The text of a header, decoded if it is in the notation of RFC 8187; undefined without one. VAL-E001. */
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

/** A name from a header, in NFC. VAL-E001 when it is ambiguous. */
export function headerName(value: string | undefined, header: string): string | undefined {
  const text = headerText(value, header);
  if (text === undefined || text === '') return undefined;
  if (text === value && BEYOND_ASCII.test(text))
    throw unreadable(header, "contains other than ASCII characters: send it percent-encoded after UTF-8''");
  if (text.includes('\0')) throw unreadable(header, 'contains a NUL');
  return nameForm(text);
}

function unreadable(header: string, issue: string): EngineError {
  return new EngineError('VAL-E001', `\`${header}\` ${issue}`, { details: [{ field: header, issue }] });
}
