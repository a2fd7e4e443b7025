// A fake text thread for tests: the text decides what happens to it.
import type { TextOutcome, TextTask } from '../read-text.ts';

export default function obey({ text }: TextTask): TextOutcome {
  if (text === 'spin') for (;;);
  if (text === 'die') process.exit(3);
  if (text === 'throw') throw new Error('thrown on request');
  return { beliefs: [], dateMs: text.length };
}
