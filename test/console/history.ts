// A real conversation in a server's memory, with what people do to it: a correction, goals, a recall on record.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { Granary, type NewGrain } from '../../src/client/index.ts';

const CHATS = resolve(import.meta.dirname, '../../../shared/data/beam100k/corpus.jsonl');

interface ChatTurn {
  readonly conv: string;
  readonly session: number;
  readonly role: string;
  readonly text: string;
}

export interface History {
  readonly client: Granary;
  /** Hash of the present version of a corrected belief. */
  readonly corrected: string;
  /** A session of the conversation. */
  readonly session: string;
}

/** True where the conversations are; otherwise the test is skipped. */
export function hasHistory(t: TestContext): boolean {
  if (existsSync(CHATS)) return true;
  t.skip('the data sets are missing (../shared/data beside the repository)');
  return false;
}

/** Fills the memory `default` with the first conversation. */
export async function fillWithHistory(server: { readonly http: string; readonly key: string }): Promise<History> {
  const client = new Granary({ url: server.http, apiKey: server.key });
  const memory = client.memory('default');
  const turns = readFileSync(CHATS, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ChatTurn) // a line of the data set
    .filter(({ conv }) => conv === '1');
  const day = Date.UTC(2026, 9, 1) / 1000;
  const { added, errors } = await memory.addMany(
    turns.map(
      ({ session, role, text }, i): NewGrain => ({
        type: 'event',
        role,
        content: text,
        session_id: `chat-${session}`,
        user_id: 'ada',
        namespace: session === 1 ? 'work' : 'home',
        tags: session === 1 ? ['project'] : [],
        created_at: day + i * 60,
      }),
    ),
  );
  assert.deepEqual([added, errors], [turns.length, []]);
  const belief = { type: 'belief', subject: 'Ada', relation: 'lives_in', object: 'Oslo', user_id: 'ada' } as const;
  const { blobHash } = await memory.add(belief);
  const moved = await memory.supersede(blobHash, { object: 'Bergen', confidence: 0.9 }, { reason: 'she moved' });
  const { newHash } = await memory.supersede(moved.newHash, { tags: ['address'] });
  const { hash: parent } = await memory.operations.createGoal({
    sid: 'chat-1',
    description: 'finish the project by March 15',
    priority: 'high',
  });
  await memory.operations.createGoal({ sid: 'chat-1', description: 'plan the sprints', parentGoals: [parent] });
  await memory.recall('where does Ada live?', { recordProvenance: true });
  return { client, corrected: newHash, session: 'chat-1' };
}
