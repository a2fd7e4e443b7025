// Commands that concern the whole deployment or all of its memories. app/exec needs a memory, so a deployment-wide
// command goes to any memory of the deployment.
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import type { Connection } from './connection.ts';
import { Failure } from './failure.ts';
import { allPages } from './pages.ts';

/**
 * Runs a deployment-wide command and resolves to its result. Rejects with MEM-E003 when the deployment has no memory.
 */
export async function execOnDeployment(
  connection: Connection,
  command: string,
  args: JsonObject = {},
): Promise<JsonObject> {
  try {
    return objectOf(command, await connection.exec('default', command, args));
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'MEM-E003') throw error;
  }
  const [other] = await memoryIds(connection);
  if (other === undefined)
    throw new Failure('MEM-E003', 'the deployment has no memory: create one (granary memories create)');
  return objectOf(command, await connection.exec(other, command, args));
}

/** Ids of all memories that the key may see, oldest first. */
export async function memoryIds(connection: Connection): Promise<string[]> {
  const memories = await allPages(connection, '/memories', 'memories');
  return memories.map(({ id }) => String(id));
}

export interface MemoryResult {
  readonly memory: string;
  readonly result: JsonObject;
}

/** Runs a command on one memory, or on all memories one after the other. Calls `done` after each. */
export async function execOnMemories(
  connection: Connection,
  options: { readonly memory: string; readonly all?: true | undefined },
  command: string,
  args: JsonObject,
  done: (count: number, total: number) => void = () => undefined,
): Promise<MemoryResult[]> {
  const ids = options.all ? await memoryIds(connection) : [options.memory];
  const results: MemoryResult[] = [];
  for (const memory of ids) {
    results.push({ memory, result: objectOf(command, await connection.exec(memory, command, args)) });
    done(results.length, ids.length);
  }
  return results;
}

/** One result for one memory, a list for `--all`. */
export function resultsJson(results: readonly MemoryResult[], all: true | undefined): JsonValue {
  const each = results.map(({ memory, result }) => ({ memory, ...result }));
  return all === true ? { memories: each } : (each[0] ?? {});
}

function objectOf(command: string, value: JsonValue): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Failure('SYS-E001', `the server's answer to ${command} is not an object`);
}
