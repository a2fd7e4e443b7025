// The embedders of a deployment, by the names that memories use. Each opens on first use, so a server without vectors
// loads no model.

import { BUILTIN_INT8_NAME, BUILTIN_NAME } from '../../embed/builtin/builtin.ts';
import { type CachedEmbedder, cachedQueries } from '../../embed/cached-queries.ts';
import type { Embedder } from '../../embed/embedder.ts';
import { NGRAM_NAME } from '../../embed/ngram.ts';
import { REMOTE_NAME_START } from '../../embed/remote/remote.ts';
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { EMBEDDER_REOPEN_MS } from '../../engine/base/limits.ts';
import type { Logger } from '../log.ts';
import type { Destination } from '../models/egress.ts';
import {
  EARLIER_WORDS,
  type ModelBackend,
  modelBackend,
  modelOfBackend,
  plainBackend,
  VECTOR_BACKENDS,
  type VectorBackend,
} from './backends.ts';

export interface OpenedEmbedder {
  readonly embedder: Embedder;
  /** Why a fallback was opened. */
  readonly fallback?: string | undefined;
  /** Where it sends texts; absent: it runs in this process. */
  readonly destination?: Destination | undefined;
}

/** An embedder with what decides about its texts. */
export interface NamedEmbedder {
  readonly backend: VectorBackend;
  readonly embedder: Embedder;
  readonly destination?: Destination | undefined;
}

type Open = () => Promise<OpenedEmbedder>;

/** How to open each configured backend; the others are absent. */
export interface Openers extends Partial<Record<Exclude<(typeof VECTOR_BACKENDS)[number], 'none'>, Open>> {
  /** By the model's name; undefined when there is no folder of that name. */
  readonly model?: (name: string) => Open | undefined;
}

/** How to open the embedder that made vectors of this name before another took its place; undefined when it is gone. */
export type OpenEarlier = (name: string) => Open | undefined;

/** Status of the default embedder for stats and /config. */
export interface EmbedderStatus {
  /** The embedder's name once open, before that the backend's. */
  readonly backend: string;
  /** 0 until it is open. */
  readonly dimensions: number;
  readonly state: 'none' | 'cold' | 'opening' | 'ready' | 'failed';
  /** Why it failed, or what it replaces. */
  readonly reason?: string | undefined;
}

interface CachedOpened extends OpenedEmbedder {
  readonly embedder: CachedEmbedder;
}

interface Slot {
  opened?: CachedOpened | undefined;
  opening?: Promise<void> | undefined;
  reason?: string | undefined;
  failedMs?: number | undefined;
  /** Another embedder has taken its place. */
  replaced?: true;
}

export class Embedders {
  #own: VectorBackend;
  #openers: Openers;
  readonly #log: Pick<Logger, 'warn' | 'info'>;
  readonly #nowMs: () => number;
  readonly #slots = new Map<VectorBackend, Slot>();
  readonly #openEarlier: OpenEarlier;
  /** Embedders that were replaced, by name: they answer questions while their vectors do. */
  readonly #earlier = new Map<string, Promise<CachedOpened | undefined>>();
  #closed = false;

