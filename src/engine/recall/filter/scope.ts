// What a scope path lets a recall see (service contract, section 11): itself, what it inherits from above, what lies below,
// and on request its siblings. A scope is a namespace, a path its names joined by slashes.
import type { GrainFilter } from '../../calls/grain.ts';
import type { MemorySettings } from '../../calls/memory.ts';
import { type ScopeView, treeOf } from '../../govern/scope-tree.ts';

const SEPARATOR = '/';

/** Undefined for a path without a name in it. Slashes at its ends mean nothing. */
export function scopeView(path: string, siblings: boolean): ScopeView | undefined {
  const names = path.split(SEPARATOR).filter((name) => name !== '');
  if (names.length === 0) return undefined;
  const line = names.map((_, depth) => names.slice(0, depth + 1).join(SEPARATOR));
  const above = names.slice(0, -1).join(SEPARATOR);
  return { line, ...(siblings ? { beside: above === '' ? '' : above + SEPARATOR } : {}) };
}

/** The filter as the memory's tree has its scope path; itself where there is no path, or no tree. SCP-E001. */
export function inTree({ scopes }: Pick<MemorySettings, 'scopes'>, filter: GrainFilter): GrainFilter {
  const { scope } = filter;
  if (scopes === undefined || scope === undefined || scope.ofTree === true) return filter;
  return { ...filter, scope: treeOf(scopes.root).resolve(scope) };
}

export function isInScope({ line, beside, below, also }: ScopeView, namespace: string): boolean {
  if (line.includes(namespace) || also?.includes(namespace) === true) return true;
  const tops = below ?? [line[line.length - 1] ?? ''];
  if (tops.some((top) => namespace === top || namespace.startsWith(top + SEPARATOR))) return true;
  if (beside === undefined || namespace === '' || !namespace.startsWith(beside)) return false;
  return !namespace.includes(SEPARATOR, beside.length);
}

/** 0 for a scope right under the root. */
export function scopeDepth(namespace: string): number {
  return namespace.split(SEPARATOR).length - 1;
}
