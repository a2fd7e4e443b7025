// Sentences and the facts that should be extracted, in two sets: rules were written with the first in view; the second
// was written before them, by the same author, and is only counted. Neither is text from outside: expect lower recall
// on real conversations, which surround statements with questions and asides.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Extractor } from '../../src/engine/text/extract/extractor.ts';

export type Half = 'first' | 'second';

/** Subject, relation, object. */
export type Triple = readonly [string, string, string];

export interface Labelled {
  readonly text: string;
  readonly expect: readonly Triple[];
}

export interface Score {
  /** Expected facts that were found, unexpected ones, and missing ones. */
  readonly right: number;
  readonly wrong: number;
  readonly missed: number;
}

/** Reference time of relative dates in the sentences. */
export const LABELLED_NOW_MS = Date.UTC(2026, 10, 21);

export function labelled(half: Half): readonly Labelled[] {
  const lines = readFileSync(join(import.meta.dirname, `${half}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line): Labelled => JSON.parse(line));
}

/** Facts are compared whole, without regard to case. */
export async function score(extractor: Extractor, sentences: readonly Labelled[]): Promise<Score> {
  let right = 0;
  let wrong = 0;
  let missed = 0;
  for (const { text, expect } of sentences) {
    const { beliefs } = await extractor.extract(text, { nowMs: LABELLED_NOW_MS });
    const wanted = new Set(expect.map(keyOf));
    const found = new Set(beliefs.map(({ subject, relation, object }) => keyOf([subject, relation, object])));
    const hits = [...found].filter((key) => wanted.has(key)).length;
    right += hits;
    wrong += found.size - hits;
    missed += wanted.size - hits;
  }
  return { right, wrong, missed };
}

function keyOf(triple: Triple): string {
  return JSON.stringify(triple).toLowerCase();
}

export function precision({ right, wrong }: Score): number {
  return right + wrong === 0 ? 1 : right / (right + wrong);
}

export function recall({ right, missed }: Score): number {
  return right + missed === 0 ? 1 : right / (right + missed);
}
