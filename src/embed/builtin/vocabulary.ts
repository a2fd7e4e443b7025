// The built-in encoder's vocabulary, loaded once per thread on first use.
import { EmbedError } from '../embedder.ts';
import { checkEncoderBytes, encoderFile, encoderFolder } from './package-files.ts';
import { type Piece, Tokenizer } from './tokenizer.ts';

/** Assumed characters per piece without a vocabulary. Lower than the English average, so that windows fit. */
const PIECE_LETTERS = 3;

const SHA256 = '1ad860b9720c16cd48e666d664a556b2515c04f5a26a4b53c0372427913b1b8e';

/** The tokenizer for the vocabulary in `folder`. Throws EmbedError when the file is absent or different. */
export function readTokenizer(folder: string): Tokenizer {
  const bytes = encoderFile(folder, 'vocab.json');
  checkEncoderBytes('pieces', bytes, SHA256);
  return new Tokenizer(JSON.parse(bytes.toString('utf8')) as Piece[]); // the digest proves the type
}

let count: ((word: string) => number) | undefined;

/** Number of vocabulary pieces in `word`; a cautious estimate when the encoder is not installed. */
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
