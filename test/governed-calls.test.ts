// Every call of a memory whose row says that the policy governs it, against a grain that the policy or the access tuples
// keep back: none shows it, none changes it. The tables below have inputs for each of these calls; a new one does not
// compile without them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { EngineError } from '../src/engine/base/errors.ts';
import { PLAIN_SESSION } from '../src/engine/cal/run/session.ts';
import type { MemoryCalls } from '../src/engine/calls/calls.ts';
import type { CallContext } from '../src/engine/calls/context.ts';
import type { RecallQuery } from '../src/engine/calls/recall.ts';
import { THREAD_TAG } from '../src/engine/calls/session.ts';
import type { Engine } from '../src/engine/engine.ts';
import { openEngine } from '../src/engine/open.ts';
import { CALL_ROWS, type Input, type MethodsWith } from '../src/shards/protocol.ts';

const CANARY = 'quetzalcoatl';
const DAY_MS = 86_400_000;

type MethodName = keyof MemoryCalls;
/** Values returned by calls that identify the hidden grain. */
interface Kept {
  readonly hash: string;
  readonly blob: Uint8Array;
  /** Hash of the goal of the session. */
  readonly goal: string;
}
type GovernedBy<V> = Extract<MethodsWith<'governed', V>, MethodName>;
type Inputs<M extends MethodName> = { readonly [K in M]: (kept: Kept) => readonly Input<K>[] };

const QUERY: RecallQuery = { query: CANARY, filter: {}, limit: 20, candidateLimit: 100, structural: false };
const BOUNDS = { filter: {}, tests: [], scanMax: 1_000, untilMs: Number.MAX_SAFE_INTEGER };
/** The grain's namespace: a part of what a denied caller must not learn. */
const PLACE = 'attic';
/** Above the goal of the session. It is nowhere. */
const PARENT = '7'.repeat(64);
const FIELDS = { namespace: PLACE, subject: 'ann', relation: 'likes', object: CANARY, user_id: 'u1', session_id: 's1' };
/** An action, a state and a goal of the same session, all hidden with the belief. */
const OF_SESSION = [
  { grainType: 'action', fields: { tool_name: CANARY, is_error: true, error: CANARY, parent_task_id: 't1' } },
  { grainType: 'state', fields: { data: { step: CANARY } } },
  { grainType: 'state', fields: { data: { title: CANARY }, tags: [THREAD_TAG] } },
  { grainType: 'goal', fields: { description: CANARY, parent_goals: [PARENT] } },
  { grainType: 'belief', fields: { subject: 'ann', relation: 'likes', object: `${CANARY}s` } },
].map(({ grainType, fields }) => ({
  grainType,
  fields: { ...fields, namespace: PLACE, user_id: 'u1', session_id: 's1' },
}));
const GOAL_OF_SESSION = OF_SESSION.findIndex(({ grainType }) => grainType === 'goal');
const cal = (query: string) => ({ query, session: PLAIN_SESSION, vectors: [] });

