// The text of a PDF.
import { extractText, getDocumentProxy } from 'unpdf';

/** The text of all pages. */
export async function pdfText(bytes: Uint8Array): Promise<string> {
  return (await pdfPages(bytes)).join('\n');
}

/** The text of each page. */
export async function pdfPages(bytes: Uint8Array): Promise<readonly string[]> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes)); // a copy, which it may keep
  return (await extractText(pdf)).text;
}
