// Limits of one document. A document that goes beyond a limit is refused; a limit on time or memory also ends the
// thread that reads it.
import { EngineError } from '../../engine/base/errors.ts';
import {
  DOCUMENT_DEPTH_MAX,
  DOCUMENT_ENTRIES_MAX,
  DOCUMENT_INFLATED_BYTES_MAX,
  DOCUMENT_PAGES_MAX,
  DOCUMENT_TEXT_CHARS_MAX,
} from '../../engine/base/limits.ts';

export interface DocumentLimits {
  /** Characters of the whole text. */
  readonly textChars: number;
  /** Pages of a PDF, slides, sheets. */
  readonly pages: number;
  /** Bytes that come out of compressed parts. */
  readonly inflatedBytes: number;
  /** Entries of an archive, and parts of an e-mail. */
  readonly entries: number;
  /** Depth of nested elements. */
  readonly depth: number;
}

export const DOCUMENT_LIMITS: DocumentLimits = {
  textChars: DOCUMENT_TEXT_CHARS_MAX,
  pages: DOCUMENT_PAGES_MAX,
  inflatedBytes: DOCUMENT_INFLATED_BYTES_MAX,
  entries: DOCUMENT_ENTRIES_MAX,
  depth: DOCUMENT_DEPTH_MAX,
};

export function tooLarge(what: string): EngineError {
  return new EngineError('LIM-E003', `the document ${what}`);
}

export function unreadable(why: string): EngineError {
  return new EngineError('IMP-E004', why);
}

export function unsupported(why: string): EngineError {
  return new EngineError('IMP-E001', why);
}