/** The answer contains nothing of the grain, or the call is rejected. */
const READS: Inputs<GovernedBy<'reads'>> = {
  get: ({ hash }) => [{ hash }],
  getRaw: ({ hash }) => [{ hash }],
  list: () => [{ filter: {}, limit: 10, order: 'asc' }],
  edges: () => [
    { nodes: ['ann', CANARY], direction: 'both', limit: 10 },
    { direction: 'out', limit: 10 },
  ],
  recallCandidates: () => [
    { query: QUERY, statistics: { docs: 1, totalLength: 3, documentFrequency: {} } },
    {
      query: { filter: { subject: 'ann' }, limit: 20, candidateLimit: 100, structural: true },
      statistics: { docs: 1, totalLength: 3, documentFrequency: {} },
    },
  ],
  fetch: ({ hash }) => [{ hashes: [hash] }],
  recall: () => [QUERY, { ...QUERY, query: 'ann likes' }, { ...QUERY, wordsOnly: true }],
  cal: ({ hash }) => [
    cal('RECALL beliefs'),
    cal(`RECALL beliefs WHERE object = "${CANARY}"`),
    cal(`HISTORY sha256:${hash}`),
    cal('RECALL beliefs | GROUP BY object'),
  ],
  calRead: ({ hash }) => [
    { kind: 'select', input: { ...BOUNDS, order: { by: 'hash' }, take: 10 } },
    { kind: 'select', input: { ...BOUNDS, filter: { addresses: [hash] }, order: { by: 'hash' }, take: 10 } },
    { kind: 'find', input: { prefix: hash.slice(0, 16) } },
    { kind: 'group', input: { ...BOUNDS, field: 'object', shown: 5, shownMax: 10 } },
  ],
  calScan: () => [{ kind: 'group', input: { ...BOUNDS, field: 'object', shown: 5, shownMax: 10 } }],
  history: ({ hash }) => [{ hash }],
  events: () => [{ after: 0 }],
  session: () => [
    { sessionId: 's1', state: true, goals: { states: ['active'], limit: 10 }, actions: { limit: 10 } },
    { sessionId: 's1', actions: { limit: 10, toolName: CANARY, failed: true } },
  ],
  sessionContext: ({ hash }) => [
    { sessionId: 's1', tokenBudget: 4_000, format: 'json', relevance: [[hash, 1]] },
    { sessionId: 's1', tokenBudget: 4_000, format: 'text' },
  ],
  sessionDuplicates: () => [{ sessionId: 's1', threshold: 0.5 }],
  sessionSummary: () => [{ sessionId: 's1' }],
  namedGoals: ({ goal }) => [{ hashes: [goal] }],
  goalTree: ({ goal }) => [{ sessionId: 's1' }, { sessionId: 's1', named: [goal] }],
  thread: () => [{ threadId: 's1' }],
  sessionChain: () => [{ sessionId: 's1', below: ['t1'], above: [], limit: 10 }],
  exportPage: () => [{ after: 0, limitBytes: 1 << 20, filter: {} }],
};

/** Refused when the user's processing is restricted. */
const WRITES: Inputs<GovernedBy<'writes'>> = {
  add: () => [{ grainType: 'belief', fields: { ...FIELDS, object: 'more' }, sync: false }],
  addBatch: () => [{ items: [{ grainType: 'belief', fields: { ...FIELDS, object: 'more' } }] }],
  checkAdd: () => [{ grainType: 'belief', fields: { ...FIELDS, object: 'more' } }],
  importBlobs: ({ blob }) => [{ blobs: [blob], manifest: [] }],
  supersede: ({ hash }) => [{ oldHash: hash, fields: { object: 'less' } }],
  accumulate: ({ hash }) => [
    { target: { hash }, deltas: { success_count: 1 }, set: {} },
    { target: { subject: 'ann', relation: 'likes' }, deltas: { success_count: 1 }, set: {} },
  ],
  beginTurn: () => [
    {
      turn: {
        sessionId: 'ses_test',
        slug: 'support',
        conversationId: 's1',
        userId: 'u1',
        namespace: PLACE,
        server: '0'.repeat(16),
      },
      message: { content: 'more', namespace: PLACE, user_id: 'u1', session_id: 's1' },
    },
  ],
  changeGoal: ({ hash }) => [
    { hash, change: { to: 'failed' } },
    { hash, change: { delegateTo: 'mole' } },
  ],
  forget: ({ hash }) => [
    { hashes: [hash], check: false },
    { subject: 'ann', check: false },
  ],
  mergeGrains: ({ hash }) => [{ canonical: hash, duplicates: [] }],
  previewRemoval: ({ hash }) => [
    { of: 'grains', hashes: [hash] },
    { of: 'grains', subject: 'ann' },
  ],
};

/** Calls that only access tuples narrow: what they show is no grain that the policy hides, or a person's own. */
const VIEWS: Inputs<Exclude<Extract<MethodsWith<'access', 'viewer'>, MethodName>, GovernedBy<'reads'>>> = {
  namespaces: () => [{ filter: {} }],
  personPage: () => [{ userId: 'u1', after: 0, limitBytes: 1 << 20 }],
};

/** Calls that need a relation to a grain's namespace, and that a restriction does not refuse. */
const CHANGES: Inputs<Exclude<Extract<MethodsWith<'access', 'editor' | 'eraser'>, MethodName>, GovernedBy<'writes'>>> =
  {
    consent: () => [{ items: [{ userId: 'u1', purpose: 'storage', granted: true }] }],
  };

