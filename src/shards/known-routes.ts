// Chooses the partition of each extracted belief. If a partition already knows the fact, the belief goes there and its
// source becomes a further source. Any other belief goes where placement puts it.
import { defined } from '../engine/base/defined.ts';
import { EngineError } from '../engine/base/errors.ts';
import { toNfc } from '../engine/base/nfc.ts';
import { nameIn } from '../engine/record/grain-name.ts';
import type { Fan } from './gather/fan.ts';
import { gatherHashes } from './gather/names.ts';
import { canonicalJson, partitionFor } from './gather/placement.ts';
import type { AddItem, ExtractedFrom, KnownFact } from './protocol.ts';

interface Route {
  readonly partition: number;
  /** The partition that placement gives. */
  readonly own: number;
  /** The item as it is sent to `partition`. */
  readonly item: AddItem;
}

interface Source {
  readonly partition: number;
  readonly from: ExtractedFrom;
}

/**
 * Keys for `Turns`: the pairs of subject and relation in these beliefs, with user and namespace. Two calls with a
 * common fact share a key, so they cannot both find the fact unknown.
 */
export function factsOf({ context }: Fan, items: readonly AddItem[]): string[] {
  return items.map(({ fields }) => {
    const user = fields['user_id'] ?? context.userId ?? null;
    const namespace = fields['namespace'] ?? context.namespace ?? 'default';
    const about = [fields['subject'], fields['relation']].map((name) =>
      typeof name === 'string' ? name.trim() : name,
    );
    return toNfc(canonicalJson([context.memory, user, namespace, ...about]));
  });
}

/**
 * Asks every partition once. A partition that does not answer counts as knowing nothing: storing a fact twice is better
 * than losing it.
 */
export async function routesOf(fan: Fan, items: readonly AddItem[]): Promise<Route[]> {
  const places = [...items.keys()];
  const hashes = [...new Set(items.flatMap((item) => sourceOf(item) ?? []))];
  const results = await fan.settle('knownFacts', { items, places, sources: hashes });
  const answers = results.map((result) => (result.status === 'fulfilled' ? result.value : undefined));
  const sources = new Map<string, Source>();
  for (const [partition, answer] of answers.entries())
    for (const [at, from] of (answer?.sources ?? []).entries())
      if (from !== null && !sources.has(hashes[at]!)) sources.set(hashes[at]!, { partition, from });
  const gone = await goneOf(
    fan,
    answers.flatMap((answer) => answer?.facts ?? []),
  );
  return items.map((item, place) => {
    const own = partitionFor(item, fan.partitions, fan.context);
    const source = sources.get(sourceOf(item) ?? '');
    const known = answers.map((answer) => answer?.facts[place]);
    const partition = item.event === 'memory.extracted' ? chosen(known, own, source?.from.textHash) : own;
    const left = known[partition]?.elsewhere?.filter((name) => gone.has(name)) ?? [];
    const routed = itemFor(item, { partition, own, source });
    return { partition, own, item: left.length === 0 ? routed : { ...routed, gone: left } };
  });
}

/**
 * Finds the further sources in other partitions that are gone. A source counts as present if its partition does not
 * answer.
 */
async function goneOf(fan: Fan, facts: readonly KnownFact[]): Promise<ReadonlySet<string>> {
  const names = [...new Set(facts.flatMap(({ elsewhere = [] }) => elsewhere))];
  if (names.length === 0) return new Set();
  try {
    const { hashes } = await gatherHashes(fan, { names });
    return new Set(names.filter((_, at) => hashes[at] === ''));
  } catch (error) {
    if (error instanceof EngineError) return new Set();
    throw error;
  }
}

/**
 * Prefers the first partition with a stored reply for this call, then the belief's own partition if it knows the fact,
 * then the first other one that knows it.
 */
function chosen(known: readonly (KnownFact | undefined)[], own: number, textHash: string | undefined): number {
  const answered = known.findIndex((fact) => fact?.answered === true);
  if (answered >= 0) return answered;
  const knows = (fact: KnownFact | undefined): boolean =>
    fact?.known === true || (textHash !== undefined && fact?.fromTexts.includes(textHash) === true);
  if (knows(known[own])) return own;
  const first = known.findIndex(knows);
  return first < 0 ? own : first;
}

function itemFor(
  item: AddItem,
  { partition, own, source }: { readonly partition: number; readonly own: number; readonly source: Source | undefined },
): AddItem {
  const from =
    source === undefined || source.partition === partition
      ? undefined
      : { ...source.from, name: nameIn(source.partition, source.from.name) };
  return { ...item, ...defined({ source: from, knownOnly: partition === own ? undefined : true }) };
}

function sourceOf({ event, fields: { derived_from: source } }: AddItem): string | undefined {
  if (event !== 'memory.extracted') return undefined;
  return typeof source === 'string' ? source : undefined;
}
