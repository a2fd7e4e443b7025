// Import jobs: a bounded queue, a few of which run. Every step is a record of the control log, and the uploaded file lies
// beside it, sealed, until the job ends. A start continues what was queued or running.
//
// A job ends in three steps: its end is decided (`ending` of its record), the memory's audit trail tells it, then its
// status shows it. So whoever sees the status finds the entry and its event. A start takes the steps that are left.

import { hash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../engine/base/clock.ts';
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  IMPORT_END_RETRY_MS,
  IMPORT_END_WAIT_MS,
  IMPORT_FILES_BYTES_MAX,
  IMPORT_JOB_KEPT_MS,
  IMPORT_JOBS_KEPT_MAX,
  IMPORT_JOBS_OPEN_MAX,
  IMPORT_JOBS_OPEN_OF_MEMORY_MAX,
  IMPORT_JOBS_RUNNING_MAX,
} from '../../engine/base/limits.ts';
import { KEY_BYTES } from '../../engine/crypto/envelope.ts';
import type { Change } from '../control/group.ts';
import { randomId } from '../control/ids.ts';
import type { MemoryRecord } from '../control/memories.ts';
import type {
  ImportCaller,
  ImportEnding,
  ImportFileRecord,
  ImportJobOptions,
  ImportJobRecord,
} from '../control/records.ts';
import type { ControlStore } from '../control/store.ts';
import type { Logger } from '../log.ts';
import { type FirstChange, madeBefore, UNKEPT } from '../replies.ts';
import type { Shards } from '../shards.ts';
import { Holds, type Person } from './holds.ts';
import { hasEnded, isOver, type JobRun, shardContextOf } from './job.ts';
import { Uploads } from './upload.ts';

export interface NewImport {
  readonly memory: MemoryRecord;
  readonly caller: ImportCaller;
  readonly options: ImportJobOptions;
  readonly fileName: string;
  readonly bytes: Uint8Array;
  /** Tells the trail of the job before it exists. */
  readonly queued: (id: string) => Promise<void>;
  readonly first?: FirstChange;
}

interface Running {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

const COUNTS = { processedChunks: 0, created: 0, duplicates: 0, refused: 0, extracted: 0 };

export class ImportJobs {
  readonly #control: ControlStore;
  readonly #shards: Pick<Shards, 'call'>;
  readonly #clock: Clock;
  readonly #log: Pick<Logger, 'warn' | 'error'>;
  readonly #uploads: Uploads;
  readonly #holds = new Holds();
  readonly #running = new Map<string, Running>();
  readonly #watchers = new Map<string, Set<() => void>>();
  /** Ends that are being recorded, by the job. */
  readonly #telling = new Map<string, Promise<void>>();
  /** Ends that are recorded again after a failure, by the job. */
  readonly #later = new Map<string, NodeJS.Timeout>();
  /** Uploads that are being written: they count as open jobs. */
  readonly #incoming = new Map<string, { readonly memory: number; readonly bytes: number }>();
  /** Runs a job; undefined before the start. */
  #runJob: ((run: JobRun) => Promise<void>) | undefined;
  #isClosed = false;

  constructor(parts: {
    readonly control: ControlStore;
    readonly shards: Pick<Shards, 'call'>;
    readonly clock: Clock;
    readonly log: Pick<Logger, 'warn' | 'error'>;
    /** Folder of the uploaded files. */
    readonly directory: string;
  }) {
    this.#control = parts.control;
    this.#shards = parts.shards;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#uploads = new Uploads(parts.directory);
    // Removing the key of a file ends its job: the job's end, an erasure and the deletion of the memory do so.
    parts.control.watch('importFile', (id, value) => {
      if (value === undefined) void this.#dropped(id);
    });
  }

