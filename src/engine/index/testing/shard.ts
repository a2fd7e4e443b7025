// A shard for tests: state in a Map, keys from a seed, grains derived from small numbers.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlindTokens } from '../../crypto/blind-tokens.ts';
import type { Log } from '../../log/log.ts';
import { ROLES, type Turn } from '../context/turn.ts';
import type { Sliced } from '../files/section.ts';
import { HeapBudget } from '../heap-budget.ts';
import { indexTokens } from '../index-tokens.ts';
import { fieldKey, type IndexedGrain, NOT_TEXT } from '../parts/part.ts';
import { type IndexKeys, type SegmentChange, ShardIndex } from '../shard-index.ts';

/** The state of a log, in order of keys. */
export class StateOnly implements Pick<Log, 'getState' | 'scanState'> {
  readonly entries = new Map<string, Uint8Array>();

  getState(key: string): Uint8Array | undefined {
    return this.entries.get(key);
  }

  *scanState(prefix: string): IterableIterator<readonly [key: string, value: Uint8Array]> {
    for (const key of [...this.entries.keys()].sort()) if (key.startsWith(prefix)) yield [key, this.entries.get(key)!];
  }

  write(state: SegmentChange['state']): void {
    for (const [key, value] of state) {
      if (value === null) this.entries.delete(key);
      else this.entries.set(key, value);
    }
  }
}

/** Keys whose newest version a test may raise. */
export class TestKeys implements IndexKeys {
  readonly versions = new Map<number, number>();
  readonly destroyed = new Set<number>();
  readonly #tokens = new Map<number, ReturnType<IndexKeys['tokens']>>();

  indexKey(memory: number): { id: number; key: Uint8Array } {
    const id = memory * 1_000 + (this.versions.get(memory) ?? 1);
    return { id, key: this.indexKeyById(id) };
  }

  indexKeyById(id: number): Uint8Array {
    if (this.destroyed.has(id)) throw new Error(`index key ${id} was destroyed`);
    return createHash('sha256').update(`index key ${id}`).digest();
  }

  formerIndexKey(id: number): Uint8Array {
    return this.indexKeyById(id);
  }

  tokens(memory: number): ReturnType<IndexKeys['tokens']> {
    let made = this.#tokens.get(memory);
    if (made === undefined) {
      made = indexTokens(new BlindTokens(this.tokenKey(memory)));
      this.#tokens.set(memory, made);
    }
    return made;
  }

  tokenKey(memory: number): Uint8Array {
    return createHash('sha256').update(`token key ${memory}`).digest();
  }
}

const directories: string[] = [];
process.once('exit', () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A fresh folder, deleted when the process ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'granary-index-'));
  directories.push(directory);
  return directory;
}

export function openShard(directory: string, log: StateOnly, keys: IndexKeys = new TestKeys(), bytes = 8_000_000) {
  return ShardIndex.open({ directory, log, budget: new HeapBudget(bytes), keys });
}

export function finish<T>(steps: Sliced<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Writes a change's state and commits it. */
export function commit(shard: ShardIndex, log: StateOnly, change: SegmentChange): void {
  log.write(change.state);
  shard.commit(change);
}

export function sealAll(shard: ShardIndex, log: StateOnly): void {
  commit(shard, log, finish(shard.seal(shard.publishedSequence)));
}

/** SHA-256 in hex, like an address. */
export function addressOf(text: string | number): string {
  return createHash('sha256').update(String(text)).digest('hex');
}

/** Produces more speakers than fit into one byte of a code. */
function turnOf(seed: number): Turn {
  return {
    asks: seed % 2 === 0,
    holdsTime: seed % 5 === 0,
    speaksOfSelf: seed % 7 === 0,
    role: [ROLES.none, ROLES.user, ROLES.assistant, ROLES.other][seed % 4]!,
    speaker: seed % 8 === 0 ? undefined : `speaker ${seed % 300}${seed % 9 === 0 ? ':' : ''}`,
  };
}

/** A grain derived from `seed`, whose values repeat among grains. */
export function grainOf(ordinal: number, seed: number): IndexedGrain {
  const words = ['harbour', 'lantern', 'meadow', 'granite', 'violin', 'saffron', 'tundra'];
  const terms = Array.from({ length: seed % 9 }, (_, i) => words[(seed + i * (1 + (seed % 5))) % words.length]!);
  return {
    ordinal,
    address: addressOf(`grain ${seed % 3 === 0 ? seed : ordinal}`),
    identity: seed % 4 === 0 ? undefined : addressOf(`identity ${seed % 50}`).slice(0, 16),
    createdAtMs: 1_700_000_000_000 + (seed % 7 === 0 ? -5_000 : ordinal * 1_000) + (seed % 11 === 0 ? 7 : 0),
    type: ['belief', 'event', 'goal'][seed % 3]!,
    namespace: seed % 5 === 0 ? '' : `namespace-${seed % 4}`,
    user: seed % 6 === 0 ? undefined : `user-${seed % 8}`,
    session: seed % 2 === 0 ? undefined : `session-${Math.floor(ordinal / 10)}`,
    tags: Array.from({ length: seed % 4 }, (_, i) => `tag-${(seed * (i + 1)) % 13}`),
    subject: seed % 10 === 0 ? undefined : `subject-${seed % 40}`,
    relation: seed % 10 === 0 ? undefined : `relation-${seed % 5}`,
    object: seed % 3 === 0 ? undefined : `object-${seed}`,
    source: seed % 17 === 0 ? addressOf(`source ${seed % 34}`) : undefined,
    fields: [
      ...(seed % 4 === 0 ? [] : [fieldKey('role', `role-${seed % 3}`)]),
      ...(seed % 6 === 0 ? [fieldKey('tool_name', `tool ${seed % 20}`)] : []),
      ...(seed % 31 === 0 ? [fieldKey('role', NOT_TEXT)] : []),
    ],
    numbers: {
      ...(seed % 3 === 1 ? { confidence: (seed % 10) / 10 } : {}),
      ...(seed % 5 === 1 ? { importance: seed / 1_000 } : {}),
      ...(seed % 29 === 1 ? { validFromMs: 1_600_000_000_000 + seed * 997 } : {}),
      ...(seed % 2 === 0 ? { expiresAtMs: 1_900_000_000_000 } : {}),
      ...(seed % 3 === 2 ? { priority: 1 + (seed % 4) } : {}),
      ...(seed % 12 === 5 ? { failsAtMs: 1_800_000_000_000 - seed } : {}),
      ...(seed % 12 === 8 ? { suspendsAtMs: 1_800_000_000_000 + seed } : {}),
      ...(seed % 4 === 3
        ? { outcome: seed % 5, tool: 2 ** 44 + (seed % 9) * 7_919, error: 2 ** 47 - seed * 1_009, durationMs: seed * 3 }
        : {}),
    },
    calls: [
      ...(seed % 4 === 3 ? [fieldKey('parent_task_id', `task ${seed % 12}`)] : []),
      ...(seed % 8 === 3 ? [fieldKey('tool_call_id', `call ${seed}`)] : []),
    ],
    blobBytes: 100 + (seed % 400),
    recordBytes: 180 + (seed % 400) + (seed % 13 === 0 ? -3 : 0),
    text: { analyzed: () => ({ terms, positions: terms.map((_, i) => i * 2) }) },
    turn: seed % 3 === 1 ? turnOf(seed) : undefined,
  };
}
