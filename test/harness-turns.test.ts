// The turns of harnesses as a shard keeps them: over restarts, erasures and two callers at once.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { CallContext } from '../src/engine/calls/context.ts';
import type { NewTurn, TurnChange } from '../src/engine/calls/turns.ts';
import type { Engine } from '../src/engine/engine.ts';
import type { JsonObject } from '../src/engine/grain/api/json-value.ts';
import { pendingCalls, type Turn, type TurnEvent } from '../src/engine/turn/turn.ts';
import { memoryFolder } from './support/memory-files.ts';
import { codeOf, contextOf, openShard, settingsOf } from './support/shard.ts';

const HERE = 'a'.repeat(16);
const NEXT = 'b'.repeat(16);
const MINUTES = 60_000;
const DAYS = 24 * 60 * MINUTES;

describe('the turns of a shard', () => {
  const root = memoryFolder();
  const context = contextOf(1);
  let nowMs = 1_800_000_000_000;
  let engine: Engine;
  let count = 0;
  const open = async (): Promise<void> => {
    engine = await openShard(root, { clock: { nowMs: () => nowMs } });
  };
  const restart = async (): Promise<void> => {
    await engine.close();
    await open();
  };
  const stated = (conversationId: string, of: Partial<NewTurn> = {}): NewTurn => ({
    sessionId: `ses_${count++}`,
    slug: 'support',
    conversationId,
    namespace: 'default',
    server: HERE,
    ...of,
  });
  const begin = (turn: NewTurn, content = 'where is my order?', caller: CallContext = context) =>
    engine.write('beginTurn', caller, {
      turn,
      message: {
        content,
        role: 'user',
        session_id: turn.conversationId,
        run_id: turn.sessionId,
        namespace: turn.namespace,
        ...(turn.userId === undefined ? {} : { user_id: turn.userId }),
      },
    });
  const begun = async (conversationId: string, of: Partial<NewTurn> = {}): Promise<Turn> =>
    (await begin(stated(conversationId, of))).turn!;
  const change = async (turn: Turn, event: TurnEvent, more: Partial<TurnChange> = {}): Promise<Turn> => {
    const { sessionId, conversationId, version } = turn;
    return (await engine.write('changeTurn', context, { sessionId, conversationId, version, event, ...more })).turn;
  };
  const asked = (turn: Turn, by: 'client' | 'host', repeatable = false): Promise<Turn> =>
    change(
      turn,
      { kind: 'answered', calls: [{ callId: 'call_1', tool: 'orders', by, repeatable }] },
      {
        actions: [
          {
            tool_name: 'orders',
            input: { order: 17 },
            tool_call_id: 'call_1',
            status: 'pending',
            parent_task_id: turn.sessionId,
            session_id: turn.conversationId,
            ...(turn.userId === undefined ? {} : { user_id: turn.userId }),
          },
        ],
      },
    );
  const action = (turn: Turn) => {
    const hash = turn.steps[0]?.calls[0]?.action;
    assert.ok(hash !== undefined);
    return engine.read('get', context, { hash });
  };
  const read = (sessionId: string, caller = context): Turn => engine.read('turn', caller, { sessionId }).turn;
  const conversations = async (caller = context, limit = 10) =>
    engine.write('conversations', caller, { slug: 'support', limit });

  before(async () => {
    await open();
    await engine.write('attachMemory', context, { settings: settingsOf(1) });
  });
  after(() => engine.close());

  test('of two turns of one conversation, one begins, and the other is told which', async () => {
    const both = await Promise.allSettled([begin(stated('twice')), begin(stated('twice'))]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    );
    assert.equal(await codeOf(() => begun('twice')), 'HRN-E010');
    const { actions } = engine.read('session', context, { sessionId: 'twice', actions: { limit: 10 } });
    assert.equal(actions.length, 0);
    const { grains } = engine.read('list', context, { filter: { sessionId: 'twice' }, limit: 10, order: 'asc' });
    assert.equal(grains.length, 1, 'a refused turn stores no message');
    await begun('thrice');
  });

  test('a turn with a tool ends, and every grain is where it says', async () => {
    const running = await asked(await begun('tool'), 'host');
    assert.equal(action(running).fields['status'], 'pending');
    const resolved = await change(
      running,
      { kind: 'resolved', callId: 'call_1', failed: false },
      { outputs: [{ status: 'completed', content: { state: 'shipped' } }] },
    );
    const done = action(resolved);
    assert.deepEqual([done.fields['status'], done.fields['content']], ['completed', { state: 'shipped' }]);
    assert.equal(done.supersedes, running.steps[0]?.calls[0]?.action);
    const over = await change(
      resolved,
      { kind: 'completed' },
      { answer: { content: 'It is on its way.', role: 'assistant', session_id: 'tool', run_id: resolved.sessionId } },
    );
    assert.equal(engine.read('get', context, { hash: over.assistantEvent! }).fields['content'], 'It is on its way.');
    assert.equal(await codeOf(() => change(over, { kind: 'cancelled' })), 'HRN-E005');
    await restart();
    assert.deepEqual(read(over.sessionId), over);
  });

  test('a step that builds on an older version is refused and writes nothing', async () => {
    const turn = await begun('stale');
    const cancelled = await change(turn, { kind: 'cancelled' });
    assert.equal(cancelled.status, 'cancelled');
    const late = change(turn, { kind: 'completed' }, { answer: { content: 'late', session_id: 'stale' } });
    assert.equal(await codeOf(() => late), 'HRN-E005');
    const { grains } = engine.read('list', context, { filter: { sessionId: 'stale' }, limit: 10, order: 'asc' });
    assert.deepEqual(
      grains.map(({ fields }) => fields['content']),
      ['where is my order?'],
    );
  });

  test('a turn that waits expires, on the next message and by the sweep', async () => {
    for (const how of ['message', 'sweep'] as const) {
      const paused = await change(await asked(await begun(how), 'client'), {
        kind: 'paused',
        untilMs: nowMs + 15 * MINUTES,
      });
      assert.equal(await codeOf(() => begun(how)), 'HRN-E010');
      await restart();
      const early = await engine.write('settleTurns', context, { server: HERE });
      assert.deepEqual(early, { settled: 0, nextMs: nowMs + 15 * MINUTES });
      nowMs += 15 * MINUTES;
      if (how === 'message') await begun(how);
      else assert.equal((await engine.write('settleTurns', context, { server: HERE })).settled, 1);
      const expired = read(paused.sessionId);
      assert.equal(expired.status, 'expired');
      assert.deepEqual(
        [action(expired).fields['failure_cause'], action(expired).fields['is_error']],
        ['timeout', true],
      );
    }
  });

  test('another run of the server interrupts what was running: a tool that may have run is not run again', async () => {
    const once = await asked(await begun('once'), 'host');
    const again = await asked(await begun('again'), 'host', true);
    await restart();
    assert.deepEqual(engine.read('openTurns', { ...context, memory: 0 }, {}).memories, [1]);
    assert.equal(await codeOf(() => begun('once', { server: NEXT })), 'HRN-E010');
    await engine.write('settleTurns', context, { server: NEXT });
    const lost = read(once.sessionId);
    assert.deepEqual([lost.status, lost.interrupted, pendingCalls(lost).length], ['awaiting_client', true, 0]);
    assert.match(String(action(lost).fields['error']), /the server stopped while the tool ran/);
    const kept = read(again.sessionId);
    assert.equal(pendingCalls(kept).length, 1);
    assert.equal(action(kept).fields['status'], 'pending');
    const resumed = await change(kept, { kind: 'resumed', server: NEXT, outputs: [] });
    assert.equal(resumed.status, 'running');
    // Its own turns are left alone.
    assert.equal((await engine.write('settleTurns', context, { server: NEXT })).settled, 0);
  });

  test('a repeat under the same key names the turn that the first one began', async () => {
    const keyed: CallContext = { ...context, idempotency: { key: 'k1', bodyHash: 'h1' } };
    const first = await begin(stated('keyed'), 'hello', keyed);
    const second = await begin(stated('keyed'), 'hello', keyed);
    assert.deepEqual([second.sessionId, second.turn], [first.sessionId, undefined]);
  });

  test('conversations are listed newest first, and a bound caller sees its own', async () => {
    const list = async (caller?: CallContext) =>
      (await conversations(caller)).conversations.map(({ conversationId }) => conversationId);
    nowMs += MINUTES;
    await begun('of ann', { userId: 'ann' });
    nowMs += MINUTES;
    await begun('of bob', { userId: 'bob' });
    assert.deepEqual((await list()).slice(0, 2), ['of bob', 'of ann']);
    assert.deepEqual(await list({ ...context, userId: 'ann' }), ['of ann']);
    const page = await conversations(context, 1);
    assert.ok(page.more);
    const [last] = page.conversations;
    const next = await engine.write('conversations', context, {
      slug: 'support',
      limit: 1,
      after: { updatedAtMs: last!.updatedAtMs, token: last!.token },
    });
    assert.equal(next.conversations[0]?.conversationId, 'of ann');
    assert.equal(next.total, page.total);
  });

  test('a restricted person has no turns, and an erased one none any more', async () => {
    const turn = await asked(await begun('cleo', { userId: 'cleo' }), 'client');
    await change(turn, { kind: 'paused', untilMs: nowMs + MINUTES });
    await engine.write('restrict', context, { userId: 'cleo', restricted: true });
    assert.equal(await codeOf(() => read(turn.sessionId)), 'POL-E008');
    assert.equal(await codeOf(() => begun('cleo 2', { userId: 'cleo' })), 'POL-E008');
    nowMs += 2 * MINUTES;
    await engine.write('settleTurns', context, { server: HERE });
    await engine.write('restrict', context, { userId: 'cleo', restricted: false });
    assert.equal(read(turn.sessionId).status, 'expired', 'what is frozen is left alone, and the turn ends');
    await engine.write('eraseUser', context, { userId: 'cleo' });
    assert.equal(await codeOf(() => read(turn.sessionId)), 'HRN-E004');
    const names = (await conversations()).conversations.map(({ conversationId }) => conversationId);
    assert.ok(!names.includes('cleo'));
    await restart();
    assert.equal(await codeOf(() => read(turn.sessionId)), 'HRN-E004');
  });

  test('an erased scope has no turns any more', async () => {
    const turn = await begun('plan', { namespace: 'acme' });
    await engine.write('eraseScope', context, { path: 'acme' });
    assert.equal(await codeOf(() => read(turn.sessionId)), 'HRN-E004');
    assert.equal((await begun('plan', { namespace: 'acme' })).version, 1);
  });

  test('turns and conversations expire as their events do: not shown, begun anew, and dropped with them', async () => {
    const other = contextOf(2);
    await engine.write('attachMemory', other, { settings: settingsOf(2) });
    const policy = (overrides: JsonObject) =>
      engine.write('setPolicy', other, { change: { overrides, reason: 'release: a test' }, isAdmin: true });
    await policy({ 'retention.default_ttl_days': 30, 'retention.by_namespace': { brief: 7 } });
    const states = (): string[] =>
      ['turn', 'turn-of', 'conversation', 'conversation-at'].flatMap((topic) =>
        [...engine.store.log.scanState(`${topic}/2/`)].map(([name]) => name),
      );
    const ended = async (conversationId: string, of: Partial<NewTurn> = {}): Promise<Turn> => {
      const { turn } = await begin(stated(conversationId, { clientTools: '[]', ...of }), 'hello', other);
      const { sessionId } = turn!;
      const over = { sessionId, conversationId, event: { kind: 'cancelled' } } as const;
      return (await engine.write('changeTurn', other, over)).turn;
    };
    const code = (turn: Turn) => codeOf(() => read(turn.sessionId, other));
    const listed = async () =>
      (await conversations(other)).conversations.map(({ conversationId, turnCount }) => [conversationId, turnCount]);
    const enforce = (dryRun = false) => engine.write('enforceRetention', other, { dryRun });

    const old = [await ended('old'), await ended('old'), await ended('frozen', { userId: 'dora' })];
    nowMs += 20 * DAYS;
    const brief = await ended('brief', { namespace: 'brief' });
    const late = await ended('late');
    const before = states().length;
    assert.equal(before, 5 * 2 + 4 * 3);
    nowMs += 11 * DAYS;
    await engine.write('restrict', other, { userId: 'dora', restricted: true });
    assert.deepEqual(await listed(), [['late', 1]]);
    for (const turn of [old[0]!, old[1]!, brief]) assert.equal(await code(turn), 'HRN-E004');

    await enforce(true);
    await policy({ 'retention.default_ttl_days': 30, 'retention.by_namespace': { brief: 7 }, 'deletion.hold': true });
    await enforce();
    assert.equal(states().length, before, 'a dry run and a hold drop nothing');
    await policy({ 'retention.default_ttl_days': 30, 'retention.by_namespace': { brief: 7 }, 'deletion.hold': false });
    const sequences = (topic: string) =>
      [...engine.store.log.scanState(`${topic}/2/`)].map(([, value]) => Buffer.from(value).readUInt32BE(0));
    const records = [...sequences('turn'), ...sequences('conversation')];
    await enforce();
    // Left: what is frozen with its person, and the late one.
    assert.equal(states().length, 2 * 2 + 2 * 3);
    const left = records.filter((sequence) => engine.store.log.read(sequence) !== undefined);
    assert.equal(left.length, 4, 'the records are gone from the log too');
    assert.equal(read(late.sessionId, other).sessionId, late.sessionId);

    nowMs += 20 * DAYS;
    assert.deepEqual(await listed(), []);
    await ended('late');
    assert.deepEqual(await listed(), [['late', 1]], 'a conversation that has expired begins anew');
    await enforce();
    await restart();
    assert.deepEqual(await listed(), [['late', 1]]);
    await engine.write('restrict', other, { userId: 'dora', restricted: false });
    await enforce();
    assert.equal(states().length, 2 + 3);
    await engine.write('eraseUser', other, { userId: 'dora' });
  });

  test('the trail names each turn that ended', async () => {
    const { entries } = await engine.write('auditPage', context, {
      filter: { events: ['harness.*'] },
      limit: 500,
      order: 'asc',
    });
    const kinds = new Set(entries.map(({ eventType }) => eventType));
    assert.deepEqual(kinds, new Set(['harness.turn', 'harness.paused', 'harness.resumed', 'harness.cancelled']));
    for (const { details } of entries) assert.match(String(details['harness']), /^harness:[0-9a-f]{32}$/);
  });
});
