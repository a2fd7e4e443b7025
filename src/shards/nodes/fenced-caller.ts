// Calls of a server that knows memories, API keys and settings only as long as it has the control log. Once its lease has ended,
// another node may have revoked a key, so nothing that was asked here goes to a shard, wherever that is, and no answer comes back:
// neither for requests, nor for streams that are open, nor for work in the background.
import { EngineError } from '../../engine/base/errors.ts';
import type { Method } from '../protocol.ts';
import type { RawShardCaller } from '../transport/client.ts';

/** `lapsed`: why the server may not ask at the moment; undefined while it may. Calls reject with STO-E002 then. */
export function fencedCaller(caller: RawShardCaller, lapsed: () => string | undefined): RawShardCaller {
  const check = (): void => {
    const reason = lapsed();
    if (reason !== undefined) throw new EngineError('STO-E002', reason);
  };
  /** A refusal is an answer too. */
  const fenced = async <T>(act: () => Promise<T>): Promise<T> => {
    check();
    try {
      return await act();
    } finally {
      check();
    }
  };
  return {
    call: (method, context, input) =>
      tellsOfShard(method) ? caller.call(method, context, input) : fenced(() => caller.call(method, context, input)),
    callRaw: (codec, context, bytes, lane) => fenced(() => caller.callRaw(codec, context, bytes, lane)),
  };
}

/** Health has nothing of a memory, and is wanted most when something is wrong. */
function tellsOfShard(method: Method): boolean {
  return method === 'health';
}
