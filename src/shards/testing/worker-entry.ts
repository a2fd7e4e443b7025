// Entry file of the worker threads in tests: real engines with logs on the heap.
import { basename } from 'node:path';
import { Engine } from '../../engine/engine.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import { serveShards } from '../transport/worker.ts';
import { ADD_CODEC, addCodec, MUTE_CODEC, muteCodec } from './add-codec.ts';
import { passGate } from './gate.ts';

/** A shard in a folder of this name simulates a disk that never answers: its writes never end. */
const STUCK = 'stuck';

export default serveShards({
  openEngine: (options, { onBug, betweenGroups }) => {
    const isStuck = basename(options.directory) === STUCK;
    const log = new MemoryLog(new MemoryLogStore(), isStuck ? { commitDelay: () => new Promise(() => undefined) } : {});
    const atGate = (): void => {
      passGate();
      betweenGroups?.();
    };
    return Engine.open({ ...options, log, onFatal: onBug, betweenGroups: atGate });
  },
  codecs: { [ADD_CODEC]: addCodec, [MUTE_CODEC]: muteCodec },
});
