// Replaces the findings of a text.
import type { PiiFinding } from './finding.ts';

/** The text with `[CATEGORY]`, in capitals, in place of each finding. The findings are those of `detect`, in order. */
export function redacted(text: string, findings: readonly PiiFinding[]): string {
  const bytes = Buffer.from(text);
  let kept = '';
  let at = 0;
  for (const { category, start, end } of findings) {
    if (start < at) continue; // A second category of one encoded run.
    kept += `${bytes.toString('utf8', at, start)}[${category.toUpperCase()}]`;
    at = end;
  }
  return kept + bytes.toString('utf8', at);
}
