// A node that is stopped past its lease and continued says nothing as an owner: neither to calls that it had when it was
// stopped, nor to those that came meanwhile or come later.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { migrate } from '../../src/engine/log/postgres/migrate.ts';
import { eventually } from '../support/eventually.ts';
import { testDatabase } from '../support/postgres.ts';
import { codeOf, contextOf, openShard } from '../support/shard.ts';
import { restOfLeaseMs } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import type { NodeAnswer, NodeCall, NodeOptions } from './stopped-node-child.ts';

const CHILD = join(import.meta.dirname, 'stopped-node-child.ts');
/** A busy machine may not run the node for seconds, and it must not lose its lease before it is stopped. */
const LEASE_MS = 6_000;
const IN_FLIGHT = 32;
const ROUNDS = 2;

type Call = NodeCall extends infer C ? (C extends { readonly id: number } ? Omit<C, 'id'> : never) : never;

/** The child, and its answers. */
class Node {
  readonly process: ChildProcess;
  readonly #waiting = new Map<number, (answer: NodeAnswer) => void>();
  #ids = 0;

  private constructor(child: ChildProcess) {
    this.process = child;
    child.on('message', (answer: NodeAnswer) => {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  static async start(t: TestContext, options: NodeOptions): Promise<Node> {
    const child = fork(CHILD, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    t.after(() => child.kill('SIGKILL'));
    const node = new Node(child);
    await new Promise((resolve) => node.#waiting.set(-1, resolve));
    return node;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  call(call: Call): Promise<NodeAnswer> {
    const id = this.#ids++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.process.send({ id, ...call });
    });
  }
}

test('a node that was stopped past its lease answers nothing as an owner', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const { url } = found;
  const database = await Database.open(url);
  t.after(() => database.close());
  await migrate(database, 1);
  const root = temporaryDirectory(t);
  const node = await Node.start(t, { root: join(root, 'a'), url, node: 'a', leaseMs: LEASE_MS });
  const done = async (call: Call) => assert.equal((await node.call(call)).code, undefined, call.kind);
  const added: string[] = [];
  let sent = 0;
  let late = 0;
  await done({ kind: 'open' });
  await done({ kind: 'attach' });
  const first = (await node.call({ kind: 'add', subject: 'first' })).hash!;
  for (let round = 1; round <= ROUNDS; round++) {
    let isOver = false;
    let continuedAt: bigint | undefined;
    const refusals: (string | undefined)[] = [];
    let early = 0;
    const calling = Array.from({ length: IN_FLIGHT }, async (_, i) => {
      while (!isOver) {
        const isRead = i % 2 === 0;
        const answer = await node.call(isRead ? { kind: 'get', hash: first } : { kind: 'add', subject: `s${sent++}` });
        // The stop may come between the look at the lease and the write of the answer.
        const isOfBefore = continuedAt === undefined || BigInt(answer.at ?? 0) < continuedAt;
        if (isOfBefore && answer.code === undefined) early += 1;
        else refusals.push(answer.code);
        if (answer.hash !== undefined) added.push(answer.hash);
      }
    });
    const before = added.length;
    await eventually('calls are answered', () => added.length > before + 50);
    node.process.kill('SIGSTOP');
    await eventually('the lease has ended', async () => (await restOfLeaseMs(database)) <= 0);
    const other = await openShard(join(root, `b${round}`), { database: { url, node: 'b', leaseMs: 60_000 } });
    // Everything that it said before it was stopped has been read by now.
    const { waiting } = node;
    assert.equal(waiting, IN_FLIGHT, 'calls wait in the stopped node');
    assert.deepEqual(refusals, [], 'nothing was refused before');
    early = 0;
    continuedAt = process.hrtime.bigint();
    node.process.kill('SIGCONT');
    await eventually('calls of before and later ones are answered', () => refusals.length > 5 * IN_FLIGHT);
    isOver = true;
    await Promise.all(calling);
    assert.deepEqual([...new Set(refusals)], ['STO-E002'], 'every answer of the stopped node is a refusal');
    // It writes one answer at a time.
    assert.ok(early <= 1, `${early} answers that were decided before the stop`);
    late += refusals.length;

    for (const hash of added)
      assert.equal(
        await codeOf(() => other.read('get', contextOf(1), { hash })),
        undefined,
        'nothing acknowledged is lost',
      );
    assert.equal((await other.write('verifyAudit', contextOf(1), {})).valid, true);
    await other.close();
    // The node gives up what it had, and may own the shard again.
    await done({ kind: 'close' });
    await done({ kind: 'open' });
    await done({ kind: 'get', hash: added.at(-1)! });
  }
  t.diagnostic(`${added.length} acknowledged, 0 lost; ${late} answers after ${ROUNDS} stops, 0 as an owner`);
});
