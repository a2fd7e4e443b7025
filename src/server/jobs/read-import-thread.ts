// The thread that reads large uploads.
import { EngineError } from '../../engine/errors.ts';
import { type ImportOutcome, readImportedFile } from './read-import.ts';

export default function readInThread(bytes: Uint8Array): ImportOutcome {
  try {
    const { blobs, ...rest } = readImportedFile(bytes);
    return { ...rest, joined: Buffer.concat(blobs), lengths: blobs.map(({ length }) => length) };
  } catch (error) {
    if (error instanceof EngineError) return { error: error.toWire() };
    throw error;
  }
}
