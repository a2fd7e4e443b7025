// Reads distinct values of an extractor, and the addresses for set operations, without sending grains.

import { CAL_HELD_BYTES_MAX } from '../../base/limits.ts';
import type { Keyed, PartitionReads } from '../../calls/cal.ts';
import type { CallContext } from '../../calls/context.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { PartDoc } from '../../recall/legs/ordered.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { compareKeys, keyed } from '../run/order.ts';
import { extractedFrom } from '../run/stages.ts';
import { firstPlaces } from './first.ts';
import { openEach } from './open-each.ts';
import { allPlaces, countAll, type Search } from './places.ts';
import { searchFor, TOO_MANY } from './tested.ts';

type Input = PartitionReads['values']['input'];
type Output = PartitionReads['values']['output'];

export function* distinctValues(store: Store, memory: Memory, context: CallContext, input: Input): Sliced<Output> {
  const asked = searchFor(store, memory, context, input);
  if (asked === undefined) return { values: [], total: 0, isCut: false, ...TOO_MANY };
  const { search, tests } = asked;
  const { extractor, order, max } = input;
  const count = countAll(search);
  // Only a selection without tests can be cut: with tests, the number of matches is unknown before grains are opened.
  const isCut = tests.length === 0 && count > max;
  const places = isCut ? firstPlaces(search, order, max) : allPlaces(search);
  if (places === undefined) return { values: [], total: count, isCut, ...TOO_MANY };
  if (extractor === 'hashes' && tests.length === 0 && order.by === 'hash')
    return { values: addressesAt(search, places), total: count, isCut, scanned: 0 };
  const firsts = new Map<string, Keyed & { readonly value: string }>();
  let total = 0;
  let heldBytes = 0;
  const opened = yield* openEach(search, places, { ...input, tests }, (grain) => {
    total += 1;
    const value = extractedFrom(grain, extractor);
    if (value === undefined) return undefined;
    const one = { value, ...keyed(order, grain) };
    const known = firsts.get(value);
    if (known === undefined) heldBytes += value.length * 2;
    if (known === undefined || compareKeys(order, one, known) < 0) firsts.set(value, one);
    return heldBytes > CAL_HELD_BYTES_MAX ? 'full' : undefined;
  });
  if (opened.stopped !== undefined) return { values: [], total, isCut, ...opened };
  const values = [...firsts.values()].sort((a, b) => compareKeys(order, a, b));
  return { values, total: tests.length === 0 ? count : total, isCut, ...opened };
}

function addressesAt({ store, parts }: Search, places: Iterable<PartDoc>): Output['values'] {
  const hashes: string[] = [];
  for (const { part, doc } of places) {
    const hash = store.addressAt(parts[part]!.ordinals[doc]!);
    if (hash !== undefined) hashes.push(hash);
  }
  return hashes.sort().map((hash) => ({ value: `sha256:${hash}`, hash, key: undefined }));
}
