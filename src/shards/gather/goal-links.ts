// Version links of an imported file between goals. A link gives the old version's goal the parents of the newer one, so it can
// make a goal its own ancestor.
import { EngineError } from '../../engine/base/errors.ts';
import type { ManifestEntry, RefusedEntry } from '../protocol.ts';
import type { Fan } from './fan.ts';
import { CIRCLE, GoalGraph, type Home, refused } from './goal-graph.ts';

/**
 * Applies version links in their order, except those that would make a goal its own ancestor. `accepted`: the grains of the
 * file that are stored.
 *
 * Many links travel in one call. A partition may refuse some of them, and whether it does shows only afterwards: so each
 * link is checked as if those before it had been applied and as if they had not. If that finds a cycle, the links before
 * it are sent, and the check is made again with what came of them.
 */
export async function linkGoals(
  fan: Fan,
  entries: readonly ManifestEntry[],
  how: { readonly accepted: ReadonlySet<string>; readonly home: Home },
): Promise<readonly RefusedEntry[]> {
  const refusals: RefusedEntry[] = [];
  let waiting: ManifestEntry[] = [];
  let graph = new GoalGraph(fan, how);
  await graph.readAbove(entries.flatMap(({ hash, supersededBy: next }) => (next === undefined ? [] : [hash, next])));
  const send = async (): Promise<void> => {
    refusals.push(...(await sendLinks(fan, waiting, how)));
    waiting = [];
    graph = new GoalGraph(fan, how);
  };
  for (const entry of entries) {
    if (graph.isFull) await send();
    let problem = await problemOf(graph, entry);
    if (problem !== undefined && waiting.length > 0) {
      await send();
      problem = await problemOf(graph, entry);
    }
    if (problem === undefined) waiting.push(entry);
    else refusals.push({ hash: entry.hash, error: problem.toWire() });
  }
  await send();
  return refusals;
}

/** Joins the two chains in the graph, unless the old goal, with the parents of the newer one, would be its own ancestor. */
async function problemOf(
  graph: GoalGraph,
  { hash, supersededBy = hash }: ManifestEntry,
): Promise<EngineError | undefined> {
  try {
    const old = await graph.named(hash);
    const next = await graph.named(supersededBy);
    // The partition refuses a link to a grain that is not there.
    if (old === undefined || next === undefined) return undefined;
    const own = new Set([old, next].flatMap(({ chain }) => graph.chainsOf(chain)));
    await graph.walk(graph.parentsOf(next.chain), {
      meet: (_, named) => {
        if (named !== undefined && own.has(named.chain)) throw refused(CIRCLE);
      },
    });
    graph.join(old.chain, next.chain);
    return undefined;
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
}

/** Sends each partition its links, in their order. */
async function sendLinks(
  fan: Fan,
  entries: readonly ManifestEntry[],
  { accepted, home }: { readonly accepted: ReadonlySet<string>; readonly home: Home },
): Promise<readonly RefusedEntry[]> {
  const groups = Map.groupBy(entries, ({ hash }) => home.get(hash));
  const answers = await Promise.all(
    [...groups].map(async ([partition, manifest]) => {
      try {
        if (partition === undefined) throw new EngineError('MEM-E001');
        const own = manifest.flatMap(({ hash }) => (accepted.has(hash) ? [hash] : []));
        return (await fan.one(partition, 'importBlobs', { blobs: [], manifest, accepted: own })).refused;
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        return manifest.map(({ hash }) => ({ hash, error: error.toWire() }));
      }
    }),
  );
  return answers.flat();
}
