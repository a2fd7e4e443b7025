// Bursts over HTTP: the entry of the trail, its event, and the check that looks at the monitor.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { shareServer } from './shared-server.ts';

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: false }, () => {
    const { http } = shareServer({ http: listener, shards: '4' });

    const entriesOf = async (M: string, event: string): Promise<Record<string, unknown>[]> =>
      (await http.get(`${M}/audit?event_type=${event}`)).entries;

    test('more than 100 forgotten grains in an hour are an entry and an event', async () => {
      await http.post('/memories', { id: 'often', partitions });
      const M = '/memories/often';
      const grains = Array.from({ length: 101 }, (_, i) => ({
        grain_type: 'belief',
        fields: { subject: `s${i}`, relation: 'is', object: 'gone' },
      }));
      const { added } = await http.post(`${M}/batch-add`, { grains });
      const hashes: string[] = added.map(({ blob_hash: hash }: { blob_hash: string }) => hash);
      await http.post(`${M}/forget`, { hashes, dry_run: true });
      await http.post(`${M}/forget`, { hashes: hashes.slice(0, 100) });
      assert.deepEqual(await entriesOf(M, 'monitor.excessive_forget'), []);
      await http.post(`${M}/forget`, { hashes: hashes.slice(100) });
      await eventually('the entry', async () => (await entriesOf(M, 'monitor.excessive_forget')).length === 1);
      const [entry] = await entriesOf(M, 'monitor.excessive_forget');
      const details = entry?.['details'];
      assert.deepEqual(typeof details === 'string' ? JSON.parse(details) : details, {
        count: 101,
        severity: 'warning',
      });
      assert.equal(entry?.['actor'], 'system');
      const { events } = await http.call('GET', `${M}/events?since=0&event_types=burst_noticed`, {
        headers: { accept: 'application/json' },
      });
      const noticed = events.filter(({ event_type: kind }: { event_type: string }) => kind === 'burst_noticed');
      assert.equal(noticed.length, 1);
      assert.equal((await http.post(`${M}/app/exec`, { command: 'verify_audit_chain', args: {} })).result.valid, true);
    });

    test('the 101st version of a grain is an entry and an event, once', async () => {
      await http.post('/memories', { id: 'deep', partitions });
      const M = '/memories/deep';
      const target = { subject: 'counter', relation: 'counts' };
      await http.post(`${M}/add`, { ...target, object: 'calls', user_id: 'ann' });
      const count = async (times: number): Promise<string> => {
        let hash = '';
        for (let i = 0; i < times; i++)
          hash = (await http.post(`${M}/accumulate`, { ...target, deltas: { calls: 1 } })).new_hash;
        return hash;
      };
      await count(99);
      assert.deepEqual(await entriesOf(M, 'monitor.deep_chain'), []);
      const newest = await count(1);
      const [entry, ...others] = await entriesOf(M, 'monitor.deep_chain');
      await count(3);
      assert.equal((await entriesOf(M, 'monitor.deep_chain')).length, 1);
      assert.deepEqual(others, []);
      const details = entry?.['details'] as Record<string, unknown>;
      assert.deepEqual([details['count'], details['severity'], entry?.['actor']], [101, 'warning', 'system']);
      assert.ok(JSON.stringify(entry).includes(newest), 'it names the version');
      const { events } = await http.call('GET', `${M}/events?since=0&types=burst_noticed`, {
        headers: { accept: 'application/json' },
      });
      assert.equal(events.length, 1);
    });

    test('more than 20 refusals by the policy are an entry, in this memory alone', async () => {
      for (const id of ['strict', 'other']) await http.post('/memories', { id, partitions });
      const M = '/memories/strict';
      await http.call('PUT', `${M}/policy`, { json: { overrides: { write: { user_id_required: true } } } });
      for (let i = 0; i < 21; i++) {
        const { status } = await http.ask('POST', `${M}/add`, {
          json: { subject: `s${i}`, relation: 'is', object: 'refused' },
        });
        assert.equal(status >= 400, true);
      }
      await eventually('the entry', async () => (await entriesOf(M, 'monitor.policy_violations')).length === 1);
      assert.deepEqual(await entriesOf('/memories/other', 'monitor.policy_violations'), []);
    });

    test('the check passes', async () => {
      await http.post('/memories', { id: 'checked', partitions });
      const { checks } = await http.post('/memories/checked/verify/run', { regulation: 'soc2' });
      const check = checks.find(({ id }: { id: string }) => id === 'soc2_incident_detection');
      assert.equal(check.status, 'pass', check.detail);
    });
  });
