// Chooses the listener: uWebSockets.js if requested and loadable, otherwise node:http.
import type { Listen } from './listener.ts';
import { listenNode } from './node.ts';

export interface ChosenListener {
  readonly kind: 'uws' | 'node';
  readonly listen: Listen;
  /** Why another listener than requested is used; one line for the log and /config. */
  readonly reason?: string | undefined;
}

export async function chooseListener(wanted: 'uws' | 'node'): Promise<ChosenListener> {
  if (wanted === 'node') return { kind: 'node', listen: listenNode };
  const [{ loadUws }, { listenUws }] = await Promise.all([import('./uws-loader.ts'), import('./uws.ts')]);
  const found = loadUws();
  if ('reason' in found) return { kind: 'node', listen: listenNode, reason: found.reason };
  return { kind: 'uws', listen: listenUws };
}
