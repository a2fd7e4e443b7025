// A recall over several partitions with its stages: each further question goes to all partitions, as the first did.
import { unreachable } from '../engine/assert.ts';
import { systemClock } from '../engine/clock.ts';
import { recallStaged } from '../engine/recall/stages/recall-output.ts';
import type { Fan } from './fan.ts';
import { gatherRecall } from './gather-recall.ts';
import type { GrainFilter, GrainView, Output, RecallQuery } from './protocol.ts';

export function gatherStagedRecall(fan: Fan, query: RecallQuery): Promise<Output<'recall'>> {
  return recallStaged(
    query,
    { nowMs: systemClock.nowMs() },
    (plain) => gatherRecall(fan, plain),
    async (ask) => {
      switch (ask.kind) {
        case 'fetch':
          return { kind: 'fetch', grains: await fetchAnywhere(fan, ask.hashes) };
        case 'namespaces':
          return { kind: 'namespaces', ...(await gatherNamespaces(fan, { filter: query.filter })) };
        default:
          return unreachable(ask);
      }
    },
  );
}

export async function gatherNamespaces(
  fan: Fan,
  input: { readonly filter: GrainFilter },
): Promise<Output<'namespaces'>> {
  const answers = await fan.all('namespaces', input);
  return { namespaces: [...new Set(answers.flatMap(({ namespaces }) => namespaces))] };
}

/** Each grain from whichever partition has it. */
export async function fetchAnywhere(fan: Fan, hashes: readonly string[]): Promise<(GrainView | null)[]> {
  const answers = await fan.all('fetch', { hashes });
  return hashes.map(
    (_, index) => answers.map(({ grains }) => grains[index] ?? null).find((grain) => grain !== null) ?? null,
  );
}
