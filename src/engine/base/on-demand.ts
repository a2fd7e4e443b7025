// Loads modules when a thread first uses them. A module costs a thread about 0.1 ms and memory at start, and many
// threads never need the large ones: a worker that runs no CAL query, a command that makes one call. Loading is
// synchronous, as the engine is; the first use pays for it.
import { createRequire } from 'node:module';

/**
 * A function that loads a module at its first call and returns the same module afterwards. `name` is a package, or a
 * path relative to the file `from` (its `import.meta.url`) without its suffix: TypeScript here, JavaScript once built.
 * The module must not use top-level await.
 */
export function onDemand<M>(from: string, name: string): () => M {
  let loaded: M | undefined;
  return () => {
    const suffix = !name.startsWith('.') ? '' : from.endsWith('.ts') ? '.ts' : '.js';
    loaded ??= createRequire(from)(name + suffix) as M; // the caller's type names the module
    return loaded;
  };
}
