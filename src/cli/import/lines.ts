// Reads a file as JSON lines: values with line numbers. An invalid line yields an error for that line.
import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../engine/grain/api/json.ts';
import type { JsonValue } from '../../engine/grain/api/json-value.ts';
import { Failure } from '../failure.ts';
import { linesOf } from '../json-lines.ts';

/** Lines over this size yield an error and are not buffered. The largest grain is a fraction of it. */
export const LINE_BYTES_MAX = 16 * 1_048_576;

const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);
const UTF_16 = [Buffer.of(0xff, 0xfe), Buffer.of(0xfe, 0xff)];

export type ReadLine = { readonly number: number; readonly bytes: number } & (
  | { readonly value: JsonValue }
  | { readonly error: Failure }
);

/**
 * Yields every non-empty line in order; numbering starts at 1 and counts empty lines. Lines may end in CRLF, and the
 * file may begin with a UTF-8 byte order mark. Throws Failure FILE when the whole file has the wrong format.
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
    if (line.subarray(0, 2).equals(mark)) throw new Failure('FILE', 'the file is UTF-16: convert it to UTF-8');
  return line.subarray(0, 3).equals(BYTE_ORDER_MARK) ? line.subarray(3) : line;
}

/** True for a line of only spaces, tabs and carriage returns. */
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
      throw new Failure('FILE', 'the file is one JSON array; put one object on each line (jq -c ".[]" converts it)');
    // The parser's message would quote the line, so it is not used.
    return { error: new Failure('VAL-E002', 'the line is not JSON') };
  }
}
