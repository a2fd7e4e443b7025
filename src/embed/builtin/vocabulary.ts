// The built-in encoder's vocabulary, loaded once a thread when it is first asked.
import { EmbedError } from '../embedder.ts';
import { checkEncoderBytes, encoderFile, encoderFolder } from './package-files.ts';
import { type Piece, Tokenizer } from './tokenizer.ts';

/** Letters of a piece where there is no vocabulary to ask: fewer than English pieces have, so that windows fit. */
const PIECE_LETTERS = 3;

const SHA256 = '1ad860b9720c16cd48e666d664a556b2515c04f5a26a4b53c0372427913b1b8e';

/** The tokenizer of the vocabulary in `folder`. Throws EmbedError when the file is absent or another. */
export function readTokenizer(folder: string): Tokenizer {
  const bytes = encoderFile(folder, 'vocab.json');
  checkEncoderBytes('pieces', bytes, SHA256);
  return new Tokenizer(JSON.parse(bytes.toString('utf8')) as Piece[]); // The digest says what it is.
}

let count: ((word: string) => number) | undefined;

/** How many pieces of the vocabulary `word` is; a careful guess where the encoder is not installed. */
export function vocabularyPieces(word: string): number {
  count ??= counter();
  return count(word);
}

function counter(): (word: string) => number {
  try {
    const tokenizer = readTokenizer(encoderFolder());
    return (word) => tokenizer.count(word);
  } catch (error) {
    if (!(error instanceof EmbedError)) throw error;
    return (word) => Math.ceil(word.length / PIECE_LETTERS);
  }
}
