// Modules that a thread loads when it first uses them. A module costs a thread about a tenth of a millisecond and its share
// of memory at the start, and many threads never need the large parts: a worker whose memories are not asked in CAL, a
// command that makes one call. Loading is synchronous, as the engine is, and costs the first user its time.
import { createRequire } from 'node:module';

/**
 * Loads a module at the first call; later calls give the same. `name` is a package's, or a path from the file `from` (its
 * `import.meta.url`) without its suffix: TypeScript here, JavaScript once built. The module must not await at its top.
 */
export function onDemand<M>(from: string, name: string): () => M {
  let loaded: M | undefined;
  return () => {
    const suffix = !name.startsWith('.') ? '' : from.endsWith('.ts') ? '.ts' : '.js';
    loaded ??= createRequire(from)(name + suffix) as M; // the caller says which module it names
    return loaded;
  };
}
