// The file that the proof of an erasure goes into. It is made before anything is erased: that a proof cannot be
// written is found out too late afterwards.
import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { Failure } from './failure.ts';

/** Runs `erase` and writes what it gives to a new file at `path`. FILE when there is one, or none can be made. */
export async function withProofFile(path: string, erase: () => Promise<JsonObject>): Promise<JsonObject> {
  const file = open(path);
  try {
    const proof = await erase();
    writeSync(file, `${JSON.stringify(proof, null, 2)}\n`);
    fsyncSync(file);
    return proof;
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(file);
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    throw new Failure('FILE', `no proof can be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}
