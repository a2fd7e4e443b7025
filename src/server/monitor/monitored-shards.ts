// Shards whose calls a monitor sees: every operation, chat and turn of a harness passes here, over either transport.
import { EngineError } from '../../engine/base/errors.ts';
import type { Input, MemoryCalls, Output } from '../../shards/protocol.ts';
import type { MemoryContext, Shards } from '../shards.ts';
import type { Monitor } from './monitor.ts';

export function monitoredShards(shards: Shards, monitor: Pick<Monitor, 'saw'>): Shards {
  const watched = <T>({ memory }: MemoryContext, call: Promise<T>): Promise<T> =>
    call.catch((error: unknown) => {
      if (error instanceof EngineError && error.code.startsWith('POL-')) monitor.saw('policy_violations', memory);
      throw error;
    });
  return {
    shardCount: shards.shardCount,
    attach: (memories) => shards.attach(memories),
    call: async (method, context, input) => {
      const output = await watched(context, shards.call(method, context, input));
      seen(method, input, output, (burst, acts) => monitor.saw(burst, context.memory, acts));
      return output;
    },
    callRaw: (codec, context, bytes) => watched(context, shards.callRaw(codec, context, bytes)),
    callPartition: (method, context, input) => watched(context, shards.callPartition(method, context, input)),
    health: () => shards.health(),
    verify: () => shards.verify(),
    backup: (directory) => shards.backup(directory),
    rewrapKeys: (masterKeys) => shards.rewrapKeys(masterKeys),
  };
}

/** Counts what a call did. An erasure is one act, however many grains it removes. */
function seen<M extends keyof MemoryCalls>(
  method: M,
  input: Input<M>,
  output: Output<M>,
  count: (burst: 'excessive_forget' | 'excessive_export', acts: number) => void,
): void {
  if (method === 'forget') {
    if (!(input as Input<'forget'>).check) count('excessive_forget', (output as Output<'forget'>).hashes.length);
  } else if (method === 'eraseUser' || method === 'eraseScope') {
    if ((input as Input<'eraseUser'>).check !== true) count('excessive_forget', 1);
  } else if (method === 'note') {
    const { event } = input as Input<'note'>;
    if (event === 'export.file' || event === 'user.data_exported') count('excessive_export', 1);
  }
}
