// What a scope path lets a recall see (service contract, section 11): itself, what it inherits from above, what lies below,
// and on request its siblings. A scope is a namespace, a path its names joined by slashes.
import type { ScopeView } from '../calls.ts';

const SEPARATOR = '/';

/** Undefined for a path without a name in it. Slashes at its ends mean nothing. */
export function scopeView(path: string, siblings: boolean): ScopeView | undefined {
  const names = path.split(SEPARATOR).filter((name) => name !== '');
  if (names.length === 0) return undefined;
  const line = names.map((_, depth) => names.slice(0, depth + 1).join(SEPARATOR));
  const above = names.slice(0, -1).join(SEPARATOR);
  return { line, ...(siblings ? { beside: above === '' ? '' : above + SEPARATOR } : {}) };
}

export function isInScope({ line, beside }: ScopeView, namespace: string): boolean {
  const path = line[line.length - 1] ?? '';
  if (line.includes(namespace) || namespace.startsWith(path + SEPARATOR)) return true;
  if (beside === undefined || namespace === '' || !namespace.startsWith(beside)) return false;
  return !namespace.includes(SEPARATOR, beside.length);
}

/** 0 for a scope right under the root. */
export function scopeDepth(namespace: string): number {
  return namespace.split(SEPARATOR).length - 1;
}
