// Texts on their way to a service outside: what a policy calls personal data is taken out of them.
import type { PiiCategory } from './categories.ts';
import { piiDetector } from './detector.ts';
import { redacted } from './redacted.ts';

/** It keeps nothing of the texts. Names go by lists and wording. */
const detector = piiDetector();

/** The text with `[CATEGORY]` in the place of what is found; itself when nothing is. Some 0.3 to 3 µs a character. */
export function withoutPii(text: string, categories: '*' | readonly PiiCategory[]): string {
  const found = detector.detect(text);
  const counted = categories === '*' ? found : found.filter(({ category }) => categories.includes(category));
  return counted.length === 0 ? text : redacted(text, counted);
}
