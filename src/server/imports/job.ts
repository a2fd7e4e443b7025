// The input of a run of an import job, and the context of its calls on the memory.

import { type Clock, steadyMs } from '../../engine/base/clock.ts';
import { defined } from '../../engine/base/defined.ts';
import { IMPORT_CALL_MS } from '../../engine/base/limits.ts';
import { includesScope } from '../auth/principal.ts';
import type { ImportJobRecord } from '../control/records.ts';
import type { MemoryContext } from '../shards.ts';

export type Job = Pick<ImportJobRecord, 'id' | 'memory' | 'caller'>;

/** Makes a call when it may be made. */
export type Guard = <T>(call: () => Promise<T>) => Promise<T>;

export interface JobRun {
  /** Aborted when the job was cancelled or removed, or the server stops. */
  readonly signal: AbortSignal;
  /** The bytes of the uploaded file. */
  readonly read: () => Promise<Uint8Array>;
  /** The job as recorded now. */
  readonly now: () => ImportJobRecord;
  /** Records a step of the job. */
  readonly record: (step: Partial<ImportJobRecord>) => Promise<void>;
  /** Makes a call of the job when it may: an erasure under way holds it back. */
  readonly guard: Guard;
}

export function hasEnded({ status }: Pick<ImportJobRecord, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}

/** True once the end of the job is decided, though its status may not show it yet. */
export function isOver(job: Pick<ImportJobRecord, 'status' | 'ending'>): boolean {
  return job.ending !== undefined || hasEnded(job);
}

/** The members of a shard call that say who calls. */
export function shardContextOf({ id, memory, caller }: Job, clock: Clock): MemoryContext {
  const { actor, agentId, namespace, userId, purpose } = caller;
  return defined({
    memory,
    actor,
    requestId: id,
    deadlineMs: steadyMs(clock) + IMPORT_CALL_MS,
    owns: includesScope(caller, 'admin') ? (true as const) : undefined,
    agentId,
    namespace,
    userId,
    purpose,
  });
}

/** Resolves like the work; to undefined as soon as the signal is aborted, which may be long before. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
    work.catch(() => undefined);
  }
}
