// Checks the graph of a workflow: the ends of every edge must exist, and a cycle must have a bound.

import { canonicalText } from '../text.ts';
import type { Value, ValueMap } from '../value.ts';
import { CHECKS, note } from './findings.ts';

interface Edge {
  readonly to: string;
  readonly bounded: boolean;
}

/**
 * Notes breaches of the graph rules. Values of wrong types are left to the checks of kinds. Names are compared as they
 * will be written; text that cannot be written throws as in `canonicalText`.
 */
export function checkGraph(fields: ValueMap): void {
  const nodes = strings(fields['nodes']);
  const known = new Set(nodes);
  if (known.size !== nodes.length) note(CHECKS.schema, 'nodes', 'are not unique');
  const retried = new Set(names(fields['retries']));
  for (const field of ['bindings', 'retries'] as const)
    for (const name of names(fields[field])) if (!known.has(name)) note(CHECKS.schema, field, 'has an unknown node');
  const edgesFrom = new Map<string, Edge[]>(nodes.map((node) => [node, []]));
  for (const edge of Array.isArray(fields['edges']) ? fields['edges'] : []) {
    const { src, dst, max_cycles: cycles } = mapOf(edge);
    if (typeof src !== 'string' || typeof dst !== 'string') continue;
    const to = canonicalText(dst);
    const from = edgesFrom.get(canonicalText(src));
    if (from === undefined || !known.has(to)) note(CHECKS.schema, 'edges', 'has an unknown node');
    else from.push({ to, bounded: (cycles !== undefined && cycles !== null) || retried.has(to) });
  }
  if (hasUnboundedCircle(nodes, edgesFrom)) note(CHECKS.schema, 'edges', 'form a cycle without max_cycles or retries');
}

/** True when a walk from the first node on (then from any it did not reach) meets an edge back that has no bound. */
function hasUnboundedCircle(nodes: readonly string[], edgesFrom: ReadonlyMap<string, readonly Edge[]>): boolean {
  const state = new Map<string, 'open' | 'done'>();
  for (const start of nodes) {
    if (state.has(start)) continue;
    const path = [{ node: start, next: 0 }];
    state.set(start, 'open');
    while (path.length > 0) {
      const top = path[path.length - 1]!;
      const edge = edgesFrom.get(top.node)?.[top.next++];
      if (edge === undefined) {
        state.set(top.node, 'done');
        path.pop();
      } else if (state.get(edge.to) === 'open') {
        if (!edge.bounded) return true;
      } else if (!state.has(edge.to)) {
        state.set(edge.to, 'open');
        path.push({ node: edge.to, next: 0 });
      }
    }
  }
  return false;
}

function strings(value: Value | undefined): string[] {
  return Array.isArray(value) ? value.filter((element) => typeof element === 'string').map(canonicalText) : [];
}

/** Keys of a map that have a value. */
function names(value: Value | undefined): string[] {
  const map = mapOf(value);
  return Object.keys(map)
    .filter((key) => map[key] !== null && map[key] !== undefined)
    .map(canonicalText);
}

function mapOf(value: Value | undefined): ValueMap {
  const isPlain =
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
  return isPlain ? (value as ValueMap) : {}; // a Float has no keys of interest: wrong kinds are noted elsewhere
}
