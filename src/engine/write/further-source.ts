// A known fact that is extracted again gains the new source. The grain's own sources are part of its bytes, so further
// ones are separate records. No new version is made, because callers hold the grain's hash.
import { hash } from 'node:crypto';
import { defined } from '../base/defined.ts';
import { FURTHER_SOURCES_MAX } from '../base/limits.ts';
import type { CallContext } from '../calls/context.ts';
import type { AddItem, ExtractedFrom } from '../calls/grain.ts';
import { parseName } from '../record/grain-name.ts';
import type { Memory } from '../store/memory.ts';
import type { Group } from './group.ts';
import type { PreparedGrain } from './prepare.ts';
import { pseudonym } from './pseudonym.ts';

const GONE = 'the source of a known fact was not recorded, because the source was removed';
const TOO_MANY = `the source of a known fact was not recorded: a fact has at most ${FURTHER_SOURCES_MAX} further sources`;

/**
 * Records that the grain with the address `known` was extracted again, from the source of `prepared`. Returns a warning
 * when the source was not recorded.
 */
export function addFurtherSource(
  group: Group,
  memory: Memory,
  context: CallContext,
  {
    prepared,
    known,
    source: elsewhere,
    gone: goneElsewhere = [],
  }: { readonly prepared: PreparedGrain; readonly known: string } & {
    readonly [M in 'source' | 'gone']: AddItem[M] | undefined;
  },
): string | undefined {
  const source = sourcesOf(prepared.grain)[0];
  const ordinal = group.findOrdinal(memory, known);
  const stored = ordinal === undefined ? undefined : group.read(memory, ordinal);
  if (source === undefined || ordinal === undefined || stored === undefined) return undefined;
  if (sourcesOf(stored.grain).includes(source)) return undefined;
  const from = extractedFrom(group, memory, source) ?? elsewhere;
  if (from === undefined) return GONE;
  const { name } = from;
  const kept = group.furtherSources(memory, ordinal);
  if (kept.some((one) => one.name === name)) return undefined;
  // Callers who may see the grain may then see its sources.
  const { user_id: user, namespace } = stored.grain.fields;
  if (from.userId !== user || from.namespace !== String(namespace)) return undefined;
  if (kept.length >= FURTHER_SOURCES_MAX) {
    const isGone = (old: string): boolean =>
      isElsewhere(old) ? goneElsewhere.includes(old) : group.store.hashOfName(memory, old) === undefined;
    const gone = kept.flatMap(({ sequence, name: old }) => (sequence !== undefined && isGone(old) ? [sequence] : []));
    if (gone.length === 0) return TOO_MANY;
    group.dropFurtherSources(memory, gone);
  }
  group.addFurtherSource(memory, ordinal, name);
  group.audit(memory, {
    event: 'memory.extracted',
    actor: context.actor,
    subject: pseudonym(memory, prepared.userId),
    details: { grain: stored.name, grain_type: stored.grain.type, source: name },
    mark: 'none',
  });
  return undefined;
}

/** The further sources of the grain with that address; undefined when it is not here. */
export function extractedFrom(group: Group, memory: Memory, address: string): ExtractedFrom | undefined {
  const ordinal = group.findOrdinal(memory, address);
  const stored = ordinal === undefined ? undefined : group.read(memory, ordinal);
  if (stored === undefined) return undefined;
  const { user_id: user, namespace } = stored.grain.fields;
  const text = textHash(stored.grain);
  return defined({
    name: stored.name,
    namespace: String(namespace),
    userId: typeof user === 'string' ? user : undefined,
    textHash: text,
  });
}

/** SHA-256 of a grain's text, in hex; undefined when it has none. */
export function textHash({ fields: { content } }: PreparedGrain['grain']): string | undefined {
  return typeof content === 'string' ? hash('sha256', content, 'hex') : undefined;
}

/**
 * Names of the grain's further sources in other partitions, when the grain has as many sources as are stored. Only
 * those partitions know which of them are gone.
 */
export function elsewhereWhenFull(group: Group, memory: Memory, address: string): string[] {
  const ordinal = group.findOrdinal(memory, address);
  const kept = ordinal === undefined ? [] : group.furtherSources(memory, ordinal);
  return kept.length < FURTHER_SOURCES_MAX ? [] : kept.map(({ name }) => name).filter(isElsewhere);
}

function isElsewhere(name: string): boolean {
  return parseName(name)?.partition !== undefined;
}

function sourcesOf({ fields }: PreparedGrain['grain']): string[] {
  const sources = fields['derived_from'];
  return Array.isArray(sources) ? sources.filter((source) => typeof source === 'string') : [];
}
