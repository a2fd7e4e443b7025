// A known grain that was read again gains the source that it was read from. The grain's own sources are part of its bytes, so
// the further ones are records beside it. No new version is made: callers hold the grain's hash.
import type { CallContext } from '../calls.ts';
import { FURTHER_SOURCES_MAX } from '../limits.ts';
import type { Memory } from '../store/memory.ts';
import { pseudonym } from './actor.ts';
import type { Group } from './group.ts';
import type { PreparedGrain } from './prepare.ts';

const ELSEWHERE =
  'a known fact did not gain its new source: the source is not in the partition of the fact (a user_id or session_id keeps them together)';
const TOO_MANY = `a known fact did not gain its new source: ${FURTHER_SOURCES_MAX} further sources of a fact are kept`;

/** Notes that the grain with the address `known` was read again, from the source of `prepared`. A warning, where it is not noted. */
export function addFurtherSource(
  group: Group,
  memory: Memory,
  context: CallContext,
  { prepared, known }: { readonly prepared: PreparedGrain; readonly known: string },
): string | undefined {
  const source = sourcesOf(prepared.grain)[0];
  const ordinal = group.findOrdinal(memory, known);
  const stored = ordinal === undefined ? undefined : group.read(memory, ordinal);
  if (source === undefined || ordinal === undefined || stored === undefined) return undefined;
  if (sourcesOf(stored.grain).includes(source)) return undefined;
  // Names hold ids of keys, which are those of one shard.
  const name = group.nameOf(memory, source);
  const sourceAt = group.findOrdinal(memory, source);
  if (name === undefined || sourceAt === undefined) return ELSEWHERE;
  const kept = group.furtherSources(memory, ordinal);
  if (kept.some((one) => one.name === name)) return undefined;
  const sourceGrain = group.read(memory, sourceAt)?.grain;
  // Callers who may see the grain may then see its sources.
  for (const field of ['user_id', 'namespace'])
    if (sourceGrain === undefined || sourceGrain.fields[field] !== stored.grain.fields[field]) return undefined;
  if (kept.length >= FURTHER_SOURCES_MAX) {
    const gone = kept.flatMap(({ sequence, name: old }) =>
      sequence === undefined || group.store.hashOfName(memory, old) !== undefined ? [] : [sequence],
    );
    if (gone.length === 0) return TOO_MANY;
    group.dropFurtherSources(memory, gone);
  }
  group.addFurtherSource(memory, ordinal, name);
  group.audit(memory, {
    event: 'memory.extracted',
    actor: context.actor,
    subject: pseudonym(memory, prepared.userId),
    details: { grain: stored.name, grain_type: stored.grain.type, source: name },
  });
  return undefined;
}

function sourcesOf({ fields }: PreparedGrain['grain']): string[] {
  const sources = fields['derived_from'];
  return Array.isArray(sources) ? sources.filter((source) => typeof source === 'string') : [];
}
