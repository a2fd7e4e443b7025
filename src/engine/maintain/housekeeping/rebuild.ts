// Rebuilds the shard's indexes from the log next to those in use, and swaps them in one transaction.
import { rmSync } from 'node:fs';
import { EngineError } from '../../base/errors.ts';
import { TAIL_GRAINS_SEAL } from '../../base/limits.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { ShardIndex } from '../../index/shard-index.ts';
import type { Log } from '../../log/log.ts';
import { damageState } from '../../store/state-names.ts';
import type { Store } from '../../store/store.ts';
import type { WriteQueue } from '../../write/queue.ts';
import type { Housekeeper } from './housekeeper.ts';
import { renewLostKeys } from './lost-keys.ts';
import { type Replayed, replayAfter } from './replay.ts';
import { SEGMENTS_STATE, segmentsDirectory } from './segments-directory.ts';
import { inSlices } from './slices.ts';

export interface RebuildServices {
  readonly store: Store;
  readonly queue: WriteQueue;
  readonly housekeeper: Housekeeper;
  /** The shard's own folder. */
  readonly directory: string;
  /** Opens an empty index in `directory`, with its state stored in `log`. */
  openIndex(directory: string, log: Pick<Log, 'getState' | 'scanState'>): ShardIndex;
  /** The log on disk is damaged, and is filled again from a database: what is built from it would lack something. */
  readonly isCopyDamaged: () => boolean;
}

/**
 * Reads every record of the shard again. The answer counts the grains of `memory`, whose vectors are made again. The
 * old segments serve reads, and writes continue, until the new ones have caught up.
 */
export async function rebuild(
  services: RebuildServices,
  memory: number,
): Promise<MemoryCalls['rebuildIndexes']['output']> {
  const { store, queue, housekeeper } = services;
  const startedMs = performance.now();
  const repaired = await renewLostKeys(services);
  await housekeeper.pause();
  const number = Number(Buffer.from(store.log.getState(SEGMENTS_STATE) ?? '0').toString()) + 1;
  const directory = segmentsDirectory(services.directory, number);
  rmSync(directory, { recursive: true, force: true });
  const state = new StagedState();
  const fresh = services.openIndex(directory, state);
  try {
    const replayed = await fillToEnd(services, fresh, state);
    if (services.isCopyDamaged())
      throw new EngineError(
        'STO-E001',
        'the copy of the log on this disk is damaged and is being replaced: try again later',
        {
          retryable: true,
        },
      );
    const old = store.index;
    // The swap: pages and manifest of the new index become the shard's, and records written meanwhile are replayed at
    // once.
    const sound = repaired.filter((number) => store.damage.has(number));
    const damaged = store.damage.states().filter(([key]) => !sound.some((number) => key === damageState(number)));
    await queue.commitState([
      ...state.entries(),
      [SEGMENTS_STATE, Buffer.from(String(number))],
      ...sound.map((number) => [damageState(number), null] as const),
      ...damaged,
    ]);
    store.damage.repaired(sound);
    store.damage.committed(damaged);
    const rest = runToEnd(replayAfter(store, fresh, old.publishedSequence + 1));
    fresh.takeReads(old);
    store.index = fresh;
    const oldDirectory = segmentsDirectory(services.directory, number - 1);
    old.close();
    rmSync(oldDirectory, { recursive: true, force: true });
    const grains = fresh.memory(memory).parts.reduce((sum, part) => sum + part.docCount, 0);
    // The embedder makes them again after the answer. A repair keeps them, as they have checksums of their own.
    if (store.holds(memory)) {
      await inSlices(store.vectors.rebuild(memory));
      store.vectorsBehind.add(memory);
    }
    return {
      grainsScanned: grains,
      ftsIndexed: grains,
      vectorsIndexed: store.vectors.count(memory),
      errors: replayed.errors + rest.errors,
      elapsedMs: Math.round(performance.now() - startedMs),
    };
  } catch (error) {
    if (store.index !== fresh) {
      fresh.close();
      // After a failed sync the log may name the folder: the next open keeps or deletes it.
      if (store.log.poisoned === undefined) rmSync(directory, { recursive: true, force: true });
    }
    throw error;
  } finally {
    housekeeper.resume();
  }
}

/**
 * Fills the new index again and again while that shortens what it lacks, and a last time while seals pause: writes stop
 * when the tails are full, so what is left after it is short.
 */
async function fillToEnd(
  { store, housekeeper }: RebuildServices,
  fresh: ShardIndex,
  state: StagedState,
): Promise<Replayed> {
  const total: Replayed = { grains: 0, errors: 0 };
  const fillOnce = async (): Promise<number> => {
    const { grains, errors } = await inSlices(fill(store, fresh, state));
    total.grains += grains;
    total.errors += errors;
    return store.index.publishedSequence - fresh.publishedSequence;
  };
  for (let lacks = Number.POSITIVE_INFINITY; ; ) {
    const left = await fillOnce();
    if (left < TAIL_GRAINS_SEAL || left * 2 > lacks) break;
    lacks = left;
  }
  await housekeeper.pauseSeals();
  await fillOnce();
  return total;
}

/**
 * Replays everything that was published when it began, sealing on the way. Always ends with a seal: the shard's state must name the new segments, not those about to be deleted.
 */
function* fill(store: Store, fresh: ShardIndex, state: StagedState): Generator<void, Replayed, void> {
  const steps = replayAfter(store, fresh, undefined);
  for (;;) {
    const step = steps.next();
    if (step.done === true || fresh.tailGrains >= TAIL_GRAINS_SEAL) {
      const change = yield* fresh.seal(fresh.publishedSequence);
      state.put(change.state);
      fresh.commit(change);
    }
    if (step.done === true) return step.value;
    yield;
  }
}

function runToEnd<T>(work: Iterator<void, T, void>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** State entries of an index that is not in force yet. */
class StagedState {
  readonly #entries = new Map<string, Uint8Array>();

  put(entries: readonly (readonly [string, Uint8Array | null])[]): void {
    for (const [key, value] of entries) {
      if (value === null) this.#entries.delete(key);
      else this.#entries.set(key, value);
    }
  }

  entries(): [string, Uint8Array][] {
    return [...this.#entries];
  }

  getState(key: string): Uint8Array | undefined {
    return this.#entries.get(key);
  }

  *scanState(prefix: string): IterableIterator<readonly [string, Uint8Array]> {
    for (const entry of this.#entries) if (entry[0].startsWith(prefix)) yield entry;
  }
}