type OnMemory = { readonly memory: readonly string[] };

/** Calls that need a relation to the whole memory. */
const WHOLE: Inputs<Extract<MethodsWith<'access', OnMemory>, MethodName>> = {
  grantTuple: () => [{ tuple: { subject: 'agent:mole', relation: 'owner', object: 'memory:denied' } }],
  revokeTuple: () => [{ tuple: { subject: 'user:owner', relation: 'owner', object: 'memory:denied' } }],
  viewing: () => [{ actors: ['agent:mole'] }],
  tuples: () => [{ order: 'asc', offset: 0, limit: 10 }],
  registerAgent: () => [{ identity: { agentId: 'mole', capabilities: [], metadata: {} } }],
  deactivateAgent: () => [{ agentId: 'mole' }],
  identity: () => [{ agentId: 'mole' }],
  agents: () => [{}],
  agent: () => [{ agentId: 'mole', limit: 10 }],
  identities: () => [{ order: 'asc', offset: 0, limit: 10 }],
  simulatePolicy: () => [{ change: {}, isAdmin: false }],
  policyImpact: () => [{}],
  setPolicy: () => [{ change: { removePolicies: ['soc2'], reason: 'no tuples' }, isAdmin: true }],
  restrict: () => [{ userId: 'u1', restricted: true }],
  retentionStatus: () => [{}],
  enforceRetention: () => [{ dryRun: true }],
  recallRecords: () => [{ filter: {}, limit: 10, order: 'desc' }],
  recallRecord: () => [{ recallId: '0'.repeat(64) }],
  recallTotals: () => [{}],
  verifyAudit: () => [{}],
  auditPage: () => [{ filter: {}, limit: 10, order: 'asc' }],
  eraseUser: () => [{ userId: 'u1' }],
  eraseScope: () => [{ path: 'default' }],
  dropMemory: () => [{}],
  statisticsHistory: () => [{ fromMs: 0, toMs: 1, interval: 'day' }],
  rebuildIndexes: () => [{}],
  compact: () => [{}],
  rotateKeys: () => [{ scope: 'memory' }],
  compliance: () => [{ runId: 'vrf_test' }],
};

type Viewing = Extract<MethodsWith<'access', { readonly open: `${string}the caller may view` }>, MethodName>;
/** In this memory they tell a caller who sees all no more than one who sees nothing. */
type Untold = 'restrictions' | 'consents' | 'consentPage' | 'granted' | 'flush';

/** Calls that need no relation, and count or name only what the caller may view: its owner gets another answer. */
const COUNTS: Inputs<Exclude<Viewing, Untold>> = {
  statistics: () => [{}],
  users: () => [{}],
  measureIntel: () => [{}],
  compareSamples: () => [
    {
      identities: [],
      beliefs: [
        {
          ...{ head: 0, namespace: PLACE, user: 'u1', subject: 'ann', relation: 'likes', object: CANARY },
          contested: false,
        },
      ],
      names: [],
    },
  ],
  recallStatistics: () => [{ ...QUERY, query: 'ann likes' }],
  alike: () => [{ words: [CANARY], limit: 5 }],
  sessionSizes: () => [{ sessionIds: ['s1'] }],
};

/** Calls that need no relation, which must still show nothing of the grain to a caller without one. */
const OPEN_READS: Partial<Inputs<MethodName>> & Inputs<Viewing> = {
  ...COUNTS,
  locate: ({ hash }) => [{ hashes: [hash] }],
  grainHashes: () => [],
  restrictions: () => [{}],
  consents: () => [{ userId: 'u1' }],
  consentPage: () => [{ order: 'asc', offset: 0, limit: 10 }],
  granted: () => [{ userIds: ['u1'], purpose: 'cross_border' }],
  measureOps: () => [{}],
  flush: () => [{}],
};

/** The keys of the tables are methods; their inputs are sent as they are. */
function entriesOf(table: object): [MethodName, (kept: Kept) => readonly unknown[]][] {
  return Object.entries(table) as [MethodName, (kept: Kept) => readonly unknown[]][];
}

