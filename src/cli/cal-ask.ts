// Sends one CAL query to a server.

import { type JsonObject, objectOf } from '../engine/grain/api/json-value.ts';
import type { Connection } from './connection.ts';
import type { ServerOptions } from './options.ts';

export interface CalOptions extends ServerOptions {
  readonly memory: string;
}

/** The parts of the `app/exec cal` answer that are shown. */
export interface CalAnswer {
  readonly result: JsonObject;
  readonly warnings: readonly string[];
  readonly executionMs: number;
  /** The whole answer. */
  readonly all: JsonObject;
}

/** Rejects with Failure. */
export async function ask(connection: Connection, memory: string, query: string): Promise<CalAnswer> {
  const all = (await connection.exec(memory, 'cal', { query })) as JsonObject; // The contract: an object.
  const { result, warnings, execution_time_ms: ms } = all;
  return {
    result: objectOf(result), // the contract: an object
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
    executionMs: Number(ms),
    all,
  };
}
