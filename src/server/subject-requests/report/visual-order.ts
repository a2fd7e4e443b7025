// Puts the words of one line in the order in which they are drawn, from left to right. The PDF library draws one word after
// the other as they stand in the text, which is wrong where a line has Arabic or Hebrew words.

/** Letters of scripts that are written from right to left. */
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const LEFT_TO_RIGHT = /[\p{L}\p{N}]/u;

interface Piece {
  readonly text: string;
  /** Undefined: blanks and punctuation, which take the direction of their neighbours. */
  readonly isRightToLeft: boolean | undefined;
}

/** The pieces of the line from left to right. A line without such letters is one piece. */
export function visualOrder(line: string): string[] {
  if (!RIGHT_TO_LEFT.test(line)) return [line];
  const pieces = piecesOf(line);
  const first = pieces.find(({ isRightToLeft }) => isRightToLeft !== undefined);
  const base = first?.isRightToLeft === true;
  const runs = runsOf(pieces, base);
  const ordered = base ? runs.toReversed() : runs;
  return ordered.flatMap(({ isRightToLeft, texts }) => (isRightToLeft ? texts.toReversed() : [texts.join('')]));
}

/** Maximal pieces of letters of one direction, and what is between them. */
function piecesOf(line: string): Piece[] {
  const pieces: { text: string; isRightToLeft: boolean | undefined }[] = [];
  for (const character of line) {
    const isRightToLeft = RIGHT_TO_LEFT.test(character) ? true : LEFT_TO_RIGHT.test(character) ? false : undefined;
    const last = pieces.at(-1);
    // A mark belongs to the letter before it.
    if (last !== undefined && (last.isRightToLeft === isRightToLeft || /\p{M}/u.test(character)))
      last.text += character;
    else pieces.push({ text: character, isRightToLeft });
  }
  return pieces;
}

/** Pieces between two of one direction have it too; others have that of the line. */
function runsOf(
  pieces: readonly Piece[],
  base: boolean,
): { readonly isRightToLeft: boolean; readonly texts: string[] }[] {
  const runs: { isRightToLeft: boolean; texts: string[] }[] = [];
  for (const [at, piece] of pieces.entries()) {
    const before = pieces[at - 1]?.isRightToLeft ?? base;
    const after = pieces[at + 1]?.isRightToLeft ?? base;
    const isRightToLeft = piece.isRightToLeft ?? (before === after ? before : base);
    const last = runs.at(-1);
    if (last?.isRightToLeft === isRightToLeft) last.texts.push(piece.text);
    else runs.push({ isRightToLeft, texts: [piece.text] });
  }
  return runs;
}
