// The thread that reads facts and dates out of texts. Its lexicon is loaded by the first text that wants it.
import { readText, type TextOutcome, type TextTask } from './read-text.ts';

export default function readInThread(task: TextTask): Promise<TextOutcome> {
  return readText(task);
}
