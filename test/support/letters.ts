// An embedder for tests: letter frequencies. Calls a shard's embedding methods as a follower does.
import assert from 'node:assert/strict';
import type { EmbedderStamp } from '../../src/engine/calls/recall.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { packVectors } from '../../src/engine/index/vectors/transfer.ts';
import { contextOf } from './shard.ts';

export const LETTERS: EmbedderStamp = { name: 'letters/1', dimensions: 26 };

/** The embedders of one process, which take turns. */
export function embedderOf(life: number): EmbedderStamp {
  return { ...LETTERS, name: `letters/${1 + (life % 2)}` };
}

const ROUNDS_MAX = 1_000;

/** Returns a unit vector. */
export function lettersOf(text: string): Float32Array {
  const vector = new Float32Array(LETTERS.dimensions);
  for (const letter of text.toLowerCase()) {
    const place = letter.charCodeAt(0) - 97;
    if (place >= 0 && place < LETTERS.dimensions) vector[place]! += 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

export type Embedders = Readonly<Record<string, EmbedderStamp>>;

/**
 * One round: takes pages, embeds them, returns the vectors. Resolves to the texts of grains and the number of waiting
 * memories.
 */
export async function embedSome(
  engine: Engine,
  embedders: Embedders = { '': LETTERS },
  grainsMax = 3,
): Promise<{ texts: string[]; waiting: number }> {
  const { pages, waiting } = engine.read('embedPages', contextOf(0), { embedders, grainsMax });
  const texts: string[] = [];
  for (const { backend, ...page } of pages) {
    texts.push(...page.grains.map(({ text }) => text));
    const grains = page.grains.map(({ ordinal, text }) => ({ ordinal, vectors: packVectors([lettersOf(text)]) }));
    await engine.write('keepVectors', contextOf(0), { ...page, embedder: embedders[backend]!, grains });
  }
  return { texts, waiting };
}

/** Embeds all pending texts of these embedders, page by page; returns the embedded texts. */
export async function embedAll(engine: Engine, embedders?: Embedders, grainsMax?: number): Promise<string[]> {
  const all: string[] = [];
  for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
    const { texts, waiting } = await embedSome(engine, embedders, grainsMax);
    all.push(...texts);
    if (waiting === 0) return all;
  }
  assert.fail('embedding comes to an end');
}

/** The grain nearest to a text, by its hash. */
export function nearest(engine: Engine, memory: number, text: string): string | undefined {
  const [hit] = engine.store.vectors.search(memory, lettersOf(text), { limit: 1 });
  return hit === undefined ? undefined : engine.store.addressAt(hit.ordinal);
}
