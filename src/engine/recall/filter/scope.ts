// Resolves a scope path to the namespaces that a recall reads (service contract, section 11): the scope itself, its
// ancestors, its descendants and, on request, its siblings. A scope is a namespace; its path is its names joined by
// slashes.
import type { GrainFilter } from '../../calls/grain.ts';
import type { MemorySettings } from '../../calls/memory.ts';
import { type ScopeView, treeOf } from '../../govern/scope-tree.ts';

const SEPARATOR = '/';

/** Undefined for an empty path. Ignores leading and trailing slashes. */
export function scopeView(path: string, siblings: boolean): ScopeView | undefined {
  const names = path.split(SEPARATOR).filter((name) => name !== '');
  if (names.length === 0) return undefined;
  const line = names.map((_, depth) => names.slice(0, depth + 1).join(SEPARATOR));
  const above = names.slice(0, -1).join(SEPARATOR);
  return { line, siblings: siblings ? (above === '' ? '' : above + SEPARATOR) : undefined };
}

/**
 * Resolves the filter's scope path by the memory's scope tree. Returns the filter itself without a path or a tree.
 * Throws SCP-E001.
 */
export function inTree({ scopes }: Pick<MemorySettings, 'scopes'>, filter: GrainFilter): GrainFilter {
  const { scope } = filter;
  if (scopes === undefined || scope === undefined || scope.ofTree === true) return filter;
  return { ...filter, scope: treeOf(scopes.root).resolve(scope) };
}

export function isInScope({ line, siblings: beside, below, also }: ScopeView, namespace: string): boolean {
  if (line.includes(namespace) || also?.includes(namespace) === true) return true;
  const tops = below ?? [line[line.length - 1] ?? ''];
  if (tops.some((top) => namespace === top || namespace.startsWith(top + SEPARATOR))) return true;
  if (beside === undefined || namespace === '' || !namespace.startsWith(beside)) return false;
  return !namespace.includes(SEPARATOR, beside.length);
}

/** Depth of a scope; 0 directly below the root. */
export function scopeDepth(namespace: string): number {
  return namespace.split(SEPARATOR).length - 1;
}
