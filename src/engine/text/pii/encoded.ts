// Finds runs of Base64 and of hexadecimal digits that decode to text, so that their content is searched too.
import { isUtf8 } from 'node:buffer';

const RUN = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}/g;
const SHORTEST = 16;
/** A run whose decoded text has none of these (a blank, a digit, `@`) contains nothing detectable. */
const TELLING = /[\s\d@:]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: text holds none of them.
const NOT_TEXT = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]/;
const decoder = new TextDecoder();

/** Bytes in hexadecimal digits, joined or separated. The first digit of every byte of text is below 8. */
const HEX = /[2-7][0-9A-Fa-f](?:[ :-]?[0-9A-Fa-f]{2}){7,}/g;
const HEX_BYTES_MIN = 8;

export interface Encoded {
  readonly from: number;
  readonly to: number;
  readonly decoded: string;
}

/** The runs that contain text. The decoded texts together are shorter than twice `text`, which has `digits` digits. */
export function encodedRuns(text: string, digits: number): readonly Encoded[] {
  const runs: Encoded[] = digits < HEX_BYTES_MIN ? [] : hexRuns(text);
  for (const match of text.matchAll(RUN)) {
    const [run] = match;
    const decoded = decode(run) ?? decodeShifted(run);
    if (decoded !== undefined) runs.push({ from: match.index, to: match.index + run.length, decoded });
    else decodeParts(run, match.index, runs);
  }
  return runs;
}

function hexRuns(text: string): Encoded[] {
  const runs: Encoded[] = [];
  for (const { 0: all, index } of text.matchAll(HEX)) {
    const from = /(?:^|[^0-9A-Za-z])0x$/.test(text.slice(Math.max(0, index - 3), index)) ? index - 2 : index;
    if (/[0-9A-Za-z]/.test(text[from - 1] ?? '')) continue;
    // The word after the run may begin with such digits: "… decodes to".
    const isWhole = !/[0-9A-Za-z]/.test(text[index + all.length] ?? '');
    const run = isWhole ? all : all.replace(/[ :-][^ :-]*$/, '');
    if (run === all && !isWhole) continue;
    const decoded = asText(Buffer.from(run.replace(/[ :-]/g, ''), 'hex'));
    if (decoded !== undefined) runs.push({ from, to: index + run.length, decoded });
  }
  return runs;
}

/**
 * Up to three letters may precede or follow the groups of an encoder. The whole groups between them are tried, also
 * without the last one, which such letters may have completed.
 */
function decodeShifted(run: string): string | undefined {
  for (let shift = 0; shift < 4; shift++) {
    const end = run.length - ((run.length - shift) % 4);
    for (const to of [end, end - 4]) {
      if (to - shift < SHORTEST) continue;
      const decoded = decode(run.slice(shift, to));
      if (decoded !== undefined) return decoded;
    }
  }
  return undefined;
}

/** Tries the parts of a path or a hyphenated name that contains a Base64 run. */
function decodeParts(run: string, index: number, runs: Encoded[]): void {
  let from = 0;
  for (const part of run.split(/[-_/]/)) {
    if (part.length >= SHORTEST && part.length < run.length) {
      const decoded = decode(part);
      if (decoded !== undefined) runs.push({ from: index + from, to: index + from + part.length, decoded });
    }
    from += part.length + 1;
  }
}

function decode(run: string): string | undefined {
  // An encoder never produces one letter more than whole groups.
  if (run.replace(/=+$/, '').length % 4 === 1) return undefined;
  return asText(Buffer.from(run, 'base64'));
}

function asText(bytes: Buffer): string | undefined {
  // Checked first: a decoder that throws takes 20 µs, and most runs are hashes and paths.
  if (!isUtf8(bytes)) return undefined;
  const decoded = decoder.decode(bytes);
  return NOT_TEXT.test(decoded) || !TELLING.test(decoded) ? undefined : decoded;
}