  /** Runs jobs from now on with `runJob`, those of an earlier server first. */
  async start(runJob: (run: JobRun) => Promise<void>): Promise<void> {
    await this.#uploads.removeOthers(new Set([...this.#control.values('importFile')].map(({ id }) => id)));
    this.#runJob = runJob;
    const ending = [...this.#control.values('importJob')].filter((job) => job.ending !== undefined);
    await Promise.all(ending.map(({ id }) => this.#conclude(id).catch(() => undefined)));
    this.#drive();
  }

  /** Jobs of a memory that are kept, unordered. */
  of({ number }: MemoryRecord): ImportJobRecord[] {
    return [...this.#control.values('importJob')].filter((job) => job.memory === number && !this.#isOld(job));
  }

  find({ number }: MemoryRecord, id: string): ImportJobRecord | undefined {
    const job = this.#control.get('importJob', id);
    return job?.memory === number && !this.#isOld(job) ? job : undefined;
  }

  /**
   * Resolves when no end of a job of the memory is being told, or after a second: whoever has seen the event of an end
   * then finds its status.
   */
  async settled(memory: MemoryRecord): Promise<void> {
    const telling = this.of(memory).flatMap(({ id }) => this.#telling.get(id) ?? []);
    if (telling.length === 0) return;
    const late = new AbortController();
    const enough = delay(IMPORT_END_WAIT_MS, undefined, { signal: late.signal, ref: false }).catch(() => undefined);
    await Promise.race([Promise.allSettled(telling), enough]);
    late.abort();
  }

  /** Jobs of a memory that ended in the last seven days, cancelled ones apart. */
  tally(memory: MemoryRecord): { readonly ended: number; readonly failed: number } {
    const ends = this.of(memory).map(({ status, ending }) => ending?.status ?? status);
    const failed = ends.filter((end) => end === 'failed').length;
    return { failed, ended: failed + ends.filter((end) => end === 'completed').length };
  }

  /** Number of jobs that have not ended. */
  get open(): number {
    return this.#control.count('importFile');
  }

  /**
   * The job, whose record and file are on disk when it resolves. LIM-E001 when too many are open. There is no job when it
   * rejects.
   */
  async create(wanted: NewImport): Promise<ImportJobRecord> {
    const { memory, bytes, queued, first = UNKEPT } = wanted;
    const made = madeBefore(this.#control, 'importJob', first);
    if (made !== undefined) return made;
    this.#checkRoom(memory.number, bytes.length);
    const id = randomId('job');
    this.#incoming.set(id, { memory: memory.number, bytes: bytes.length });
    try {
      const key = randomBytes(KEY_BYTES);
      await this.#uploads.write(id, bytes, key);
      const file: ImportFileRecord = { id, memory: memory.number, bytes: bytes.length, key: key.toString('base64') };
      await queued(id);
      return await this.#control.commit((change) => this.#put(change, { ...wanted, id, file }));
    } catch (error) {
      await this.#uploads.remove(id).catch(() => undefined);
      throw error;
    } finally {
      this.#incoming.delete(id);
      this.#drive();
    }
  }

  #put(
    change: Change,
    { id, memory, file, ...wanted }: NewImport & { id: string; file: ImportFileRecord },
  ): ImportJobRecord {
    const now = this.#control.get('memory', memory.id);
    if (now?.number !== memory.number || now.deleting === true) throw new EngineError('MEM-E003');
    const { caller, options, fileName, first } = wanted;
    const job: ImportJobRecord = {
      id,
      memory: memory.number,
      caller,
      options,
      fileName,
      status: 'queued',
      phase: 'parsing',
      sizeBytes: file.bytes,
      ...COUNTS,
      hashes: [],
      errors: [],
      warnings: [],
      createdAtMs: this.#clock.nowMs(),
    };
    change.put('importFile', file);
    change.put('importJob', job);
    first?.keep(change, id);
    this.#expire(change);
    return job;
  }

  #checkRoom(memory: number, bytes: number): void {
    const open = [...this.#control.values('importFile'), ...this.#incoming.values()];
    const held = open.reduce((sum, one) => sum + one.bytes, bytes);
    if (
      this.#isClosed ||
      open.length >= IMPORT_JOBS_OPEN_MAX ||
      open.filter((one) => one.memory === memory).length >= IMPORT_JOBS_OPEN_OF_MEMORY_MAX ||
      held > IMPORT_FILES_BYTES_MAX
    )
      throw new EngineError('LIM-E001', 'too many imports are waiting: try again later');
  }

  /** Cancels a queued or running job; what it has stored stays. Resolves to the job. IMP-E003 when it has ended. */
  async cancel(id: string): Promise<ImportJobRecord> {
    await this.#control.commit((change) => {
      const job = this.#control.get('importJob', id);
      if (job === undefined) throw new EngineError('IMP-E002');
      const end = job.ending?.status ?? job.status;
      const isBeingCancelled = job.ending?.status === 'cancelled';
      if (isOver(job) && !isBeingCancelled)
        throw new EngineError('IMP-E003', `the import job has ended already: it is ${end}`);
      if (!isBeingCancelled) this.#decide(change, job, { status: 'cancelled' });
    });
    const running = this.#running.get(id);
    running?.abort.abort();
    // A batch that is being stored still counts.
    await running?.ended;
    await this.#holds.stored(id);
    await this.#conclude(id);
    const job = this.#control.get('importJob', id);
    if (job === undefined) throw new EngineError('IMP-E002');
    return job;
  }

  /**
   * Holds back the jobs about a person or under a scope while an erasure runs, or all jobs: resolves when none of them
   * stores. The caller calls what it resolves to afterwards.
   */
  hold(whose?: Person): Promise<() => void> {
    return this.#holds.hold(whose);
  }

  /** Calls `changed` after each recorded step of the job, until the returned function is called. */
  watch(id: string, changed: () => void): () => void {
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(changed));
    return () => {
      watchers.delete(changed);
      if (watchers.size === 0) this.#watchers.delete(id);
    };
  }

  #changed(id: string): void {
    for (const changed of [...(this.#watchers.get(id) ?? [])]) changed();
  }

  #drive(): void {
    while (this.#runJob !== undefined && !this.#isClosed && this.#running.size < IMPORT_JOBS_RUNNING_MAX) {
      const job = this.#next();
      if (job === undefined) return;
      const abort = new AbortController();
      const ended = this.#run(job, this.#runJob, abort.signal).finally(() => {
        this.#running.delete(job.id);
        this.#drive();
      });
      this.#running.set(job.id, { abort, ended });
    }
  }

  /** The oldest job of the memory with the fewest running ones. */
  #next(): ImportJobRecord | undefined {
    const busy = new Map<number, number>();
    for (const id of this.#running.keys()) {
      const memory = this.#control.get('importJob', id)?.memory ?? 0;
      busy.set(memory, (busy.get(memory) ?? 0) + 1);
    }
    const waiting = [...this.#control.values('importFile')].flatMap(({ id }) => {
      const job = this.#control.get('importJob', id);
      return job === undefined || this.#running.has(id) || isOver(job) ? [] : [job];
    });
    const load = ({ memory }: ImportJobRecord): number => busy.get(memory) ?? 0;
    return waiting.sort((one, other) => load(one) - load(other) || one.createdAtMs - other.createdAtMs)[0];
  }

