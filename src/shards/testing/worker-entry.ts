// Entry file of the worker threads in tests: real engines with logs on the heap.
import { basename } from 'node:path';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import { openEngine } from '../../engine/open.ts';
import { serveShards } from '../transport/worker.ts';
import { ADD_CODEC, addCodec, MUTE_CODEC, muteCodec } from './add-codec.ts';
import { passGate, reachedGate } from './gate.ts';

/** A shard in a folder of this name simulates a disk that never answers: its writes never end. */
const STUCK = 'stuck';
/** In a folder of this name, the commit that meets a closed gate ends when the engine is asked to close, and not before. */
const LATE = 'late';

export default serveShards({
  openEngine: async (options, { onBug, betweenGroups }) => {
    const closing = Promise.withResolvers<void>();
    const delays: Readonly<Record<string, () => Promise<void>>> = {
      [STUCK]: () => new Promise(() => undefined),
      [LATE]: async () => (reachedGate() === undefined ? undefined : closing.promise),
    };
    const log = new MemoryLog(new MemoryLogStore(), { commitDelay: delays[basename(options.directory)] });
    const atGate = (): void => {
      passGate();
      betweenGroups?.();
    };
    const engine = await openEngine({ ...options, log, onFatal: onBug, betweenGroups: atGate });
    const close = engine.close.bind(engine);
    engine.close = () => {
      closing.resolve();
      return close();
    };
    return engine;
  },
  codecs: { [ADD_CODEC]: addCodec, [MUTE_CODEC]: muteCodec },
});
