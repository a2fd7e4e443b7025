// Draws vectors for texts as an encoder might make them: a real vector, moved by the difference of two others. A
// hundred thousand grains get theirs in seconds, and searching costs the same as among real ones. Isotropic noise,
// which no encoder makes, would be hard to tell apart and cost many times more.
import { createHash } from 'node:crypto';
import { encoderFile, encoderFolder } from '../../src/embed/builtin/package-files.ts';
import type { Embedder } from '../../src/embed/embedder.ts';
import { unitVector } from '../../src/embed/unit-vector.ts';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import { type GrainSource, grainSource } from './grains.ts';
import { KeptVectors, keeping } from './kept-vectors.ts';
import { generator } from './random.ts';

const REAL = 512;
const SEED = 99;
/** Weight of the difference. */
const SHARE = 0.5;

/** One vector per text, deterministic. */
export type DrawVector = (text: string) => Float32Array;

/** Encodes the first `count` real vectors, unless the folder has them. */
export async function drawnVectors(encoder: Embedder, folder: string, count: number = REAL): Promise<DrawVector> {
  const texts = realTexts().slice(0, count);
  const real = await keeping(encoder, folder).embed(texts);
  return drawFrom(real.filter((vector) => vector !== undefined));
}

/** Reads them in a process without an encoder. Throws when the folder has none. */
export function keptDrawnVectors(folder: string, name: string, dimensions: number): DrawVector {
  const kept = new KeptVectors(folder, name, dimensions);
  const real = realTexts().flatMap((text) => kept.of(text) ?? []);
  if (real.length === 0)
    throw new Error(`no vectors are stored in ${folder}: run the scenario that encodes them first`);
  return drawFrom(real);
}

function realTexts(): string[] {
  return englishSource(SEED).take(REAL).map(textOf);
}

let english: readonly string[] | undefined;

/** Grains and questions of the encoder's own English words: it treats texts of unknown words as similar. */
export function englishSource(seed: number): GrainSource {
  if (english === undefined) {
    const pieces = JSON.parse(encoderFile(encoderFolder(), 'vocab.json').toString()) as [string, number][]; // the package's format
    english = pieces.flatMap(([piece]) => /^\u2581([a-z]{4,})$/.exec(piece)?.[1] ?? []);
  }
  return grainSource(seed, english);
}

/** The text of such a grain, used for words and for vectors. */
export function textOf({ fields }: AddItem): string {
  return `${fields['subject']} ${fields['relation']} ${fields['object']}`;
}

function drawFrom(real: readonly Float32Array[]): DrawVector {
  return (text) => {
    const random = generator(createHash('sha256').update(text).digest().readInt32LE());
    const pick = (): Float32Array => real[Math.floor(random() * real.length)]!;
    const [near, to, from] = [pick(), pick(), pick()];
    const vector = near.map((value, d) => value + SHARE * (to[d]! - from[d]!));
    return unitVector(vector) ?? vector;
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