  /** Never rejects. */
  async #run(job: ImportJobRecord, runJob: (run: JobRun) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { id } = job;
    try {
      await this.#record(id, { status: 'running', startedAtMs: job.startedAtMs ?? this.#clock.nowMs() });
      await runJob({
        signal,
        read: () => this.#read(id),
        now: () => this.#control.get('importJob', id) ?? job,
        record: (step) => this.#record(id, step),
        guard: (call) => this.#holds.run(job, { signal, check: () => this.#mustGoOn(id, signal) }, call),
      });
      if (!signal.aborted) await this.#finish(id, { status: 'completed' });
    } catch (error) {
      if (signal.aborted || this.#control.get('importFile', id) === undefined) return;
      await this.#failed(id, error);
    }
  }

  /** Throws unless the job may make a further call. */
  #mustGoOn(id: string, signal: AbortSignal): void {
    signal.throwIfAborted();
    if (this.#control.get('importFile', id) === undefined) throw new Error('the job was removed');
  }

  async #read(id: string): Promise<Uint8Array> {
    const file = this.#control.get('importFile', id);
    if (file === undefined) throw new EngineError('IMP-E002');
    return this.#uploads.read(id, file.bytes, Buffer.from(file.key, 'base64'));
  }

  async #failed(id: string, error: unknown): Promise<void> {
    const known = error instanceof EngineError ? error : new EngineError('SYS-E001', 'internal error');
    // The error of a bug may quote the text.
    if (!(error instanceof EngineError)) this.#log.error({ job: id, err: error }, 'an import failed');
    const { code, message } = known;
    await this.#finish(id, { status: 'failed', error: { code, message } }).catch((reason: unknown) =>
      this.#log.warn({ job: id, err: reason }, 'the end of an import cannot be recorded; the next start repeats it'),
    );
  }

  /** A job whose end is decided keeps its state; counts of a last batch are added. A removed one stays away. */
  async #record(id: string, step: Partial<ImportJobRecord>): Promise<void> {
    await this.#control.commit((change) => {
      const job = this.#control.get('importJob', id);
      if (job === undefined) return;
      const { status, phase, startedAtMs, ...counts } = step;
      change.put('importJob', { ...job, ...(isOver(job) ? counts : step) });
    });
    this.#changed(id);
  }

  async #finish(id: string, end: Pick<ImportEnding, 'status' | 'error'>): Promise<void> {
    await this.#control.commit((change) => {
      const job = this.#control.get('importJob', id);
      if (job !== undefined && !isOver(job)) this.#decide(change, job, end);
    });
    // A failure is in the log, and it is tried again.
    await this.#conclude(id).catch(() => undefined);
  }

  #decide(change: Change, job: ImportJobRecord, end: Pick<ImportEnding, 'status' | 'error'>): void {
    change.put('importJob', { ...job, ending: { ...end, atMs: this.#clock.nowMs() } });
    change.remove('importFile', job.id);
    this.#expire(change);
  }

  /** Tells the decided end of a job, then shows it. After a failure, with which it rejects, it is tried again. */
  #conclude(id: string): Promise<void> {
    const running = this.#telling.get(id);
    if (running !== undefined) return running;
    clearTimeout(this.#later.get(id));
    this.#later.delete(id);
    const telling = this.#tell(id)
      .catch((error: unknown) => {
        this.#log.warn({ job: id, err: error }, 'cannot report the end of an import yet; it will be retried');
        if (!this.#isClosed && this.#control.get('importJob', id)?.ending !== undefined) this.#concludeLater(id);
        throw error;
      })
      .finally(() => this.#telling.delete(id));
    this.#telling.set(id, telling);
    return telling;
  }

  #concludeLater(id: string): void {
    const again = (): void => void this.#conclude(id).catch(() => undefined);
    this.#later.set(id, setTimeout(again, IMPORT_END_RETRY_MS).unref());
  }

  async #tell(id: string): Promise<void> {
    const job = this.#control.get('importJob', id);
    if (job?.ending === undefined) return;
    const { created, duplicates, refused, ending } = job;
    const { status, error } = ending;
    const details = defined({
      job_id: id,
      imported: created,
      duplicates,
      errors: refused,
      code: error?.code,
    });
    const context = { ...shardContextOf(job, this.#clock), idempotency: onceFor(id, status) };
    await this.#shards.call('note', context, { event: `import.${status}`, details });
    await this.#control.commit((change) => {
      const { ending: decided, ...now } = this.#control.get('importJob', id) ?? {};
      if (decided === undefined) return;
      const { atMs, ...end } = decided;
      change.put('importJob', { ...(now as ImportJobRecord), ...end, finishedAtMs: atMs });
    });
    this.#changed(id);
  }

  /** The key of a file is gone, unless the change was undone. */
  async #dropped(id: string): Promise<void> {
    try {
      await this.#control.commit(() => undefined);
      if (this.#control.get('importFile', id) !== undefined) return;
      const job = this.#control.get('importJob', id);
      if (job === undefined || isOver(job)) this.#running.get(id)?.abort.abort();
      await this.#uploads.remove(id);
      this.#changed(id);
    } catch (error) {
      this.#log.warn({ job: id, err: error }, 'cannot remove the file of an import; the next start removes it');
    }
  }

  #isOld({ finishedAtMs }: ImportJobRecord): boolean {
    return finishedAtMs !== undefined && this.#clock.nowMs() - finishedAtMs >= IMPORT_JOB_KEPT_MS;
  }

  /** Removes jobs that ended long ago, and the oldest ended ones above the limit. */
  #expire(change: Change): void {
    const ended = [...this.#control.values('importJob')].filter(hasEnded);
    ended.sort((one, other) => (one.finishedAtMs ?? 0) - (other.finishedAtMs ?? 0));
    const over = ended.length - IMPORT_JOBS_KEPT_MAX;
    for (const [at, job] of ended.entries()) if (at < over || this.#isOld(job)) change.remove('importJob', job.id);
  }

  /** Running jobs stop at their next chunk, and continue at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { abort } of this.#running.values()) abort.abort();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    for (const timer of this.#later.values()) clearTimeout(timer);
    await Promise.allSettled(this.#telling.values());
  }
}

/** A crash after the entry repeats the call: with this key the trail gets one entry. */
function onceFor(id: string, status: string): { readonly key: string; readonly bodyHash: string } {
  return { key: hash('sha256', `import ${id} ends`, 'hex'), bodyHash: hash('sha256', status, 'hex') };
}
