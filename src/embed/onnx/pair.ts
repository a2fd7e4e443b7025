// A pair of a question and a passage as one text, for the protocol of the encoder's thread.
import { MODEL_PASSAGE_CHARS_MAX } from '../../engine/base/limits.ts';

/** Stands between the parts of a pair; it is removed from both. */
export const PAIR_SEPARATOR = '\u001e';

/** The text of a pair. */
export function pairOf(question: string, passage: string): string {
  const plain = (text: string): string => text.slice(0, MODEL_PASSAGE_CHARS_MAX).replaceAll(PAIR_SEPARATOR, ' ');
  return `${plain(question)}${PAIR_SEPARATOR}${plain(passage)}`;
}
