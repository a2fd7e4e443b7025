// The calls behind a memory's metrics. A worker loads them with the first one.
import type { CallContext } from '../../calls/context.ts';
import type { IntelMeasures, MetricCalls, OpsMeasures } from '../../calls/metrics.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { bindingOf } from '../../store/within.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { readInSlices } from '../housekeeping/slices.ts';
import { compareSamples } from './compare.ts';
import { measureIntel } from './intel.ts';
import { measureOps } from './ops.ts';

type Compare = MetricCalls['compareSamples'];

export function opsOf(
  services: { readonly store: Store; readonly queue: WriteQueue },
  memory: Memory,
  context: CallContext,
): Promise<OpsMeasures> {
  return measureOps(services, memory, { binding: bindingOf(memory, context), partition: context.partition });
}

export function intelOf(store: Store, memory: Memory, context: CallContext): Promise<IntelMeasures> {
  const { partition } = context;
  return readInSlices(store, measureIntel(store, memory, { binding: bindingOf(memory, context), partition }));
}

export function comparisonOf(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: Compare['input'],
): Promise<Compare['output']> {
  return readInSlices(store, compareSamples(store, memory, bindingOf(memory, context), input));
}
