// The worker that finds the places of nodes, from the page's side.
import type { Layout, LayoutTask } from './layout-worker.ts';
import layoutUrl from './layout-worker.ts?worker&url';

export interface Layouter {
  /** Tells of new nodes and edges; the array of places is given away. */
  readonly add: (task: LayoutTask) => void;
  readonly stop: () => void;
}

/** `onPlaces` gets x and y of each node, one after the other, as often as they are better, the last time with true. */
export function startLayout(onPlaces: (places: Float32Array, isLast: boolean) => void): Layouter {
  const worker = new Worker(trusted(new URL(layoutUrl, import.meta.url)), { type: 'module' });
  worker.addEventListener('message', ({ data: { places, isLast } }: MessageEvent<Layout>) => onPlaces(places, isLast));
  return {
    add: (task) => worker.postMessage(task, { transfer: [task.places.buffer, task.edges.buffer] }),
    stop: () => worker.terminate(),
  };
}

/** The page's policy takes the address of a worker from this policy alone. */
function trusted(url: URL): URL {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('console-worker', { createScriptURL: (text) => text });
  return (policy?.createScriptURL(url.href) ?? url) as URL; // a TrustedScriptURL, where there are such
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (text: string) => string }): ScriptPolicy;
}

interface ScriptPolicy {
  createScriptURL(text: string): unknown;
}

let policy: ScriptPolicy | undefined;
