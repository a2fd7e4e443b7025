// A document that has been read: text in sections, each with its place in the document.

export type DocumentKind = 'pdf' | 'docx' | 'pptx' | 'xlsx' | 'html' | 'markdown' | 'csv' | 'json' | 'text' | 'eml';

export const MIME_TYPES: Readonly<Record<DocumentKind, string>> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  html: 'text/html',
  markdown: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  text: 'text/plain',
  eml: 'message/rfc822',
};

/** Where a text is in its document. Pages and slides count from 1. */
export interface Place {
  /** The headings above the text, outermost first. */
  readonly headings: readonly string[];
  readonly page?: number | undefined;
  readonly slide?: number | undefined;
  readonly sheet?: string | undefined;
}

export interface Section extends Place {
  readonly text: string;
}

export interface ParsedDocument {
  readonly kind: DocumentKind;
  readonly mimeType: string;
  /** Number of pages or slides, where the format has them. */
  readonly pages?: number | undefined;
  readonly sections: readonly Section[];
  /** The texts of all sections, in order. */
  readonly text: string;
}
