// kill -9 of a server before and after each write of a provision. Until the request is repeated there is no harness, or one
// with its former goal; the repeated request makes the harness that it describes, and leaves nothing twice.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { ask, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

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
const PLACES = 10;
/** Grains of each request, which all say something new. */
const WRITES = 4;

for (const { partitions, listener, every } of [
  { partitions: 1, listener: 'node', every: 1 },
  { partitions: 4, listener: 'uws', every: 3 },
])
  test(`a provision survives kill -9 between any two writes: ${partitions} partitions, ${listener}`, async (t) => {
    const directory = temporaryDirectory(t);
    const cuts = join(temporaryDirectory(t), 'cuts');
    mkdirSync(cuts);
    const armed = join(cuts, 'armed');
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
    /** Asks for it under a key, is cut at the place, and asks again under the key. */
    const cutAt = async (place: number, slug: string, json: object, between: () => Promise<void>): Promise<Json> => {
      const keyed = { 'idempotency-key': slug };
      writeFileSync(armed, String(place));
      const answer = await ask(server, 'POST', `/memories/m/harnesses/${slug}/provision`, json, keyed).catch(
        () => undefined,
      );
      assert.equal(answer, undefined, JSON.stringify(answer?.body));
      await server.ended;
      assert.ok(!existsSync(armed), `${slug} was cut`);
      server = await start();
      await between();
      return await done('POST', `/harnesses/${slug}/provision`, json, keyed);
    };
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

    for (let place = 0; place < PLACES; place += every) {
      const slug = `new-${place}`;
      const isThere = place >= PLACES - 3;
      const told = await cutAt(place, slug, FIRST, async () => {
        const { status } = await ask(server, 'GET', `/memories/m/harnesses/${slug}`);
        assert.equal(status, isThere ? 200 : 404, `${slug} is there with its goal`);
      });
      await check(slug, told, 'Answer.', ['look', 'tell'], WRITES);

      const changed = `changed-${place}`;
      await done('POST', `/harnesses/${changed}/provision`, FIRST);
      const second = await cutAt(place, changed, SECOND, async () => {
        const { goal } = await done('GET', `/harnesses/${changed}`);
        assert.equal(goal, isThere ? 'Answer well.' : 'Answer.', changed);
      });
      await check(changed, second, 'Answer well.', ['look', 'tell', 'write'], 2 * WRITES);
      const { tools } = await done('GET', `/harnesses/${changed}/tools`);
      assert.equal(tools.find(({ tool_name: name }: Json) => name === 'look').description, 'Looks twice');
      assert.deepEqual(await done('POST', `/harnesses/${changed}/provision`, SECOND), second);
    }
    const verified = await done('POST', '/app/exec', { command: 'verify_audit_chain' });
    assert.ok(verified.result.valid, 'the audit chain is whole');
    assert.equal(await server.stop(), 0);
  });
