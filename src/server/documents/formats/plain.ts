import type { SectionWriter } from '../section-writer.ts';
import { cleanText } from '../section-writer.ts';

/** Text without any structure. */
export function readPlain(text: string, out: SectionWriter): void {
  out.write(cleanText(text));
}
