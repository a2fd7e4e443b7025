// Looks for pdfkit, an optional peer dependency, without loading it.
import { createRequire } from 'node:module';

/** pdfkit is not installed. */
export class PdfkitMissing extends Error {}

const require = createRequire(import.meta.url);

/** Throws `PdfkitMissing`. */
export function findPdfkit(): void {
  try {
    require.resolve('pdfkit');
  } catch {
    throw new PdfkitMissing(
      'a PDF needs the package pdfkit: npm install pdfkit, with --global if granary is installed globally (and dejavu-fonts-ttf for letters beyond Latin). Without it, ask for HTML and print that',
    );
  }
}
