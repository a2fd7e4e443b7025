// Kills a server while access tuples and identities of agents change: what was acknowledged is there after the restart, in
// every partition, and what was not is there whole or not at all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../support/random.ts';
import { ask, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const FLAGS = ['--shards', '3', '--workers', '2', '--embedder', 'none'];
const ROUNDS = 3;
const WORKERS = 4;

/** The state by the last acknowledged call, and the one that a call under way would lead to. */
interface Known<S> {
  state: S;
  underWay: S | undefined;
}

interface World {
  /** By subject: whether it may view. */
  readonly tuples: Map<string, Known<'granted' | 'revoked'>>;
  readonly agents: Map<string, Known<'none' | 'active' | 'deactivated'>>;
}

/** False when the server is gone. */
async function done(server: ServerProcess, path: string, json: object): Promise<boolean> {
  try {
    const { status, body } = await ask(server, 'POST', `/memories/m${path}`, json);
    assert.ok(status < 300, JSON.stringify(body));
    return true;
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return false;
  }
}

/** Makes one change. `path` gets `json`; the state is known when it was acknowledged. */
async function change<S>(
  server: ServerProcess,
  known: Known<S>,
  to: S,
  { path, json }: { readonly path: string; readonly json: object },
): Promise<boolean> {
  known.underWay = to;
  if (!(await done(server, path, json))) return false;
  known.state = to;
  known.underWay = undefined;
  return true;
}

const tupleOf = (subject: string) => ({ subject, relation: 'viewer', object: 'namespace:plans' });

/** Grants and revokes the tuples of one worker, and registers and deactivates its agents, until the server is gone. */
async function work(server: ServerProcess, world: World, worker: string): Promise<void> {
  for (let step = 0; ; step += 1) {
    const subject = `user:${worker}.${step % 3}`;
    const tuple = world.tuples.get(subject) ?? { state: 'revoked', underWay: undefined };
    world.tuples.set(subject, tuple);
    const isGrant = tuple.state === 'revoked';
    const asked = { path: isGrant ? '/authz/grant' : '/authz/revoke', json: tupleOf(subject) };
    if (!(await change(server, tuple, isGrant ? 'granted' : 'revoked', asked))) return;
    const id = `${worker}-agent-${step}`;
    const agent: Known<'none' | 'active' | 'deactivated'> = { state: 'none', underWay: undefined };
    world.agents.set(id, agent);
    const register = { path: '/agents/identities', json: { agent_id: id } };
    if (!(await change(server, agent, 'active', register))) return;
    if (step % 2 === 0) continue;
    const deactivate = { path: `/agents/identities/${id}/deactivate`, json: {} };
    if (!(await change(server, agent, 'deactivated', deactivate))) return;
  }
}

/** Compares what the server says with what is known, and takes over what a killed call did. */
async function check(server: ServerProcess, { tuples, agents }: World): Promise<void> {
  const get = async (path: string) => {
    const answer = await ask(server, 'GET', `/memories/m${path}`);
    return answer.status === 404 ? undefined : answer.body;
  };
  for (const [subject, known] of tuples) {
    const { allowed } = await get(`/authz/check?${new URLSearchParams(tupleOf(subject))}`);
    const state = allowed ? 'granted' : 'revoked';
    assert.ok(state === known.state || state === known.underWay, `${subject} is ${state}: ${JSON.stringify(known)}`);
    // A call that was cut off may be in some partitions alone; a repeat completes it, whatever there is of it.
    const path = state === 'granted' ? '/authz/grant' : '/authz/revoke';
    assert.ok(await done(server, path, tupleOf(subject)));
    Object.assign(known, { state, underWay: undefined });
  }
  for (const [id, known] of agents) {
    const state = (await get(`/agents/identities/${id}`))?.status ?? 'none';
    assert.ok(state === known.state || state === known.underWay, `${id} is ${state}: ${JSON.stringify(known)}`);
    Object.assign(known, { state, underWay: undefined });
  }
  const { result } = (await ask(server, 'POST', '/memories/m/app/exec', { command: 'verify_audit_chain', args: {} }))
    .body;
  assert.equal(result.valid, true);
}

/** Every partition refuses the writes of a deactivated agent, and lets a granted subject read. */
async function checkDecisions(server: ServerProcess, { tuples, agents }: World): Promise<void> {
  const keyOf = async (principal: string, scopes: readonly string[]): Promise<ServerProcess> => {
    const { status, body } = await ask(server, 'POST', '/auth/keys', { principal, scopes, memory_id: 'm' });
    assert.equal(status, 201);
    return { ...server, key: body.raw_key };
  };
  const subjects = Array.from({ length: 6 }, (_, at) => `s${at}`);
  for (const status of ['active', 'deactivated'] as const) {
    const found = [...agents].find(([, { state }]) => state === status);
    assert.ok(found !== undefined, `no agent is ${status}`);
    const by = await keyOf(`agent:${found[0]}`, ['read', 'write']);
    for (const subject of subjects) {
      const fields = { subject, relation: 'is', object: `by ${found[0]}`, namespace: 'plans' };
      const { code } = await ask(by, 'POST', '/memories/m/add', fields);
      assert.equal(code, status === 'active' ? undefined : 'AGT-E003', `${status} agent, ${subject}`);
    }
  }
  const policy = { overrides: { 'access.authz_required': true }, reason: 'test' };
  assert.equal((await ask(server, 'PUT', '/memories/m/policy', policy)).status, 200);
  for (const state of ['granted', 'revoked'] as const) {
    const found = [...tuples].find(([, known]) => known.state === state);
    if (found === undefined) continue;
    const by = await keyOf(found[0], ['read']);
    const { body } = await ask(by, 'GET', '/memories/m/grains?limit=100');
    const seen = (body.grains ?? []).map(({ fields }: { fields: { subject: string } }) => fields.subject);
    assert.deepEqual(seen.sort(), state === 'granted' ? subjects : [], state);
  }
}

test('tuples and identities that were acknowledged outlive kills', async (t) => {
  const directory = temporaryDirectory(t);
  const seed = Date.now() % 1_000_000;
  // Before the first kill, so that a failure has it.
  t.diagnostic(`seed ${seed}`);
  const random = new Random(seed);
  const world: World = { tuples: new Map(), agents: new Map() };
  let server = await startServerProcess({ directory, flags: FLAGS });
  t.after(() => server.kill());
  assert.equal((await ask(server, 'POST', '/memories', { id: 'm', partitions: 3 })).status, 201);
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = world.agents.size;
    const working = Array.from({ length: WORKERS }, (_, at) => work(server, world, `w${round}.${at}`));
    const wanted = before + WORKERS * 2 + random.int(20);
    while (world.agents.size < wanted) await new Promise((resolve) => setTimeout(resolve, 1));
    await server.kill();
    await Promise.all(working);
    server = await startServerProcess({ directory, flags: FLAGS });
    await check(server, world);
  }
  await checkDecisions(server, world);
  assert.equal(await server.stop(), 0);
});
