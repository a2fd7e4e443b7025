// Mends a node's copy of a shard that its disk has damaged: the database has all of it. A damaged log is filled again beside the one in
// use, damaged files of segments and vectors are fetched again by the next open, and the shard is opened again then.
import { COPY_AGAIN_FORGOTTEN_MS, COPY_AGAIN_MS, COPY_AGAIN_MS_MAX, COPY_AGAIN_TIMES_MAX } from '../../base/limits.ts';
import type { OwnCopy } from '../../log/postgres/postgres-log.ts';
import type { Store } from '../../store/store.ts';

/** The attempts of a folder, for as long as the process runs. */
interface Past {
  readonly times: number;
  readonly lastMs: number;
  /** Names the damage that was found last. */
  readonly reason: string;
}

/** By folder. */
const pasts = new Map<string, Past>();

const FAILING = `the copy on this disk was damaged more than ${COPY_AGAIN_TIMES_MAX} times: the disk may be failing`;
const WENT_BACK =
  'the log in the database is older than it was: the database was restored to an earlier state, and lacks changes that this node had. Repeat the erasures and revocations made since that state';

interface Damage {
  readonly kind: 'log' | 'files';
  readonly reason: string;
}

export class CopyCare {
  readonly #directory: string;
  readonly #copy: OwnCopy;
  readonly #ending = new AbortController();
  #running: Promise<void> | undefined;
  #state: 'watching' | 'reopening' | 'given up' = 'watching';
  /** Why it was given up. */
  #problem: string | undefined;
  /** Problems of files that another open did not mend. */
  #left: ReadonlySet<string> = new Set();

  /** `directory`: the shard's own. */
  constructor(directory: string, copy: OwnCopy) {
    this.#directory = directory;
    this.#copy = copy;
    // The database has it no better. It may be mended by the next open.
    if (!copy.isWhole) this.#giveUp('the log in the database is damaged in part: restore the database from a backup');
    // The opening filled the copy again nevertheless.
    else if ((this.#past()?.times ?? 0) > COPY_AGAIN_TIMES_MAX) this.#giveUp(FAILING);
    // The shard takes nothing until it is opened again.
    copy.watchFailure((reason) => this.#note(reason));
  }

  /** For the health report: the same text before and after the copy was filled again. */
  get reasons(): readonly string[] {
    const past = this.#past();
    const mended =
      past === undefined
        ? []
        : [`the copy of the shard on this disk was damaged; it is filled again from the database: ${past.reason}`];
    const back = this.#copy.wentBack ? [WENT_BACK] : [];
    return [...mended, ...back, ...(this.#problem === undefined ? [] : [this.#problem])];
  }

  /** True while the copy is damaged and is filled again soon: it lacks what the database has. */
  isMending(store: Pick<Store, 'log'>): boolean {
    if (this.#state === 'reopening' || this.#running !== undefined) return true;
    return this.#state === 'watching' && store.log.damaged !== undefined;
  }

  /** For a shard that is being opened: what is damaged, if another open mends it. */
  damageIn(store: Pick<Store, 'log'> & Files): string | undefined {
    return this.#copy.isWhole ? this.#damageOf(store)?.reason : undefined;
  }

  /**
   * For a shard whose opening failed, and is closed again: true when the copy is damaged, and the next open mends that. However often the
   * disk did it: without its shard, a node is of no use.
   */
  isMendedByOpen(store: Pick<Store, 'log'> & Files): boolean {
    const damage = this.#copy.isWhole ? this.#damageOf(store) : undefined;
    if (damage === undefined) return false;
    this.#note(damage.reason);
    if (damage.kind === 'log') this.#copy.distrust();
    return true;
  }

  /** The shard is open: what is wrong with its files now is built again from the log. */
  opened(store: Store): void {
    if (this.#copy.wentBack) this.#copy.reportedWentBack();
    this.#left = new Set(problemsOf(store));
  }

  /** Looks for damage, and begins to mend it. True while it is mended: nothing is to be built from the log then. */
  run(store: Store): boolean {
    if (this.#state !== 'watching' || this.#running !== undefined) return this.isMending(store);
    const damage = this.#damageOf(store);
    if (damage === undefined) return false;
    const { poisoned, lapsed } = store.log;
    // It is opened again anyway, or cannot be filled now.
    if (poisoned !== undefined || lapsed !== undefined) return true;
    const past = this.#past();
    // The database has the file as it is: it is built again from the log.
    if (damage.kind === 'files' && past?.reason === damage.reason) return false;
    if (past !== undefined && performance.now() < past.lastMs + pauseMs(past)) return true;
    if (past !== undefined && past.times >= COPY_AGAIN_TIMES_MAX) {
      this.#giveUp(FAILING);
      return false;
    }
    this.#note(damage.reason);
    this.#running = this.#mend(damage).finally(() => {
      this.#running = undefined;
    });
    return true;
  }

  /** Resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  /** Never rejects. After a failure, such as of a database that is away, it is tried again. */
  async #mend({ kind }: Damage): Promise<void> {
    try {
      if (kind === 'files') await this.#copy.doubtFiles();
      else {
        // After a crash, too.
        this.#copy.distrust();
        // Without room for both, the next open removes this one and fills another.
        if ((await this.#copy.fillAgain(this.#ending.signal)) === 'damaged') {
          this.#giveUp(
            'the copy of the log on this disk is damaged, and so is the log in the database: restore the database from a backup',
          );
          return;
        }
      }
      if (this.#copy.reopen()) this.#state = 'reopening';
      else this.#giveUp('the copy of the log on this disk is damaged: it is replaced when the node restarts');
    } catch {
      // The past counts it.
    }
  }

  /** The copy is filled again. */
  #note(reason: string): void {
    const times = (this.#past()?.times ?? 0) + 1;
    pasts.set(this.#directory, { times, lastMs: performance.now(), reason });
  }

  #past(): Past | undefined {
    const past = pasts.get(this.#directory);
    if (past === undefined || performance.now() - past.lastMs < COPY_AGAIN_FORGOTTEN_MS) return past;
    pasts.delete(this.#directory);
    return undefined;
  }

  #damageOf(store: Pick<Store, 'log'> & Files): Damage | undefined {
    const { damaged } = store.log;
    if (damaged !== undefined) return { kind: 'log', reason: damaged };
    const reason = problemsOf(store).find((problem) => !this.#left.has(problem));
    return reason === undefined ? undefined : { kind: 'files', reason };
  }

  #giveUp(problem: string): void {
    this.#state = 'given up';
    this.#problem = problem;
  }
}

function pauseMs({ times }: Past): number {
  return Math.min(COPY_AGAIN_MS_MAX, COPY_AGAIN_MS * 2 ** (times - 1));
}

type Files = Partial<Pick<Store, 'index' | 'vectors'>>;

function problemsOf({ index, vectors }: Files): readonly string[] {
  return [...(index?.problems ?? []), ...(vectors?.problems ?? [])];
}