/** The bytes of an answer, if it has any. */
function bytesOf(answer: unknown): Buffer {
  if (answer instanceof Uint8Array) return Buffer.from(answer);
  if (typeof answer !== 'object' || answer === null) return Buffer.alloc(0);
  return Buffer.concat(Object.values(answer).map(bytesOf));
}

const context: CallContext = { memory: 1, partition: 0, actor: 'key:test', requestId: 'req_test' };
/**
 * Ways to hide the grain, each in a memory of its own; `free`: nothing hides it, and every call shows it. `denied`: the
 * caller may see and write another namespace alone.
 */
const HOW = ['free', 'restricted', 'withdrawn', 'expired', 'denied'] as const;
const PRESETS = { free: [], restricted: [], withdrawn: ['ccpa'], expired: ['retention_30d'], denied: ['soc2'] };

for (const [at, how] of HOW.entries())
  describe(`a grain that is ${how}`, () => {
    const directory = mkdtempSync(join(tmpdir(), 'granary-governed-calls-'));
    let nowMs = 1_760_000_000_000;
    let engine: Engine;
    let kept: Kept;
    const owner: CallContext = { ...context, memory: at + 1, owns: true };
    const here: CallContext = how === 'denied' ? { ...context, memory: at + 1, actor: 'agent:mole' } : owner;
    // Both sides go by the same name, which TypeScript does not follow through the two doors.
    const askAs = async (caller: CallContext, method: MethodName, input: unknown): Promise<unknown> =>
      CALL_ROWS[method].kind === 'read'
        ? engine.read(method as 'get', caller, input as never)
        : engine.write(method as 'add', caller, input as never);
    const ask = (method: MethodName, input: unknown) => askAs(here, method, input);

    before(async () => {
      engine = await openEngine({
        directory: join(directory, 'shard-0'),
        keysDirectory: join(directory, 'keys', 'shard-0'),
        shard: 0,
        shards: 1,
        masterKeys: [Buffer.alloc(32, 7)],
        indexHeapBytes: 64 << 20,
        clock: { nowMs: () => nowMs },
        onFatal: (error) => assert.fail(`fatal: ${error instanceof Error ? error.stack : error}`),
      });
      await ask('attachMemory', {
        settings: {
          number: here.memory,
          id: how,
          partitions: 1,
          language: 'en',
          dedup: 'exact',
          dedupThreshold: 0.85,
          createdAtMs: nowMs,
          policy: { presets: PRESETS[how], overrides: {}, sealedBy: 'test' },
        },
      });
      const { hash } = await engine.write('add', owner, { grainType: 'belief', fields: FIELDS, sync: false });
      kept = { hash, blob: engine.read('getRaw', owner, { hash }).blob, goal: '' };
      const said = { namespace: PLACE, user_id: 'u1', session_id: 's1', content: 'yes', role: 'user' };
      await engine.write('add', owner, { grainType: 'event', fields: said, sync: false });
      const seen = engine.read('recall', owner, QUERY);
      assert.equal(seen.hits.length, 1, 'there is something to be kept back');
      const { outcomes } = await engine.write('addBatch', here, { items: OF_SESSION });
      kept = { ...kept, goal: outcomes.map((one) => ('hash' in one ? one.hash : 'refused'))[GOAL_OF_SESSION]! };
      if (how === 'restricted') await ask('restrict', { userId: 'u1', restricted: true });
      if (how === 'withdrawn') await ask('consent', { items: [{ userId: 'u1', purpose: 'storage', granted: false }] });
      if (how === 'expired') nowMs += 30 * DAY_MS;
      if (how === 'denied')
        for (const relation of ['editor', 'eraser'])
          await askAs(owner, 'grantTuple', {
            tuple: { subject: 'agent:mole', relation, object: 'namespace:elsewhere' },
          });
    });
    after(async () => {
      await engine.close();
      rmSync(directory, { recursive: true });
    });

    const shown: object = { free: { ...READS, ...VIEWS }, denied: { ...READS, ...VIEWS, ...OPEN_READS } };
    for (const [method, inputs] of entriesOf((shown as Record<string, object>)[how] ?? READS)) {
      if (how === 'free')
        test(`${method} shows it`, async () => {
          const answers: unknown[] = [];
          for (const input of inputs(kept)) answers.push(await ask(method, input));
          const printed = inspect(answers, { depth: 12, maxStringLength: 100_000 });
          const raw = answers.some((answer) => bytesOf(answer).includes(CANARY));
          const marks = method === 'namespaces' ? [PLACE] : [CANARY, kept.hash, kept.goal, PARENT];
          assert.ok(raw || marks.some((mark) => printed.includes(mark)), `${method}: ${printed}`);
        });
      else
        test(`${method} does not show it`, async () => {
          for (const input of inputs(kept)) {
            const answer = await ask(method, input).catch((error: unknown) => {
              assert.ok(error instanceof EngineError, inspect(error));
              assert.match(error.code, how === 'denied' ? /^(AUT-E001|MEM-E001)$/ : /^(POL-E00[28]|MEM-E001)$/);
              return undefined;
            });
            const printed = inspect(answer, { depth: 12, maxArrayLength: 1_000, maxStringLength: 100_000 });
            const asked = inspect(input, { maxStringLength: 1_000 });
            // An answer may repeat the query.
            const echo = /WHERE object/.test(asked) ? printed.replaceAll(`object = "${CANARY}"`, '') : printed;
            assert.ok(!echo.includes(CANARY), `${method} ${asked} shows ${printed}`);
            assert.ok(!bytesOf(answer).includes(CANARY), `${method} ${asked} gives the blob`);
            if (how === 'denied') assert.ok(!echo.includes(PLACE), `${method} ${asked} tells the place: ${printed}`);
            if (method !== 'cal')
              for (const hash of [kept.hash, kept.goal, PARENT])
                assert.ok(!printed.includes(hash), `${method} ${asked} names ${printed}`);
          }
        });
    }
    if (how === 'denied')
      for (const [method, inputs] of entriesOf(COUNTS))
        test(`${method} does not count it`, async () => {
          for (const input of inputs(kept)) {
            const all = await askAs(owner, method, input);
            assert.notDeepEqual(await ask(method, input), all, `${method} answers as if it saw all`);
          }
        });
    const refused = {
      restricted: { calls: WRITES, code: /POL-E008/ },
      // By subject or triple, grains elsewhere are as if they were not there.
      denied: { calls: { ...WRITES, ...CHANGES, ...WHOLE }, code: /AUT-E001|MEM-E001|hashes: \[\]/ },
    };
    const { calls, code } = how === 'restricted' || how === 'denied' ? refused[how] : { calls: {}, code: /./ };
    for (const [method, inputs] of entriesOf(calls)) {
      test(`${method} does not change it`, async () => {
        for (const input of inputs(kept)) {
          const refusal = await ask(method, input).then(
            (answer) => inspect(answer, { depth: 6 }),
            (error: unknown) => (error instanceof EngineError ? error.code : inspect(error)),
          );
          assert.match(refusal, code, `${method} ${inspect(input)}`);
        }
      });
    }
    if (how === 'denied')
      test('the grain is as it was, and each refusal is in the trail', async () => {
        const { hits } = engine.read('recall', owner, QUERY);
        assert.deepEqual(
          hits.map(({ grain }) => grain.hash),
          [kept.hash],
        );
        const { entries } = await engine.write('auditPage', owner, { filter: {}, limit: 500, order: 'desc' });
        const denied = entries.filter(({ eventType }) => eventType === 'authz.access_denied');
        const operations = new Set(denied.map(({ details }) => details['operation']));
        for (const method of ['get', 'getRaw', 'history', 'supersede', 'forget', ...Object.keys(WHOLE)])
          assert.ok(operations.has(method), `${method} is not among ${[...operations]}`);
        for (const { actor, details } of denied) {
          const { principal, relation, object } = details;
          assert.equal(actor, 'agent:mole');
          assert.equal(principal, 'agent:mole');
          assert.match(String(relation), /^(viewer|editor|eraser|auditor|admin|owner)$/);
          assert.match(String(object), /^(memory:denied|namespace:[0-9a-f]{32})$/);
        }
      });
  });
