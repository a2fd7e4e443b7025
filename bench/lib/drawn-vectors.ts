// Vectors for texts that nobody has encoded, as an encoder could have made them: drawn near pairs of real ones. A hundred
// thousand grains have theirs in seconds, and searching among them costs what it costs among real ones.
import { createHash } from 'node:crypto';
import type { Embedder } from '../../src/embed/embedder.ts';
import { grainSource } from './grains.ts';
import { KeptVectors, keeping } from './kept-vectors.ts';
import { generator } from './random.ts';

const REAL = 256;
const SEED = 99;
/** Of the second vector of a pair, and the length of what is added at random. */
const SECOND = 0.5;
const NOISE = 0.5;

/** One vector a text, always the same. */
export type DrawVector = (text: string) => Float32Array;

/** Encodes the real vectors, unless they are kept in the folder. */
export async function drawnVectors(encoder: Embedder, folder: string): Promise<DrawVector> {
  const texts = realTexts();
  const real = await keeping(encoder, folder).embed(texts);
  return drawFrom(real.filter((vector) => vector !== undefined));
}

/** The same for a process without an encoder. Throws where they are not kept. */
export function keptDrawnVectors(folder: string, name: string, dimensions: number): DrawVector {
  const kept = new KeptVectors(folder, name, dimensions);
  const real = realTexts().flatMap((text) => kept.of(text) ?? []);
  if (real.length === 0) throw new Error(`no vectors are kept in ${folder}`);
  return drawFrom(real);
}

function realTexts(): string[] {
  return grainSource(SEED)
    .take(REAL)
    .map(({ fields }) => `${fields['subject']} ${fields['relation']} ${fields['object']}`);
}

function drawFrom(real: readonly Float32Array[]): DrawVector {
  return (text) => {
    const random = generator(createHash('sha256').update(text).digest().readInt32LE());
    const pick = (): Float32Array => real[Math.floor(random() * real.length)]!;
    const [first, second] = [pick(), pick()];
    // Uniform noise has a third of its range's square as variance.
    const noise = NOISE * Math.sqrt(3 / first.length);
    const vector = first.map((value, d) => value + SECOND * second[d]! + noise * (2 * random() - 1));
    const length = Math.hypot(...vector);
    return vector.map((value) => value / length);
  };
}

/** Grains get drawn vectors under the encoder's name; queries are encoded. */
export function drawing(encoder: Embedder, draw: DrawVector): Embedder {
  return {
    name: encoder.name,
    dimensions: encoder.dimensions,
    embed: (texts, options) =>
      options?.priority === 'query' ? encoder.embed(texts, options) : Promise.resolve(texts.map(draw)),
    close: () => encoder.close(),
  };
}
