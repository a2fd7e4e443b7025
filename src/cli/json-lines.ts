// JSON lines in, JSON lines out: one answer per line, in order, for any input.
import { isUtf8 } from 'node:buffer';
import type { Writable } from 'node:stream';
import { JSON_LINE_BYTES_MAX } from '../engine/base/limits.ts';
import { GrainError } from '../engine/grain/error.ts';
import { writeOut } from './write-out.ts';

const NEWLINE = 0x0a;

/** The output line for an input line that failed. */
export interface ErrorLine {
  readonly error: { readonly code: string; readonly message: string };
}

export function errorLine(error: unknown): ErrorLine {
  if (error instanceof GrainError) return { error: { code: error.code, message: error.message } };
  return { error: { code: 'ERR_INTERNAL', message: error instanceof Error ? error.message : String(error) } };
}

/**
 * Yields the lines of a stream as bytes without their newline; an unfinished last line counts unless it is empty. A
 * line over `bytesMax` yields undefined once and is not buffered.
 */
export async function* linesOf(
  input: AsyncIterable<Uint8Array>,
  bytesMax: number = JSON_LINE_BYTES_MAX,
): AsyncGenerator<Buffer | undefined> {
  let pieces: Uint8Array[] = [];
  let gathered = 0;
  for await (const chunk of input) {
    let from = 0;
    while (from < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, from);
      const to = newline === -1 ? chunk.length : newline;
      gathered += to - from;
      if (gathered <= bytesMax) pieces.push(chunk.subarray(from, to));
      else pieces = [];
      from = to + 1;
      if (newline === -1) break;
      yield gathered <= bytesMax ? Buffer.concat(pieces) : undefined;
      pieces = [];
      gathered = 0;
    }
  }
  if (gathered > 0) yield gathered <= bytesMax ? Buffer.concat(pieces) : undefined;
}

/** The value of one line. Throws GrainError: ERR_TOO_LARGE, ERR_CORRUPT (not UTF-8, not JSON). */
function parseLine(line: Buffer | undefined): unknown {
  if (line === undefined) throw new GrainError('ERR_TOO_LARGE', 'line is too long');
  if (!isUtf8(line)) throw new GrainError('ERR_CORRUPT', 'line is not UTF-8');
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    throw new GrainError('ERR_CORRUPT', 'line is not JSON'); // the parser's message would quote the line
  }
}

/**
 * Writes `answer(line)` for every line of `input`, or an error line when it throws. Ends at end of input, or when the
 * reader of the output closes it.
 */
export async function answerLines(
  answer: (value: unknown) => unknown,
  input: AsyncIterable<Uint8Array>,
  output: Writable,
): Promise<void> {
  for await (const line of linesOf(input)) {
    let text: string;
    try {
      text = JSON.stringify(answer(parseLine(line)));
    } catch (error) {
      text = JSON.stringify(errorLine(error));
    }
    if (!(await writeOut(output, `${text}\n`))) return;
  }
}
