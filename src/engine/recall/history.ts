import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { VersionView } from '../calls/grain.ts';
import { AnswerRoom } from '../grain/api/answer-room.ts';
import type { Ordinal } from '../index/parts/part.ts';
import { whyGone } from '../store/gone.ts';
import type { Memory } from '../store/memory.ts';
import { refuseRead } from '../store/readable.ts';
import type { Store } from '../store/store.ts';
import { viewGrain } from '../store/view.ts';
import { bindingOf, isBound, isViewed, isWithin } from '../store/within.ts';

/**
 * The chain of versions of a grain, oldest first, from the hash of any member. Labels follow the position in the chain:
 * `original` for the first, `supersedes` for the last, `superseded` between them. Leaves out removed, erased and
 * expired members. Throws MEM-E001, MEM-E006, and POL-E002 or POL-E008 as any read of the named grain does.
 */
export function history(
  store: Store,
  memory: Memory,
  context: CallContext,
  { hash, after, newest }: MemoryCalls['history']['input'],
): MemoryCalls['history']['output'] {
  const ordinal = store.findOrdinal(memory.number, hash);
  const isPart = isBound(bindingOf(memory, context));
  const read = (at: Ordinal) => (isPart ? store.readGrain(memory, at) : store.readNamed(memory, at));
  const named = ordinal === undefined ? undefined : read(ordinal);
  if (ordinal === undefined || named === undefined || !isWithin(context, named.grain))
    throw whyGone(store, memory, context, hash);
  const nowMs = store.clock.nowMs();
  const refusal = refuseRead(memory, context, named.grain, nowMs);
  if (refusal !== undefined) throw refusal;
  const chain = chainOf(store, memory, ordinal);
  const versions: VersionView[] = [];
  const room = new AnswerRoom();
  const versionAt = (i: number): VersionView | undefined => {
    const stored = store.readGrain(memory, chain[i]!);
    if (stored === undefined || !isWithin(context, stored.grain)) return undefined;
    if (refuseRead(memory, context, stored.grain, nowMs) !== undefined) return undefined;
    const { hash: address, grainType, fields, createdAt } = viewGrain(store, memory, stored, context);
    const relation = i === 0 ? 'original' : i === chain.length - 1 ? 'supersedes' : 'superseded';
    return { hash: address, grainType, fields, createdAt, relation };
  };
  if (newest !== undefined) {
    for (let i = chain.length - 1; i >= 0 && versions.length < newest; i -= 1) {
      const version = versionAt(i);
      if (version === undefined) continue;
      if (!room.takes(version.fields)) break;
      versions.push(version);
    }
    return { versions: versions.reverse() };
  }
  for (let i = placeAfter(store, memory, context, chain, after); i < chain.length; i += 1) {
    const version = versionAt(i);
    if (version === undefined) continue;
    if (!room.takes(version.fields)) return { versions, next: versions.at(-1)!.hash };
    versions.push(version);
  }
  return { versions };
}

/** Throws VAL-E004 for a version outside the chain or invisible to the caller. The caller cannot tell which. */
function placeAfter(
  store: Store,
  memory: Memory,
  context: CallContext,
  chain: readonly Ordinal[],
  after: string | undefined,
): number {
  if (after === undefined) return 0;
  const ordinal = store.findOrdinal(memory.number, after);
  const stored = ordinal === undefined ? undefined : store.readGrain(memory, ordinal);
  const isSeen =
    stored !== undefined && isWithin(context, stored.grain) && isViewed(bindingOf(memory, context), stored.grain);
  const at = !isSeen ? -1 : chain.indexOf(stored.ordinal);
  if (at < 0)
    throw new EngineError('VAL-E004', 'bad cursor', { details: [{ field: 'cursor', issue: 'no such version' }] });
  return at + 1;
}

/** The chain, oldest first. Ordinals may descend: an import file can hold a new version before the old one. */
function chainOf(store: Store, memory: Memory, ordinal: Ordinal): Ordinal[] {
  const chain: Ordinal[] = [ordinal];
  const seen = new Set(chain);
  const meet = (at: Ordinal): void => {
    assert(!seen.has(at), 'a chain of versions has two ends');
    seen.add(at);
    chain.push(at);
  };
  for (let at = ordinal; ; ) {
    const earlier = store.status.predecessor(memory.number, at)?.oldOrdinal;
    if (earlier === undefined) break;
    meet(earlier);
    at = earlier;
  }
  chain.reverse();
  for (let at = ordinal; ; ) {
    const later = store.status.supersession(memory.number, at)?.newOrdinal;
    if (later === undefined) break;
    meet(later);
    at = later;
  }
  return chain;
}
