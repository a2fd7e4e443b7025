// Gets the vector of a question in bounded time; otherwise the recall uses only words and warns. The embedder is the
// one whose vectors currently answer for the memory, which differs from the memory's own while that is catching up.

import {
  EMBED_TEXT_CHARS_MAX,
  MEMORIES_MAX,
  QUERY_VECTOR_SHORT_FOR_MS,
  QUERY_VECTOR_SHORT_WAIT_MS,
  QUERY_VECTOR_WAIT_MS,
  VECTORS_LOADING_LOOK_MS,
  VECTORS_LOADING_WAIT_MS,
} from '../../engine/base/limits.ts';
import { packVectors } from '../../engine/index/vectors/transfer.ts';
import type { Output, RecallQuery } from '../../shards/protocol.ts';
import type { MemoryRecord } from '../control/records.ts';
import { type Departure, type Destination, type HasGrants, leavingFor } from '../models/egress.ts';
import { personsOf } from '../models/persons.ts';
import type { Embedders, NamedEmbedder } from './embedders.ts';

export interface QueryVector {
  /** Absent without vectors, and for a text without one. */
  readonly vector?: NonNullable<RecallQuery['vector']> | undefined;
  /** Why the answer is based on words only. */
  readonly warning?: string | undefined;
}

export interface QueryVectorsOptions {
  readonly embedders: Pick<Embedders, 'of' | 'nameOf' | 'named' | 'status' | 'destinationOf'>;
  /** The embedders whose vectors answer for a memory, and the number of grains without vectors. */
  readonly stateOf: (memory: number) => Promise<Output<'vectorState'>>;
  /** How the memory's questions may be sent there; undefined: not at all. */
  readonly departure: (memory: MemoryRecord, destination: Destination | undefined) => Departure | undefined;
  readonly hasGrants: HasGrants;
  /** Monotonic milliseconds. */
  readonly nowMs?: (() => number) | undefined;
  /** Calls `run` once after so many milliseconds; the result cancels it. */
  readonly after?: ((ms: number, run: () => void) => () => void) | undefined;
}

/** A question, and whose it is; without `userId` nobody's. */
export interface Question {
  readonly text: string;
  readonly userId?: string | undefined;
}

export class QueryVectors {
  readonly #options: QueryVectorsOptions;
  /**
   * By memory: name of its own embedder, once only that one's vectors answer. It stays valid as long as the embedder
   * does.
   */
  readonly #settled = new Map<number, string>();
  readonly #nowMs: () => number;
  /** By backend: until when its queries get a short timeout, after one timed out. */
  readonly #shortUntilMs = new Map<string, number>();

