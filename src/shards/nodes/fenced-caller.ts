// Calls of a server that knows memories, API keys and settings only as long as it has the control log, or a copy of it that is
// fresh. Afterwards another node may have revoked a key, so nothing goes to a shard, wherever that is, and nothing that was read comes
// back: neither for requests, nor for streams that are open, nor for work in the background.
//
// The answer of a change passes. The key was live when the change left, and it took effect then or not at all; the shard's owner
// says which. To refuse the answer would undo nothing.
import { EngineError } from '../../engine/base/errors.ts';
import { CALL_ROWS, type Method } from '../protocol.ts';
import type { RawShardCaller } from '../transport/client.ts';

/**
 * `lapsed`: why the server may not ask at the moment; undefined while it may. Calls reject with STO-E002 then, as `isElsewhere` if
 * they were not sent.
 */
export function fencedCaller(caller: RawShardCaller, lapsed: () => string | undefined): RawShardCaller {
  const check = (isElsewhere: boolean): void => {
    const reason = lapsed();
    if (reason !== undefined) throw new EngineError('STO-E002', reason, { isElsewhere });
  };
  const change = async <T>(act: () => Promise<T>): Promise<T> => {
    check(true);
    return act();
  };
  /** A refusal is an answer too. */
  const read = async <T>(act: () => Promise<T>): Promise<T> => {
    check(true);
    try {
      return await act();
    } finally {
      check(false);
    }
  };
  return {
    call: (method, context, input) => {
      const act = () => caller.call(method, context, input);
      if (tellsOfShard(method)) return act();
      return changes(method, input) ? change(act) : read(act);
    },
    callRaw: (codec, context, bytes, lane) => {
      const act = () => caller.callRaw(codec, context, bytes, lane);
      return lane === 'write' ? change(act) : read(act);
    },
  };
}

/** Health has nothing of a memory, and is wanted most when something is wrong. */
function tellsOfShard(method: Method): boolean {
  return method === 'health';
}

/** True for a call whose answer tells what it did. One that leaves an entry in the trail tells what it read, and so does a check. */
function changes(method: Method, input: object): boolean {
  if ('check' in input && input.check === true) return false;
  const row = CALL_ROWS[method];
  return row.kind === 'write' || (row.kind === 'long' && row.changes !== 'nothing');
}
