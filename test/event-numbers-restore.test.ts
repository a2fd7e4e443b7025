// A consumer of events over a backup and its restore: the numbers of events are those of the backup, so a consumer that
// stopped before it misses nothing and hears nothing twice, and one that was further is told so, however late it comes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { granary, type ServeProcess, serve } from './support/cli.ts';
import { EventClient } from './support/event-stream.ts';
import { ask } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

interface Heard {
  readonly id: string;
  readonly sequence: number;
  readonly partition?: number;
  readonly object: string;
}

const LOST = 'the events after its id are of a time that the restore undid';

for (const [partitions, listener] of [
  [1, 'node'],
  [4, 'uws'],
] as const)
  test(`events go on after a restore where the backup was taken, ${partitions} partitions, ${listener}`, async (t) => {
    const directory = temporaryDirectory(t);
    const [data, copy] = [join(directory, 'data'), join(directory, 'copy')];
    const run = async (...words: string[]): Promise<void> => {
      const { code, stderr } = await granary([...words, '--data-dir', data], { env: { GRANARY_SHARDS: '4' } });
      assert.equal(code, 0, stderr);
    };
    const asking = ({ http }: ServeProcess) => {
      const key = readFileSync(join(data, 'keys', 'bootstrap.key'), 'utf8').trim();
      const call = async (verb: string, path: string, json?: object) => {
        const { status, body } = await ask({ http: new URL(http).origin, key }, verb, path, json);
        assert.ok(status < 300, JSON.stringify(body));
        return body;
      };
      const add = async (names: readonly string[]): Promise<void> => {
        for (const object of names)
          await call('POST', '/memories/told/add', { subject: `of ${object}`, relation: 'is', object });
      };
      const exec = async (args: object) =>
        (await call('POST', '/memories/told/app/exec', { command: 'cdc_read', args })).result;
      /** The events and the gap that a long-poll gets after a cursor, and then a stream. */
      const heard = async (since: string, count: number) => {
        const path = `${http}/api/memories/told/events`;
        const authorization = `Bearer ${key}`;
        const accept = 'application/json';
        const answer = await fetch(`${path}?since=${since}&timeout_s=5`, { headers: { authorization, accept } });
        // biome-ignore lint/suspicious/noExplicitAny: members are asserted one by one
        const page: any = await answer.json();
        const client = await EventClient.open(path, { authorization, 'last-event-id': since });
        t.after(() => client.close());
        await client.until('the events', ({ events }) => events.length >= count);
        const [gap] = client.frames.filter(({ event }) => event === 'gap');
        const objects = (events: readonly Heard[]) => events.map(({ object }) => object).sort();
        return {
          polled: { events: objects(page.events), reason: page.gap?.reason },
          streamed: { events: objects(client.events.map(({ data }) => data)), reason: gap?.data.reason },
          lastId: client.frames.at(-1)!.id,
        };
      };
      return { call, add, exec, heard };
    };
    const start = (): Promise<ServeProcess> => serve(data, ['--http', listener, '--shards', '4']);
    const before = await start();
    t.after(() => before.stop());
    const then = asking(before);
    await then.call('POST', '/memories', { id: 'told', partitions });
    const { hook_id: id } = await then.call('POST', '/memories/told/hooks', { event_filters: ['grain_created'] });
    const named = (prefix: string) => Array.from({ length: 12 }, (_, at) => `${prefix} ${at}`);
    await then.add(named('first'));
    const first = await then.exec({ hook_id: id, limit: 5 });
    await run('backup', copy);
    const kept = await then.exec({ hook_id: id, after: first.next });
    await then.add(named('lost'));
    const further = await then.exec({ hook_id: id, after: kept.next });
    assert.deepEqual([first.events.length, kept.events.length, further.events.length], [5, 7, 12]);
    assert.equal(await before.stop(), 0);

    await run('restore', copy, '--yes');
    const after = await start();
    t.after(() => after.stop());
    const now = asking(after);
    // The hook and the rest after its place are as they were: the same events under the same numbers.
    const again = await now.exec({ hook_id: id, after: first.next });
    assert.deepEqual([again.events, again.gap], [kept.events, undefined]);
    assert.match(again.next, /^[a-z2-7]{8}-[\d.]+$/);
    assert.equal(again.next.slice(9), String(kept.next));
    // A consumer that was further hears that its place is gone.
    assert.equal((await now.exec({ hook_id: id, after: further.next })).gap.reason, 'ahead');
    await now.add(named('second'));
    const next = await now.exec({ hook_id: id, after: kept.next });
    const objects = next.events.map(({ object }: Heard) => object).sort();
    assert.deepEqual([objects, next.gap], [named('second').sort(), undefined]);
    const numbers = [...first.events, ...kept.events, ...next.events].map(
      ({ partition = 0, sequence }: Heard) => `${partition}.${sequence}`,
    );
    assert.equal(new Set(numbers).size, 24, 'no number is used twice');
    // An id is never used twice: receivers pass over ids that they know.
    const ids = [...kept.events, ...further.events, ...next.events].map((event: Heard) => event.id);
    assert.equal(new Set(ids).size, ids.length);

    // A consumer that was further and comes late: by now all its numbers name other events.
    await now.add([...named('third'), ...named('fourth')]);
    const since = [...named('second'), ...named('third'), ...named('fourth')].sort();
    const late = await now.exec({ hook_id: id, after: further.next });
    assert.deepEqual([late.events.map(({ object }: Heard) => object).sort(), late.gap?.reason], [since, 'ahead'], LOST);
    const { polled, streamed, lastId } = await now.heard(String(further.next), since.length);
    const told = { events: since, reason: 'ahead' };
    assert.deepEqual([polled, streamed], [told, told], LOST);
    // Its new id is good, and one of before the backup still is.
    assert.deepEqual((await now.exec({ hook_id: id, after: lastId })).gap, undefined);
    const old = await now.heard(String(kept.next), since.length);
    assert.deepEqual(old.streamed, { events: since, reason: undefined });
    assert.equal(await after.stop(), 0);

    // The same backup once more: ids of the first restore name nothing here.
    await run('restore', copy, '--yes');
    const second = await start();
    t.after(() => second.stop());
    const last = asking(second);
    await last.add(since.map((object) => `${object} again`));
    const lost = await last.exec({ hook_id: id, after: lastId });
    assert.deepEqual([lost.events.length, lost.gap?.reason], [since.length, 'ahead'], LOST);
    assert.deepEqual((await last.exec({ hook_id: id, after: kept.next })).gap, undefined);
    assert.equal(await second.stop(), 0);
  });
