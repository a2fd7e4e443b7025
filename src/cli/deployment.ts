// Commands about the deployment as a whole, and those that go through its memories. app/exec is asked of a memory, so
// what concerns the deployment is asked of any that there is.
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import type { Connection } from './connection.ts';
import { Failure } from './failure.ts';
import { allPages } from './pages.ts';

/** Runs a command that concerns the deployment; its result. MEM-E003 when there is no memory to ask it of. */
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
  if (other === undefined) throw new Failure('MEM-E003', 'there is no memory; make one (granary memories create)');
  return objectOf(command, await connection.exec(other, command, args));
}

/** Ids of every memory that the key may see, oldest first. */
export async function memoryIds(connection: Connection): Promise<string[]> {
  const memories = await allPages(connection, '/memories', 'memories');
  return memories.map(({ id }) => String(id));
}

export interface MemoryResult {
  readonly memory: string;
  readonly result: JsonObject;
}

/** Runs a command on one memory, or on each one after the other; tells `done` of each. */
export async function execOnMemories(
  connection: Connection,
  options: { readonly memory: string; readonly all?: true },
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
  throw new Failure('SYS-E001', `the server answered ${command} with something that is not an object`);
}
