// A consumer of events over a backup and its restore: the numbers of events are those of the backup, so a consumer that
// stopped before it misses nothing and hears nothing twice, and one that was further is told so.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { granaryJson, type ServeProcess, serve } from './support/cli.ts';
import { ask } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

interface Heard {
  readonly sequence: number;
  readonly partition?: number;
  readonly object: string;
}

for (const partitions of [1, 2])
  test(`events go on after a restore where the backup was taken, ${partitions} partitions`, async (t) => {
    const directory = temporaryDirectory(t);
    const [data, copy] = [join(directory, 'data'), join(directory, 'copy')];
    const here = (...words: string[]): string[] => [...words, '--data-dir', data];
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
      return { call, add, exec };
    };
    const before = await serve(data);
    t.after(() => before.stop());
    const then = asking(before);
    await then.call('POST', '/memories', { id: 'told', partitions });
    const { hook_id: id } = await then.call('POST', '/memories/told/hooks', { event_filters: ['grain_created'] });
    const named = (prefix: string) => Array.from({ length: 12 }, (_, at) => `${prefix} ${at}`);
    await then.add(named('first'));
    const start = await then.exec({ hook_id: id, limit: 5 });
    await granaryJson(here('backup', copy));
    const kept = await then.exec({ hook_id: id, after: start.next });
    await then.add(named('lost'));
    const further = await then.exec({ hook_id: id, after: kept.next });
    assert.deepEqual([start.events.length, kept.events.length, further.events.length], [5, 7, 12]);
    assert.equal(await before.stop(), 0);

    await granaryJson(here('restore', copy, '--yes'));
    const after = await serve(data);
    t.after(() => after.stop());
    const now = asking(after);
    // The hook and the rest after its place are as they were: the same events under the same numbers.
    const again = await now.exec({ hook_id: id, after: start.next });
    assert.deepEqual([again.events, again.gap], [kept.events, undefined]);
    assert.equal(again.next, kept.next);
    // A consumer that was further hears that its place is gone.
    assert.equal((await now.exec({ hook_id: id, after: further.next })).gap.reason, 'ahead');
    await now.add(named('second'));
    const next = await now.exec({ hook_id: id, after: kept.next });
    const objects = next.events.map(({ object }: Heard) => object).sort();
    assert.deepEqual([objects, next.gap], [named('second').sort(), undefined]);
    const numbers = [...start.events, ...kept.events, ...next.events].map(
      ({ partition = 0, sequence }: Heard) => `${partition}.${sequence}`,
    );
    assert.equal(new Set(numbers).size, 24, 'no number is used twice');
    assert.equal(await after.stop(), 0);
  });
