// The thread that parses long JSON bodies.
import { EngineError } from '../../engine/errors.ts';
import { parseBody } from '../http/json.ts';
import type { JsonOutcome } from './read-json.ts';

export default function readInThread(bytes: Uint8Array): JsonOutcome {
  try {
    return { value: parseBody(bytes) };
  } catch (error) {
    if (error instanceof EngineError) return { error: error.toWire() };
    throw error;
  }
}
