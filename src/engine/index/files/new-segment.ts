// Writes a segment file that no manifest names yet.
import { rmSync } from 'node:fs';
import { isFileError, storageError } from '../../base/durable-file.ts';
import type { Sequence } from '../../log/log.ts';
import type { Sliced } from './section.ts';
import { SegmentFile, SegmentWriter } from './segment-file.ts';

/** The sequence numbers that a file covers. */
export interface SequenceRange {
  readonly first: Sequence;
  readonly last: Sequence;
}

/** Writes a file through `fill`. Returns the number of its chunks; without any there is no file. STO-E001. */
export function* writeSegment(
  path: string,
  range: SequenceRange,
  fill: (writer: SegmentWriter) => Sliced<void>,
): Sliced<number> {
  let writer: SegmentWriter | undefined;
  try {
    writer = new SegmentWriter(path);
    yield* fill(writer);
    const { chunks } = writer;
    if (chunks === 0) return 0;
    yield* writer.finish(range);
    writer = undefined;
    return chunks;
  } catch (error) {
    throw isFileError(error) ? storageError('a segment cannot be written', error) : error;
  } finally {
    writer?.abandon();
  }
}

/** Opens a file that was just written. STO-E001, also when this process may open no more files; then there is no file. */
export function openWritten(path: string, id: number): SegmentFile {
  try {
    return SegmentFile.open(path, id);
  } catch (error) {
    rmSync(path, { force: true });
    throw isFileError(error) ? storageError('a segment cannot be opened', error) : error;
  }
}
