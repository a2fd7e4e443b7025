// Streams output to a file, which appears once it is complete, or to standard output.
import { createWriteStream, rmSync, statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { undoneUnlessDone } from '../server/removed-when-ended.ts';
import { Failure, failureOf } from './failure.ts';
import { Progress } from './progress.ts';
import { writeOut } from './write-out.ts';

interface Quiet {
  /** Hide the progress bar. */
  readonly json?: true | undefined;
}

export interface Piece {
  readonly bytes: Buffer;
  /** Grains written so far with this piece. Undefined for a .mg file, whose head alone holds the count. */
  readonly grains: number | undefined;
}

export interface Written {
  readonly bytes: number;
  readonly grains: number | undefined;
}

/** The file appears under its name once it is complete. A device or a pipe is written to as it is, and stays. */
export async function intoFile(pieces: AsyncIterable<Piece>, path: string, options: Quiet): Promise<Written> {
  if (!isPlainOrAbsent(path)) return written(pieces, path, path, options);
  const partial = `${path}.partial`;
  return undoneUnlessDone(removed(partial), async () => {
    const all = await written(pieces, partial, path, options);
    try {
      await rename(partial, path);
    } catch (error) {
      throw failed(path, error);
    }
    return all;
  });
}

/** Writes to the file at `to`; `path` is its name in messages. */
async function written(pieces: AsyncIterable<Piece>, to: string, path: string, options: Quiet): Promise<Written> {
  const stream = createWriteStream(to, { mode: 0o600 });
  // Awaited below. Without a listener, an early failure would end the process.
  const end = finished(stream);
  end.catch(() => undefined);
  try {
    const all = await Promise.race([writeTo(pieces, stream, options), end.then(() => undefined)]);
    stream.end();
    await end;
    if (all === undefined) throw new Error('the file closed too early');
    return all;
  } catch (error) {
    stream.destroy();
    // A file that is still being opened would appear after its removal.
    if (!stream.closed) await new Promise<void>((resolve) => stream.once('close', resolve));
    throw failed(path, error);
  }
}

/** Removes a file, not a folder of its name. */
function removed(path: string): () => void {
  return () => {
    if (isPlainOrAbsent(path)) rmSync(path, { force: true });
  };
}

function failed(path: string, error: unknown): Failure {
  return error instanceof Failure ? error : new Failure('FILE', `cannot write ${path}: ${failureOf(error).text}`);
}

function isPlainOrAbsent(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return true;
  }
}

export async function writeTo(pieces: AsyncIterable<Piece>, stream: Writable, options: Quiet): Promise<Written> {
  const progress = new Progress('exporting', 'bytes', options.json !== true);
  let total = 0;
  let grains: number | undefined;
  try {
    for await (const piece of pieces) {
      total += piece.bytes.length;
      grains = piece.grains ?? grains;
      if (!(await writeOut(stream, piece.bytes))) break;
      progress.update(total, undefined);
    }
  } finally {
    progress.end();
  }
  return { bytes: total, grains };
}
