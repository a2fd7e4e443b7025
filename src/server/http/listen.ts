// Chooses between the two listeners: uWebSockets.js where it loads, node:http where it does not or when asked for.
import type { Listen } from './listener.ts';
import { listenNode } from './node.ts';
import { listenUws } from './uws.ts';
import { loadUws } from './uws-loader.ts';

export interface ChosenListener {
  readonly kind: 'uws' | 'node';
  readonly listen: Listen;
  /** Why the one that was asked for is not the one that is used; one line for the log and for /config. */
  readonly reason?: string;
}

export function chooseListener(wanted: 'uws' | 'node'): ChosenListener {
  if (wanted === 'node') return { kind: 'node', listen: listenNode };
  const found = loadUws();
  if ('reason' in found) return { kind: 'node', listen: listenNode, reason: found.reason };
  return { kind: 'uws', listen: listenUws };
}
