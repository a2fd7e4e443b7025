// The context in which a job makes its calls: the caller of the job, with the rights that its key has now.
import { steadyMs } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { IMPORT_CALL_MS } from '../../engine/base/limits.ts';
import type { Input, MemoryCalls, Output } from '../../shards/protocol.ts';
import type { RawReply } from '../../shards/transport/codec.ts';
import { includesScope, type Principal } from '../auth/principal.ts';
import type { CallExtras, Context, Services } from '../context.ts';
import type { MemoryRecord } from '../control/memories.ts';
import { UNKEPT } from '../replies.ts';
import { type Guard, type Job, shardContextOf } from './job.ts';

export function jobContext(services: Services, job: Job, guard: Guard): Context {
  const { caller } = job;
  const principal: Principal = { ...caller };
  const call = <M extends keyof MemoryCalls>(
    method: M,
    input: Input<M>,
    extras: CallExtras = {},
  ): Promise<Output<M>> => {
    checkCaller(services, job);
    return guard(() => services.shards.call(method, { ...shardContextOf(job, services.clock), ...extras }, input));
  };
  const callRaw = (codec: number, bytes: Uint8Array, extras: CallExtras = {}): Promise<RawReply> => {
    checkCaller(services, job);
    return guard(() => services.shards.callRaw(codec, { ...shardContextOf(job, services.clock), ...extras }, bytes));
  };
  return {
    services,
    principal,
    requestId: job.id,
    get deadlineMs() {
      return steadyMs(services.clock) + IMPORT_CALL_MS;
    },
    reason: undefined,
    purpose: caller.purpose,
    namespace: caller.namespace,
    userId: caller.userId,
    idempotency: undefined,
    strict: false,
    dryRun: false,
    waitForIndexMs: undefined,
    queryMode: undefined,
    unknown: [],
    warnings: [],
    get memory() {
      return memoryOf(services, job);
    },
    call,
    callRaw,
    once: (work) => work(UNKEPT),
    require: (scope) => {
      if (!includesScope(principal, scope))
        throw new EngineError('AUT-E001', `this call needs a key with the scope ${scope}`);
    },
  };
}

/** A key that was revoked stores nothing more. A token that has ended since does not stop what it began. */
function checkCaller({ keys }: Services, { caller: { keyId } }: Job): void {
  if (keyId !== undefined && !keys.isLive(keyId))
    throw new EngineError('AUT-E004', 'the key of the import was revoked or has expired');
}

function memoryOf({ memories }: Services, { memory }: Job): MemoryRecord {
  const found = memories.byNumber(memory);
  if (found === undefined || found.deleting === true) throw new EngineError('MEM-E003', 'the memory was deleted');
  return found;
}
