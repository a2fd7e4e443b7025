/** The entry file of a thread, beside the module `from` (its `import.meta.url`): TypeScript here, JavaScript once built. */
export function threadEntry(name: string, from: string): URL {
  return new URL(`./${name}${from.endsWith('.ts') ? '.ts' : '.js'}`, from);
}
