// Beliefs read from texts, give me the partition that each goes to. A belief whose fact is known goes to the partition that knows it,
// which then gains the source; any other goes where placement says.
import { EngineError } from '../engine/base/errors.ts';
import { toNfc } from '../engine/base/nfc.ts';
import { nameIn } from '../engine/record/grain-name.ts';
import type { Fan } from './gather/fan.ts';
import { gatherHashes } from './gather/names.ts';
import { canonicalJson, partitionFor } from './gather/placement.ts';
import type { AddItem, ExtractedFrom, KnownFact } from './protocol.ts';

interface Route {
  readonly partition: number;
  /** Where placement says. */
  readonly own: number;
  /** As it goes to `partition`. */
  readonly item: AddItem;
}

interface Source {
  readonly partition: number;
  readonly from: ExtractedFrom;
}

/** What these beliefs are about: two calls with a fact in common must not both find it unknown. */
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

/** Asks every partition once. One that does not answer knows nothing: to store a fact twice is better than not at all. */
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

/** Which further sources that facts have in other partitions are gone. Of one whose partition does not answer nobody knows. */
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

/** The first that has answered this very call, else the own one where it knows the fact, else the first that does. */
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
  return {
    ...item,
    ...(from === undefined ? {} : { source: from }),
    ...(partition === own ? {} : { knownOnly: true as const }),
  };
}

function sourceOf({ event, fields: { derived_from: source } }: AddItem): string | undefined {
  if (event !== 'memory.extracted') return undefined;
  return typeof source === 'string' ? source : undefined;
}
