// The thread that reads large uploads.
import { EngineError } from '../../engine/base/errors.ts';
import { type ImportOutcome, readImportedFile } from './read-import.ts';

export default function readInThread(bytes: Uint8Array): ImportOutcome {
  try {
    return { file: readImportedFile(bytes) };
  } catch (error) {
    if (error instanceof EngineError) return { error: error.toWire() };
    throw error;
  }
}
