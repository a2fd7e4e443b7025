// Keeps import jobs from storing while the person that they are about is erased: a chunk that is stored during an erasure
// would make a new key for that person. A backup holds back all jobs: it copies the shards before the control log, and a
// job must not record a chunk there that the copied shards lack.
import { toNfc, toNfkc } from '../../engine/base/nfc.ts';
import type { ImportJobRecord } from '../control/records.ts';
import { unlessAborted } from './job.ts';

/** A person or a scope of a memory. */
export interface Person {
  /** Number of the memory. */
  readonly memory: number;
  readonly userId?: string | undefined;
  /** True for the namespaces of the scope. */
  readonly isWithin?: ((namespace: string) => boolean) | undefined;
}

/** Whether a job may make a further call. */
interface MayGoOn {
  readonly signal: AbortSignal;
  readonly check: () => void;
}

export class Holds {
  readonly #held = new Set<{ readonly whose: Person | undefined; readonly over: Promise<void> }>();
  /** The call that a job makes now, by its id. */
  readonly #storing = new Map<string, { readonly job: ImportJobRecord; readonly done: Promise<void> }>();

  /**
   * Resolves when no job about the person stores; without a person, when no job stores at all. These jobs wait until the
   * returned function is called.
   */
  async hold(whose?: Person): Promise<() => void> {
    let release: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held = { whose, over };
    this.#held.add(held);
    const busy = [...this.#storing.values()].filter(({ job }) => isHeld(job, whose));
    await Promise.all(busy.map(({ done }) => done));
    return () => {
      this.#held.delete(held);
      release();
    };
  }

  /** Runs `work` when nothing holds the job back, or its signal is aborted. `check` throws when it may not go on then. */
  async run<T>(job: ImportJobRecord, { signal, check }: MayGoOn, work: () => Promise<T>): Promise<T> {
    while (!signal.aborted) {
      const held = [...this.#held].find(({ whose }) => isHeld(job, whose));
      if (held === undefined) break;
      await unlessAborted(held.over, signal);
    }
    check();
    const working = work();
    const done = working.then(
      () => undefined,
      () => undefined,
    );
    this.#storing.set(job.id, { job, done });
    try {
      return await working;
    } finally {
      this.#storing.delete(job.id);
    }
  }

  /** Resolves when the job stores nothing. */
  async stored(id: string): Promise<void> {
    await this.#storing.get(id)?.done;
  }
}

function isHeld(job: ImportJobRecord, whose: Person | undefined): boolean {
  return whose === undefined || isAbout(job, whose);
}

/** True when the name of a file has the words of a person's id, one after the other. */
export function namesPerson(fileName: string, userId: string): boolean {
  const words = wordsOf(userId);
  return words !== '' && ` ${wordsOf(fileName)} `.includes(` ${words} `);
}

function wordsOf(text: string): string {
  return toNfkc(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
}

/** A name that keeps the extension alone, which tells the kind of a text. */
export function withoutName(fileName: string): string {
  return `document${/\.[A-Za-z0-9]{1,8}$/.exec(fileName)?.[0] ?? ''}`;
}

/** True for a job whose record or chunks name the person or belong to the scope. */
export function isAbout(
  { memory, caller, options }: Pick<ImportJobRecord, 'memory' | 'caller' | 'options'>,
  person: Person,
): boolean {
  if (memory !== person.memory) return false;
  const { userId, isWithin } = person;
  if (userId !== undefined) {
    const names = [personOf({ caller, options }), caller.userId, caller.actor.replace(/^user:/, '')];
    return names.some((name) => name !== undefined && toNfc(name) === toNfc(userId));
  }
  return isWithin?.(namespaceOf({ caller, options })) === true;
}

/** The namespace of a job's chunks. */
export function namespaceOf({ caller, options }: Pick<ImportJobRecord, 'caller' | 'options'>): string {
  return toNfc(options.namespace ?? caller.namespace ?? 'default');
}

/** The data subject of a job's chunks. */
export function personOf({ caller, options }: Pick<ImportJobRecord, 'caller' | 'options'>): string | undefined {
  const named = options.userId ?? caller.userId;
  return named && toNfc(named);
}