  constructor(options: QueryVectorsOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  /**
   * True when the memory's own embedder is open, its vectors answer, and it does not matter whose question it is: no query
   * to the shard is needed, and the request can be passed on unchanged.
   */
  isSettled(memory: MemoryRecord): boolean {
    const { embedders, departure } = this.#options;
    const { vectorBackend = '', number } = memory;
    const own = embedders.of(vectorBackend);
    if (own === undefined || this.#settled.get(number) !== own.name) return false;
    if (embedders.nameOf(vectorBackend) !== 'remote') return true;
    const found = departure(memory, embedders.destinationOf(vectorBackend));
    return found === undefined || !('withGrants' in found);
  }

  /** Never rejects. Waits at most `waitMs`, also for an embedder that ignores its signal. */
  async of(memory: MemoryRecord, question: Question, waitMs: number): Promise<QueryVector> {
    const backend = memory.vectorBackend ?? '';
    const isShort = (this.#shortUntilMs.get(backend) ?? 0) > this.#nowMs();
    const mostMs = isShort ? QUERY_VECTOR_SHORT_WAIT_MS : QUERY_VECTOR_WAIT_MS;
    const given = new AbortController();
    const late = Promise.withResolvers<never>();
    const { after = afterByTimer } = this.#options;
    const takeBack = after(Math.max(1, Math.min(waitMs, mostMs)), () => {
      given.abort();
      late.reject(given.signal.reason);
    });
    try {
      const made = await Promise.race([this.#made(memory, question, waitMs, given.signal), late.promise]);
      if (isShort && made.vector !== undefined) this.#shortUntilMs.delete(backend);
      return made;
    } catch {
      // A hanging embedder must not cost every recall the full wait. A caller's own short timeout proves nothing.
      if (given.signal.aborted && !isShort && waitMs >= mostMs)
        this.#shortUntilMs.set(backend, this.#nowMs() + QUERY_VECTOR_SHORT_FOR_MS);
      return wordsAlone(`the embedder ${given.signal.aborted ? 'did not answer in time' : 'is out of order'}`);
    } finally {
      takeBack();
    }
  }

  async #made(memory: MemoryRecord, question: Question, waitMs: number, signal: AbortSignal): Promise<QueryVector> {
    const { embedders } = this.#options;
    const backend = memory.vectorBackend ?? '';
    const name = embedders.nameOf(backend);
    if (name === 'none') return {};
    const own = embedders.of(backend);
    if (own !== undefined && this.#settled.get(memory.number) === own.name)
      return this.#embedded(
        memory,
        question,
        [{ backend: name, embedder: own, destination: embedders.destinationOf(backend) }],
        signal,
      );
    const { serving, lag, loading } = await this.#stateOf(memory.number, waitMs, signal);
    if (serving.length === 0 && lag === 0) return {};
    if (own === undefined && serving.length === 0) return wordsAlone(this.#failure(backend));
    if (serving.length === 0) return wordsAlone('the memory is still to be embedded');
    const isSettled = loading !== true && serving.every((stamp) => stamp.name === own?.name);
    if (own !== undefined && isSettled) this.#settle(memory.number, own.name);
    const found = await Promise.all(serving.map((stamp) => embedders.named(stamp.name)));
    const chosen = found.filter((one) => one !== undefined);
    if (chosen.length > 0) return this.#embedded(memory, question, chosen, signal);
    return wordsAlone(own === undefined ? this.#failure(backend) : GONE);
  }

  /**
   * Finds whose vectors answer, once they are loaded or half of the time is over; then the shard answers by words, and
   * reports it.
   */
  async #stateOf(memory: number, waitMs: number, signal: AbortSignal): Promise<Output<'vectorState'>> {
    const { stateOf, after = afterByTimer } = this.#options;
    const mostMs = Math.min(VECTORS_LOADING_WAIT_MS, waitMs / 2);
    for (let waitedMs = 0; ; waitedMs += VECTORS_LOADING_LOOK_MS) {
      const state = await stateOf(memory);
      if (state.loading !== true || signal.aborted || waitedMs >= mostMs) return state;
      await new Promise<void>((resolve) => after(VECTORS_LOADING_LOOK_MS, resolve));
    }
  }

  /** The text's vector from the first embedder, plus those of other embedders that partitions may still use. */
  async #embedded(
    memory: MemoryRecord,
    { text, userId }: Question,
    chosen: readonly NamedEmbedder[],
    signal: AbortSignal,
  ): Promise<QueryVector> {
    const { departure, hasGrants } = this.#options;
    const persons = personsOf([{ userId }]);
    const all = await Promise.all(
      chosen.map(async ({ backend, embedder, destination }) => {
        if (backend !== 'remote') return [{ embedder, sent: text }];
        const found = departure(memory, destination);
        const leaving = found && (await leavingFor(memory, found, { persons, hasGrants }));
        // Services get no more of the text than this.
        return leaving === undefined ? [] : [{ embedder, sent: leaving(text.slice(0, EMBED_TEXT_CHARS_MAX)) }];
      }),
    );
    const allowed = all.flat();
    if (allowed.length === 0) return wordsAlone(KEPT);
    const made = await Promise.all(
      allowed.map(async ({ embedder, sent }) => {
        const [vector] = await embedder.embed([sent], { priority: 'query', signal });
        return vector === undefined ? [] : [{ bytes: packVectors([vector]), embedder: embedder.name }];
      }),
    );
    const [first, ...also] = made.flat();
    if (first === undefined) return {};
    const vector = { ...first, of: text };
    return { vector: also.length === 0 ? vector : { ...vector, also } };
  }

  #settle(memory: number, name: string): void {
    // Entries of deleted memories would stay forever, because numbers are not reused.
    if (this.#settled.size >= MEMORIES_MAX) this.#settled.clear();
    this.#settled.set(memory, name);
  }

  #failure(backend: string): string {
    const { state } = this.#options.embedders.status(backend);
    return `the embedder is ${state === 'failed' ? 'out of order' : 'being loaded'}`;
  }
}

const GONE = "the memory's vectors are of an embedder that this deployment no longer has";
const KEPT = "the memory's questions may not be sent to the service that made its vectors";

/** The warning of a recall that used no vectors. */
function wordsAlone(reason: string): { readonly warning: string } {
  return { warning: `found by words alone: ${reason}` };
}

/** The warning for an answer whose shard reports `vectorsBehind`. */
export const VECTORS_NOT_READY = wordsAlone("the memory's vectors are not ready yet").warning;

function afterByTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
