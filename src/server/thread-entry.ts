/**
 * A thread's entry file next to the module `from` (its `import.meta.url`): TypeScript in the sources, JavaScript once
 * built.
 */
export function threadEntry(name: string, from: string): URL {
  return new URL(`./${name}${from.endsWith('.ts') ? '.ts' : '.js'}`, from);
}
