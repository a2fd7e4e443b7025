// The file for an erasure proof. It is created before the erasure: afterwards it would be too late to find out that it
// cannot be written.
import { closeSync, fsyncSync, openSync, unlinkSync } from 'node:fs';
import { writeFully } from '../engine/base/durable-file.ts';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { Failure } from './failure.ts';

/**
 * Runs `erase` and writes its result to a new file at `path`. Rejects with FILE when the file exists or cannot be
 * created, and when it cannot be written after the erasure: the message then has the proof.
 */
export async function withProofFile(path: string, erase: () => Promise<JsonObject>): Promise<JsonObject> {
  const file = open(path);
  let proof: JsonObject | undefined;
  try {
    proof = await erase();
    writeFully(file, Buffer.from(`${JSON.stringify(proof, null, 2)}\n`), 0);
    fsyncSync(file);
    return proof;
  } catch (error) {
    unlinkSync(path);
    if (proof === undefined) throw error;
    throw new Failure(
      'FILE',
      `the server did what was asked, but the proof cannot be written to ${path}: ${reasonOf(error)}. Keep this proof: ${shownJson(proof)}`,
    );
  } finally {
    closeSync(file);
  }
}

/** JSON that a terminal is shown whole: what controls one is escaped in it, and means the same. */
function shownJson(value: JsonObject): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function open(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    throw new Failure('FILE', `cannot write the proof: ${reasonOf(error)}`);
  }
}
