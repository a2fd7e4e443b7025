// A file, give me its lines as JSON values with their numbers. What is wrong with a line is an error of that line.
import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../engine/grain/api/json.ts';
import type { JsonValue } from '../../engine/grain/api/json-value.ts';
import { Failure } from '../failure.ts';
import { linesOf } from '../json-lines.ts';

/** A longer line is an error of its own, and is not held: no grain is larger than a fraction of this. */
export const LINE_BYTES_MAX = 16 * 1_048_576;

const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);
const UTF_16 = [Buffer.of(0xff, 0xfe), Buffer.of(0xfe, 0xff)];

export type ReadLine = { readonly number: number; readonly bytes: number } & (
  | { readonly value: JsonValue }
  | { readonly error: Failure }
);

/**
 * Every line that says something, in order, numbered from 1; empty ones are only counted. Lines may end in CRLF, and
 * the first may begin with a UTF-8 byte order mark. Throws Failure FILE when the file as a whole is of another kind.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  bytesMax: number = LINE_BYTES_MAX,
): AsyncGenerator<ReadLine> {
  let number = 0;
  for await (const raw of linesOf(input, bytesMax)) {
    number += 1;
    if (raw === undefined) {
      const error = new Failure('LIM-E003', `the line is longer than ${bytesMax / 1_048_576} MiB`);
      yield { number, bytes: 0, error };
      continue;
    }
    const line = number === 1 ? withoutMark(raw) : raw;
    if (isBlank(line)) continue;
    yield { number, bytes: line.length, ...parse(line, number) };
  }
}

function withoutMark(line: Buffer): Buffer {
  for (const mark of UTF_16)
    if (line.subarray(0, 2).equals(mark)) throw new Failure('FILE', 'the file is UTF-16; UTF-8 is needed');
  return line.subarray(0, 3).equals(BYTE_ORDER_MARK) ? line.subarray(3) : line;
}

/** Only spaces, tabs and carriage returns. */
function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

function parse(line: Buffer, number: number): { readonly value: JsonValue } | { readonly error: Failure } {
  if (!isUtf8(line)) return { error: new Failure('VAL-E002', 'the line is not valid UTF-8') };
  const text = line.toString('utf8');
  try {
    return { value: parseJson(text) };
  } catch {
    if (number === 1 && /^\s*\[\s*(\{.*)?$/s.test(text))
      throw new Failure('FILE', 'the file is one JSON array; one object a line is needed (jq -c ".[]" makes it so)');
    // The parser's own message would repeat the line.
    return { error: new Failure('VAL-E002', 'the line is not JSON') };
  }
}
