// A memory of one shard with the fixture, for CAL queries.
import assert from 'node:assert/strict';
import { after, type before, type TestContext } from 'node:test';
import { PLAIN_SESSION } from '../../src/engine/cal/run/session.ts';
import type { CalSession } from '../../src/engine/calls/cal.ts';
import { isRefused } from '../../src/engine/calls/cal.ts';
import type { CallContext } from '../../src/engine/calls/context.ts';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { contextOf, openShard, settingsOf } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { fixtureItems, NOW_MS } from './fixture.ts';

/** An answer as parsed JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into it as callers do
export type ParsedJson = Record<string, any>;

export interface Answered {
  readonly result: ParsedJson;
  readonly count: number;
  readonly type: string;
  readonly warnings: readonly string[];
}

export type Asking = Partial<Pick<CallContext, 'namespace' | 'userId' | 'deadlineMs'>> & {
  readonly session?: Partial<CalSession>;
};

/** Anything that reports when the memory is no longer needed. */
type Ending = { readonly after: (end: () => unknown) => void } | Pick<TestContext, 'after'>;

export class CalMemory {
  readonly engine: Engine;
  readonly items: readonly AddItem[];
  readonly hashes: readonly string[];

  constructor(engine: Engine, items: readonly AddItem[], hashes: readonly string[]) {
    this.engine = engine;
    this.items = items;
    this.hashes = hashes;
  }

  static async open(t: Ending, items = fixtureItems()): Promise<CalMemory> {
    const engine = await openShard(temporaryDirectory(t as TestContext), { clock: { nowMs: () => NOW_MS } });
    t.after(() => engine.abandon());
    await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
    const { outcomes } = await engine.write('addBatch', contextOf(1), { items });
    const hashes = outcomes.map((one) =>
      'error' in one ? assert.fail(`${one.grainType}: ${one.error.message}`) : one.hash,
    );
    return new CalMemory(engine, items, hashes);
  }

  reply(query: string, { session, ...context }: Asking = {}) {
    const reply = this.engine.read(
      'cal',
      { ...contextOf(1), ...context },
      { query, session: { ...PLAIN_SESSION, ...session }, vectors: [] },
    );
    if ('tooLong' in reply) assert.fail(`${query} looks at more than the fixture has`);
    return reply;
  }

  ask(query: string, asking: Asking = {}): Answered {
    const reply = this.reply(query, asking);
    if (isRefused(reply)) assert.fail(`${query}\n${reply.refused}: ${reply.message}`);
    const { resultJson, resultCount, statementType, warnings } = reply;
    return { result: JSON.parse(resultJson) as ParsedJson, count: resultCount, type: statementType, warnings };
  }

  /** The error code of the query; '' when it succeeds. */
  code(query: string, asking: Asking = {}): string {
    const reply = this.reply(query, asking);
    return isRefused(reply) ? reply.refused : '';
  }

  /** Hash of the grain that has `text` in a field. */
  hash(text: string): string {
    const at = this.items.findIndex(({ fields }) => Object.values(fields).includes(text));
    const hash = this.hashes[at];
    assert.ok(hash !== undefined, `no grain of the fixture contains ${text}`);
    return hash;
  }
}

/** One memory for all tests of a read-only suite. */
export function temporaryMemory(prepare: typeof before): { readonly memory: CalMemory } {
  const ends: (() => unknown)[] = [];
  let memory: CalMemory | undefined;
  prepare(async () => {
    memory = await CalMemory.open({ after: (end: () => unknown) => void ends.push(end) });
  });
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return {
    get memory() {
      assert.ok(memory !== undefined, 'the suite was prepared');
      return memory;
    },
  };
}
