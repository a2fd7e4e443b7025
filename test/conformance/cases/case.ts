// A case of the suite: a promise of the contract that holds on every transport.
import assert from 'node:assert/strict';
import type { Feature, Fields, Grain, Memory, Target } from '../driver.ts';

export interface Case {
  readonly name: string;
  /** Features that the case needs. */
  readonly needs?: readonly Feature[];
  /** Options of the memory that the case gets for itself. */
  readonly options?: Fields;
  run(memory: Memory, target: Target): Promise<void>;
}

/** A past time in seconds: grains created at a given time have the same hash everywhere. */
export const THEN = 1_700_000_000;

export const NO_HASH = 'f'.repeat(64);

/** Fields of a belief that was created at a given instant. */
export function belief(subject: string, relation: string, object: string, more: Fields = {}): Fields {
  return { subject, relation, object, created_at: THEN, ...more };
}

/** Adds a belief and gives its hash. */
export async function believe(memory: Memory, subject: string, relation: string, object: string, more: Fields = {}) {
  return (await memory.add('belief', belief(subject, relation, object, more))).hash;
}

/** Every field that was sent is returned unchanged. */
export function assertHolds(grain: Grain, sent: Fields): void {
  const back = Object.fromEntries(Object.keys(sent).map((name) => [name, grain.fields[name]]));
  assert.deepEqual(back, sent);
}

/** Checks the duplicate flag on transports that report it. */
export function assertDuplicate(added: { readonly duplicate?: boolean }, expected: boolean): void {
  if (added.duplicate !== undefined) assert.equal(added.duplicate, expected);
}

export function hashesOf(grains: readonly { readonly hash: string }[]): string[] {
  return grains.map(({ hash }) => hash);
}

const ANSWERS = new Map<string, unknown>();

/** Checks that each transport gives the same answer to `question`. */
export function assertSameEverywhere(question: string, answer: unknown): void {
  if (ANSWERS.has(question)) assert.deepEqual(answer, ANSWERS.get(question), question);
  else ANSWERS.set(question, answer);
}
