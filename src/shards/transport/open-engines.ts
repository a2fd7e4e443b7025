// Opens the engines of several shards.
import type { EngineDoor, EngineOptions } from './engine-door.ts';

/** Opens all engines or none: if one fails, closes those that are open. */
export async function openEngines(
  options: readonly EngineOptions[],
  open: (options: EngineOptions) => Promise<EngineDoor>,
): Promise<ReadonlyMap<number, EngineDoor>> {
  const opening = await Promise.allSettled(options.map(open));
  const engines = new Map<number, EngineDoor>();
  const failures: unknown[] = [];
  opening.forEach((result, index) => {
    if (result.status === 'rejected') failures.push(result.reason);
    else engines.set(options[index]!.shard, result.value);
  });
  if (failures.length === 0) return engines;
  await Promise.allSettled([...engines.values()].map((engine) => engine.close()));
  throw failures[0];
}

/** An error that only a bug can cause, for the log. */
export function describeBug(error: unknown): string {
  return error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : String(error);
}