  constructor(
    own: VectorBackend,
    openers: Openers,
    {
      log,
      nowMs = () => performance.now(),
      openEarlier = () => undefined,
    }: {
      log: Pick<Logger, 'warn' | 'info'>;
      nowMs?: (() => number) | undefined;
      openEarlier?: OpenEarlier | undefined;
    },
  ) {
    this.#openEarlier = openEarlier;
    this.#own = own;
    this.#openers = openers;
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /**
   * Another embedder takes the place of `replaced`, or another backend is the default. Texts on their way to the old
   * one are refused, so that none goes where it must no longer go.
   */
  reconfigure(own: VectorBackend, openers: Openers, replaced: Exclude<VectorBackend, 'none'> | undefined): void {
    this.#own = own;
    this.#openers = openers;
    this.#closeEarlier();
    if (replaced === undefined) return;
    const slot = this.#slots.get(replaced);
    this.#slots.delete(replaced);
    if (slot === undefined) return;
    slot.replaced = true;
    void slot.opened?.embedder.close();
  }

  #closeEarlier(): void {
    for (const opening of this.#earlier.values()) void opening.then((opened) => opened?.embedder.close());
    this.#earlier.clear();
  }

  /**
   * The open embedder for a memory's `vector_backend`. Undefined for `none`, for an unconfigured one, and for one that
   * is still opening; the call starts that.
   */
  of(backend: string): Embedder | undefined {
    const name = this.#resolve(backend);
    if (name === 'none' || this.#closed) return undefined;
    const slot = this.#slot(name);
    if (slot.opened === undefined) this.#open(name, slot);
    return slot.opened?.embedder;
  }

  /** The same, but waits for it to open. Undefined when it cannot open. */
  async ready(backend: string): Promise<Embedder | undefined> {
    const found = this.of(backend);
    const name = this.#resolve(backend);
    if (found !== undefined || name === 'none') return found;
    await this.#slots.get(name)?.opening;
    return this.#slots.get(name)?.opened?.embedder;
  }

  /** The names that memories may use for a backend: its own, earlier ones, and '' for the deployment's default. */
  namesOf(backend: VectorBackend): readonly string[] {
    const earlier = Object.keys(EARLIER_WORDS).filter((word) => EARLIER_WORDS[word] === backend);
    return backend === this.#own ? [backend, ...earlier, ''] : [backend, ...earlier];
  }

  /** A key ended: no vector of a question is kept, because its words may have been those of a person. */
  forgetQueries(): void {
    for (const { opened } of this.#slots.values()) opened?.embedder.forgetQueries();
    for (const opening of this.#earlier.values()) void opening.then((opened) => opened?.embedder.forgetQueries());
  }

  /** Where the embedder of a backend sends texts; undefined while it is not open, or when it sends none. */
  destinationOf(backend: string): Destination | undefined {
    return this.#slots.get(this.#resolve(backend))?.opened?.destination;
  }

  /** The name for a memory's `vector_backend`, resolving the deployment's default. */
  nameOf(backend: string): VectorBackend {
    return this.#resolve(backend);
  }

  /**
   * The embedder that made vectors of this name, with its backend; opened if necessary. Undefined when this deployment
   * no longer has it.
   */
  async named(name: string): Promise<NamedEmbedder | undefined> {
    for (const [backend, { opened }] of this.#slots) if (opened?.embedder.name === name) return { backend, ...opened };
    const backend = likelyBackend(name);
    if (backend === undefined) return undefined;
    if (this.#opener(backend) !== undefined && (await this.ready(backend))?.name === name) {
      const opened = this.#slots.get(backend)?.opened;
      if (opened !== undefined) return { backend, ...opened };
    }
    const earlier = await this.#earlierNamed(name);
    return earlier === undefined ? undefined : { backend, ...earlier };
  }

  /** An embedder that was replaced. It never embeds grains: its backend has another one now. */
  #earlierNamed(name: string): Promise<CachedOpened | undefined> {
    let opening = this.#earlier.get(name);
    if (opening === undefined && !this.#closed) {
      opening = this.#openEarlier(name)?.().then(
        (opened) => ({ ...opened, embedder: cachedQueries(opened.embedder) }),
        () => undefined,
      );
      if (opening !== undefined) this.#earlier.set(name, opening);
    }
    return opening ?? Promise.resolve(undefined);
  }

  /** Throws VAL-E001 for a `vector_backend` that this deployment does not have. */
  check(backend: string): void {
    const name = this.#resolve(backend);
    if (name === 'none' || this.#opener(name) !== undefined) return;
    const issue = `is not configured in this deployment${adviceOn(name)}`;
    throw new EngineError('VAL-E001', `\`vector_backend\` ${issue}`, { details: [{ field: 'vector_backend', issue }] });
  }

  /** True if this deployment has the backend. */
  has(backend: Exclude<VectorBackend, 'none'>): boolean {
    return this.#opener(backend) !== undefined;
  }

  status(backend = ''): EmbedderStatus {
    const name = this.#resolve(backend);
    if (name === 'none') return { backend: 'none', dimensions: 0, state: 'none' };
    const { opened, opening, reason } = this.#slots.get(name) ?? {};
    if (opened !== undefined) {
      const { embedder, fallback } = opened;
      const { name: stamp, dimensions } = embedder;
      return defined({ backend: stamp, dimensions, state: 'ready', reason: fallback });
    }
    if (this.#opener(name) === undefined) {
      const missing = `it is not configured in this deployment${adviceOn(name)}`;
      return { backend: name, dimensions: 0, state: 'failed', reason: missing };
    }
    const state = opening !== undefined ? 'opening' : reason !== undefined ? 'failed' : 'cold';
    return defined({ backend: name, dimensions: 0, state, reason });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#closeEarlier();
    for (const { opening } of this.#slots.values()) await opening;
    await Promise.all([...this.#slots.values()].map(({ opened }) => opened?.embedder.close()));
  }

  #resolve(backend: string): VectorBackend {
    if (backend === '') return this.#own;
    const model = modelOfBackend(backend);
    const known = model === undefined ? plainBackend(backend) : modelBackend(model);
    if (known === undefined) {
      const issue = `must be one of ${VECTOR_BACKENDS.join(', ')}, or ${modelBackend('NAME')}`;
      throw new EngineError('VAL-E001', `\`vector_backend\` ${issue}`, {
        details: [{ field: 'vector_backend', issue }],
      });
    }
    return known;
  }

  #opener(name: Exclude<VectorBackend, 'none'>): Open | undefined {
    const model = modelOfBackend(name);
    // A model is no member of its own, so the name is one of the others.
    return model === undefined
      ? this.#openers[name as Exclude<typeof name, ModelBackend>]
      : this.#openers.model?.(model);
  }

  #slot(name: VectorBackend): Slot {
    let slot = this.#slots.get(name);
    if (slot === undefined) {
      slot = {};
      this.#slots.set(name, slot);
    }
    return slot;
  }

  #open(name: Exclude<VectorBackend, 'none'>, slot: Slot): void {
    const open = this.#opener(name);
    if (open === undefined || slot.opening !== undefined) return;
    if (slot.failedMs !== undefined && this.#nowMs() < slot.failedMs + EMBEDDER_REOPEN_MS) return;
    slot.opening = open()
      .then(
        (opened) => {
          if (slot.replaced === true) return void opened.embedder.close();
          slot.opened = { ...opened, embedder: cachedQueries(opened.embedder) };
          delete slot.reason;
          if (opened.fallback !== undefined)
            this.#log.warn(
              { reason: opened.fallback },
              `the ${name} embedder cannot be used: ${opened.embedder.name} replaces it`,
            );
        },
        (error: unknown) => {
          slot.reason = error instanceof Error ? error.message : String(error);
          slot.failedMs = this.#nowMs();
          this.#log.warn({ err: error }, `the ${name} embedder cannot be opened: recall finds by words alone`);
        },
      )
      .finally(() => {
        delete slot.opening;
      });
  }
}

function likelyBackend(name: string): Exclude<VectorBackend, 'none'> | undefined {
  if (name === BUILTIN_NAME) return 'use-lite';
  if (name === BUILTIN_INT8_NAME) return 'use-lite-int8';
  if (name === NGRAM_NAME) return 'ngram';
  const model = modelOfBackend(name);
  // The digest of the model follows its name.
  if (model !== undefined) return modelBackend(model.slice(0, model.lastIndexOf('/')));
  return name.startsWith(REMOTE_NAME_START) ? 'remote' : undefined;
}

function adviceOn(backend: VectorBackend): string {
  const model = modelOfBackend(backend);
  return model === undefined
    ? ''
    : `: there is no model ${JSON.stringify(model)}; granary model list shows those that are`;
}
