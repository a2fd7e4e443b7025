// kill -9 of a server while provisions are before and after each of their writes. Until a request is repeated there is no
// harness, or one with its former goal; the repeated request makes the harness that it describes, and leaves nothing twice.
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { ask, type HttpAnswer, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { armPlaces, isArmed } from './places.ts';

// biome-ignore lint/suspicious/noExplicitAny: members are asserted where they are used
type Json = any;

const tool = (name: string, description: string) => ({
  tool_name: name,
  description,
  input_schema: { type: 'object', properties: {} },
  location: 'client://own',
});
const workflow = (node: string) => ({ nodes: ['ask', node], edges: [{ src: 'ask', dst: node, cond: 'done' }] });

const FIRST = { goal: 'Answer.', tools: [tool('look', 'Looks'), tool('tell', 'Tells')], workflow: workflow('answer') };
const SECOND = {
  goal: 'Answer well.',
  tools: [tool('look', 'Looks twice'), tool('write', 'Writes')],
  workflow: workflow('write'),
};
/** Two tools, the workflow, the goal, the note in the trail: before and after each. */
const PLACES = Array.from({ length: 10 }, (_, place) => place);
/** Grains of each request, which all say something new. */
const WRITES = 4;

for (const { partitions, listener } of [
  { partitions: 1, listener: 'node' },
  { partitions: 4, listener: 'uws' },
])
  test(`a provision survives kill -9 between any two writes: ${partitions} partitions, ${listener}`, async (t) => {
    const directory = temporaryDirectory(t);
    const cuts = temporaryDirectory(t);
    const start = (): Promise<ServerProcess> =>
      startServerProcess({
        directory,
        flags: ['--shards', '4', '--workers', '1', '--http', listener],
        preload: resolve(import.meta.dirname, 'provision-cut.ts'),
        env: { PROVISION_CUTS: cuts },
      });
    let server = await start();
    t.after(() => server.kill());
    const done = async (verb: string, path: string, json?: unknown, headers = {}): Promise<Json> => {
      const { status, body } = await ask(server, verb, `/memories/m${path}`, json, headers);
      assert.ok(status < 300, `${path}: ${JSON.stringify(body)}`);
      return body;
    };
    const keyed = (slug: string) => ({ 'idempotency-key': slug, 'x-request-id': slug });
    const cut = (slug: string, json: object): Promise<HttpAnswer | undefined> =>
      ask(server, 'POST', `/memories/m/harnesses/${slug}/provision`, json, keyed(slug)).catch(() => undefined);
    const check = async (slug: string, told: Json, goal: string, names: readonly string[], versions: number) => {
      const harness = await done('GET', `/harnesses/${slug}`);
      assert.deepEqual([harness.goal, harness.status], [goal, 'provisioned'], slug);
      const { tools } = await done('GET', `/harnesses/${slug}/tools`);
      assert.deepEqual(tools.map(({ tool_name: name }: Json) => name).toSorted(), names, slug);
      const held = async (query: string): Promise<Json[]> =>
        (await done('GET', `/grains?namespace=harnesses/${slug}/def&limit=100${query}`)).grains;
      const current = await held('&include_superseded=false');
      const expected = [told.goal_hash, told.workflow_hash, ...told.tool_hashes];
      assert.deepEqual(current.map(({ hash }) => hash).toSorted(), expected.toSorted(), `${slug} has nothing twice`);
      assert.equal((await held('&include_superseded=true')).length, versions, `${slug} has no version too many`);
    };
    assert.equal((await ask(server, 'POST', '/memories', { id: 'm', partitions })).status, 201);
    for (const place of PLACES) await done('POST', `/harnesses/changed-${place}/provision`, FIRST);

    armPlaces(
      cuts,
      Object.fromEntries(PLACES.flatMap((place) => [`new-${place}`, `changed-${place}`].map((slug) => [slug, place]))),
    );
    const answers = PLACES.flatMap((place) => [cut(`new-${place}`, FIRST), cut(`changed-${place}`, SECOND)]);
    assert.equal((await Promise.race(answers))?.body, undefined, 'no provision is answered');
    await server.ended;
    assert.ok(!isArmed(cuts), 'all provisions were cut at their places');
    server = await start();

    for (const place of PLACES) {
      const isThere = place >= PLACES.length - 3;
      const slug = `new-${place}`;
      const { status } = await ask(server, 'GET', `/memories/m/harnesses/${slug}`);
      assert.equal(status, isThere ? 200 : 404, `${slug} is there with its goal`);
      const told = await done('POST', `/harnesses/${slug}/provision`, FIRST, keyed(slug));
      await check(slug, told, 'Answer.', ['look', 'tell'], WRITES);

      const changed = `changed-${place}`;
      const { goal } = await done('GET', `/harnesses/${changed}`);
      assert.equal(goal, isThere ? 'Answer well.' : 'Answer.', changed);
      const second = await done('POST', `/harnesses/${changed}/provision`, SECOND, keyed(changed));
      await check(changed, second, 'Answer well.', ['look', 'tell', 'write'], 2 * WRITES);
      const { tools } = await done('GET', `/harnesses/${changed}/tools`);
      assert.equal(tools.find(({ tool_name: name }: Json) => name === 'look').description, 'Looks twice');
      assert.deepEqual(await done('POST', `/harnesses/${changed}/provision`, SECOND), second);
    }
    const verified = await done('POST', '/app/exec', { command: 'verify_audit_chain' });
    assert.ok(verified.result.valid, 'the audit chain is whole');
    assert.equal(await server.stop(), 0);
  });
