// The output of both readers of PDF: the lines of each page, and the outline.

export interface PdfLine {
  readonly text: string;
  /** Height of its largest text, in points. */
  readonly size: number;
  /** Position of its baseline from the bottom of the page, in points. */
  readonly y: number;
}

export interface OutlineEntry {
  readonly title: string;
  /** From 1. */
  readonly level: number;
  /** From 1. */
  readonly page: number;
}

export interface PdfText {
  /** Lines of each page, in the order of the file, which is the order of reading in almost all files. */
  readonly pages: readonly (readonly PdfLine[])[];
  readonly outline: readonly OutlineEntry[];
}
