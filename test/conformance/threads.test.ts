// Threads of chats over HTTP: made, listed, changed and deleted, with the events of their session as messages. On both
// listeners, with one partition and with four.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { refused } from './contract.ts';
import type { ParsedJson } from './driver.ts';
import type { Reply } from './http-client.ts';
import { serveSuite } from './http-suite.ts';

const DAY_S = 86_400;

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`threads, ${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
    const { http, memory } = serveSuite(listener, partitions);
    const made = (path: string, body: object = {}, headers = {}): Promise<Reply['json']> =>
      http.post(`${path}/chat/threads`, body, { headers });
    const said = async (path: string, thread: string, content: string, fields: object = {}): Promise<string> =>
      (
        await http.post(`${path}/add`, {
          grain_type: 'event',
          fields: { content, role: 'user', session_id: thread, run_id: content, ...fields },
        })
      ).blob_hash;
    const patch = (path: string, thread: string, json: object): Promise<Reply['json']> =>
      http.call('PATCH', `${path}/chat/threads/${thread}`, { json });
    const remove = (path: string, thread: string, headers = {}): Promise<Reply['json']> =>
      http.call('DELETE', `${path}/chat/threads/${thread}`, { headers });
    const contents = async (path: string, thread: string, query = ''): Promise<string[]> =>
      (await http.get(`${path}/chat/threads/${thread}/messages${query}`)).messages.map(
        ({ content }: ParsedJson) => content,
      );

    test('a thread is made, shown and changed, and its versions stay', async () => {
      const path = await memory();
      const { status, json } = await http.ask('POST', `${path}/chat/threads`, {
        json: { title: 'Tea', metadata: { channel: 'web' }, user_id: 'ada', namespace: 'home' },
      });
      assert.equal(status, 201);
      const { thread_id: id, created_at, updated_at, ...thread } = json;
      assert.match(id, /^thr_[a-z2-7]{24}$/);
      assert.deepEqual(thread, {
        title: 'Tea',
        message_count: 0,
        archived: false,
        metadata: { channel: 'web' },
        namespace: 'home',
        user_id: 'ada',
      });
      assert.equal(updated_at, created_at);
      assert.deepEqual(await http.get(`${path}/chat/threads/${id}`), json);
      const changed = await patch(path, id, { title: 'Green tea', archived: true });
      const { title, archived, metadata } = changed;
      assert.deepEqual(
        [title, archived, metadata, changed.created_at],
        ['Green tea', true, { channel: 'web' }, created_at],
      );
      const again = await patch(path, id, { archived: false, metadata: {} });
      assert.deepEqual([again.title, again.archived, again.metadata], ['Green tea', false, {}]);
      const { grains } = await http.get(`${path}/grains?session_id=${id}&include_superseded=true`);
      assert.deepEqual(grains.map(({ fields }: ParsedJson) => fields.data.title).sort(), [
        'Green tea',
        'Green tea',
        'Tea',
      ]);
      await refused(http.get(`${path}/chat/threads/thr_none`), 'CHT-E001');
      await refused(patch(path, 'thr_none', { title: 'x' }), 'CHT-E001');
      await refused(remove(path, 'thr_none'), 'CHT-E001');
      await refused(http.get(`${path}/chat/threads/thr_none/messages`), 'CHT-E001');
      await refused(made(path, { title: 7 }), 'VAL-E003');
      await refused(made(path, { title: 'x'.repeat(257) }), 'VAL-E001');
      await refused(made(path, { metadata: { text: 'x'.repeat(20_000) } }), 'VAL-E001');
    });

    test('changes at the same time all succeed', async () => {
      const path = await memory();
      const { thread_id: id } = await made(path, { title: 'Tea' });
      const work = [{ title: 'One' }, { archived: true }, { metadata: { at: 3 } }];
      await Promise.all(work.map((change) => patch(path, id, change)));
      const { title, archived, metadata } = await http.get(`${path}/chat/threads/${id}`);
      assert.deepEqual([title, archived, metadata], ['One', true, { at: 3 }]);
    });

    test('a repeated request with an idempotency key makes one thread', async () => {
      const path = await memory();
      const headers = { 'idempotency-key': 'k1' };
      const first = await made(path, { title: 'Tea' }, headers);
      assert.deepEqual(await made(path, { title: 'Tea' }, headers), first);
      await refused(made(path, { title: 'Coffee' }, headers), 'VAL-E005');
      assert.equal((await http.get(`${path}/chat/threads`)).total, 1);
    });

    test('threads are listed by archive, a change leaves them in their place', async () => {
      const path = await memory();
      const ids: string[] = [];
      for (const [at, title] of ['a', 'b', 'c'].entries()) {
        ids.push((await made(path, { title })).thread_id);
        if (at === 1) await patch(path, ids[0]!, { archived: true });
      }
      const listed = async (query = ''): Promise<string[]> =>
        (await http.get(`${path}/chat/threads${query}`)).threads.map(({ title }: ParsedJson) => title);
      assert.deepEqual((await listed()).sort(), ['a', 'b', 'c']);
      assert.deepEqual(await listed('?archived=true'), ['a']);
      assert.deepEqual((await listed('?archived=false')).sort(), ['b', 'c']);
      assert.equal((await http.get(`${path}/chat/threads?archived=false`)).total, 2);
      // The grain that makes a session a thread is no act in the session.
      assert.equal((await http.get(`${path}/sessions/${ids[0]}/state`)).state, null);
    });

    test('messages are the events of the session, oldest first, and count in the thread', async () => {
      const path = await memory();
      const { thread_id: id, updated_at: before } = await made(path, { user_id: 'ada' });
      const words = ['one', 'two', 'three', 'four', 'five'];
      const hashes: string[] = [];
      for (const [at, word] of words.entries())
        hashes.push(await said(path, id, word, { created_at: before + at - 100, user_id: 'ada' }));
      await said(path, 'elsewhere', 'six');
      assert.deepEqual(await contents(path, id), words);
      assert.deepEqual(await contents(path, id, '?order=desc&limit=2'), ['five', 'four']);
      const page = await http.get(`${path}/chat/threads/${id}/messages?limit=3`);
      assert.deepEqual([page.total, page.messages.length], [5, 3]);
      assert.deepEqual(await contents(path, id, `?limit=3&cursor=${page.next_cursor}`), ['four', 'five']);
      const { messages } = page;
      assert.deepEqual([messages[0].id, messages[0].grain_hash, messages[0].role], [hashes[0], hashes[0], 'user']);
      const answer = await said(path, id, 'answer', {
        role: 'assistant',
        source_type: 'agent',
        model_id: 'm1',
        parent_message_id: hashes[4],
        stop_reason: 'stop',
        token_usage: { input_tokens: 3, output_tokens: 4 },
        content_blocks: [{ type: 'tool_call', id: 'c1', name: 'recall', is_error: false, action_hash: hashes[0] }],
      });
      const [last] = (await http.get(`${path}/chat/threads/${id}/messages?order=desc&limit=1`)).messages;
      assert.deepEqual(last, {
        id: answer,
        grain_hash: answer,
        role: 'assistant',
        content: 'answer',
        created_at: last.created_at,
        parent_message_id: hashes[4],
        model_id: 'm1',
        stop_reason: 'stop',
        token_usage: { input_tokens: 3, output_tokens: 4 },
        tool_calls: [{ id: 'c1', name: 'recall', is_error: false, grain_hash: hashes[0] }],
      });
      const thread = await http.get(`${path}/chat/threads/${id}`);
      assert.equal(thread.message_count, 6);
      assert.ok(thread.updated_at >= last.created_at);
    });

    test('deleting a thread forgets its messages in every version, and leaves what was learnt', async () => {
      const path = await memory();
      const { thread_id: id } = await made(path, { title: 'Secret plan' });
      await patch(path, id, { title: 'Plan' });
      const first = await said(path, id, 'a misspelt mesage');
      const corrected = await http.post(`${path}/supersede`, { blob_hash: first, content: 'a message' });
      await http.post(`${path}/add`, { grain_type: 'action', fields: { tool_name: 'recall', session_id: id } });
      const fact = { subject: 'Ada', relation: 'likes', object: 'tea', session_id: id };
      const { blob_hash: learnt } = await http.post(`${path}/add`, fact);
      const { blob_hash: other } = await http
        .post(`${path}/chat/threads`, {})
        .then(({ thread_id }) =>
          http.post(`${path}/add`, { grain_type: 'event', fields: { content: 'stays', session_id: thread_id } }),
        );
      assert.deepEqual(await remove(path, id), { deleted: true, thread_id: id, forgotten: 3 });
      await refused(http.get(`${path}/chat/threads/${id}`), 'CHT-E001');
      await refused(remove(path, id), 'CHT-E001');
      for (const hash of [first, corrected.blob_hash]) await refused(http.get(`${path}/grains/${hash}`), 'MEM-E001');
      await http.get(`${path}/grains/${learnt}`);
      await http.get(`${path}/grains/${other}`);
      const { grains } = await http.get(`${path}/grains?session_id=${id}&include_superseded=true`);
      assert.deepEqual(
        grains.map(({ hash }: ParsedJson) => hash),
        [learnt],
      );
      const { entries } = await http.get(`${path}/audit?event_type=chat.thread_deleted`);
      assert.deepEqual([entries.length, entries[0].details.count], [1, 3]);
      assert.match(entries[0].details.thread_hmac, /^[0-9a-f]{64}$/);
      assert.ok(!JSON.stringify(entries).includes(id));
    });

    test('a policy that keeps one message keeps the thread whole', async () => {
      const path = await memory();
      const { thread_id: id } = await made(path, { user_id: 'ada' });
      await said(path, id, 'one');
      await http.call('PUT', `${path}/policy`, { json: { add_policies: ['legal_hold'], reason: 'a case' } });
      await refused(remove(path, id, { 'x-reason': 'asked' }), 'POL-E003');
      assert.deepEqual(await contents(path, id), ['one']);
      await http.call('PUT', `${path}/policy`, {
        json: { remove_policies: ['legal_hold'], reason: 'release: closed' },
      });
      await http.call('PUT', `${path}/policy`, { json: { add_policies: ['strict_deletion'], reason: 'care' } });
      await http.post(`${path}/consent/grant`, { user_id: 'ada', purpose: 'deletion' });
      await refused(remove(path, id), 'POL-E001');
      assert.deepEqual(await contents(path, id), ['one']);
      const json = { reason: 'asked' };
      assert.equal((await http.call('DELETE', `${path}/chat/threads/${id}`, { json })).forgotten, 1);
    });

    test('a thread is frozen with its person, and goes with its person', async () => {
      const path = await memory();
      const exec = (command: string) =>
        http.post(`${path}/app/exec`, { command, args: { user_id: 'ada', reason: 'x' } });
      const { thread_id: id } = await made(path, { title: 'Tea', user_id: 'ada' });
      const { thread_id: shared } = await made(path, { title: 'Shared' });
      await said(path, id, 'mine', { user_id: 'ada' });
      await said(path, shared, 'also mine', { user_id: 'ada' });
      await said(path, shared, 'of bob', { user_id: 'bob' });
      await exec('restrict');
      await refused(http.get(`${path}/chat/threads/${id}`), 'POL-E008');
      await refused(http.get(`${path}/chat/threads/${id}/messages`), 'POL-E008');
      await refused(patch(path, id, { title: 'x' }), 'POL-E008');
      await refused(remove(path, id), 'POL-E008');
      assert.deepEqual(await contents(path, shared), ['of bob']);
      assert.equal((await http.get(`${path}/chat/threads/${shared}`)).message_count, 1);
      assert.equal((await http.get(`${path}/chat/threads`)).total, 1);
      await exec('unrestrict');
      assert.deepEqual(await contents(path, id), ['mine']);
      await exec('forget_user');
      await refused(http.get(`${path}/chat/threads/${id}`), 'CHT-E001');
      assert.deepEqual(await contents(path, shared), ['of bob']);
      assert.deepEqual(
        (await http.get(`${path}/chat/threads`)).threads.map(({ title }: ParsedJson) => title),
        ['Shared'],
      );
    });

    test('messages that have expired are not shown, and neither is a thread, whose words go at the next enforcement', async () => {
      const path = await memory();
      const then = Math.floor(Date.now() / 1_000) - 40 * DAY_S;
      const keep = (overrides: object) =>
        http.call('PUT', `${path}/policy`, { json: { overrides, reason: 'a shorter time' } });
      const enforce = () => http.post(`${path}/retention/enforce`, {});
      const stored = async (id: string) =>
        JSON.stringify((await http.get(`${path}/grains?session_id=${id}&include_superseded=true`)).grains);
      const { thread_id: id } = await made(path, { title: 'Plans' });
      const old = await said(path, id, 'an old secret', { created_at: then });
      await keep({ 'retention.by_type': { event: 30 } });
      const thread = await http.get(`${path}/chat/threads/${id}`);
      assert.deepEqual([thread.title, thread.message_count], ['Plans', 0]);
      assert.equal(thread.updated_at, thread.created_at);
      assert.deepEqual(await contents(path, id), []);
      await refused(http.get(`${path}/grains/${old}`), 'MEM-E001');
      await enforce();
      assert.doesNotMatch(await stored(id), /secret/);
      await said(path, id, 'news');
      assert.deepEqual(await contents(path, id), ['news']);

      // A thread as old as its messages: its state is a grain like them.
      const { blob_hash: state } = await http.post(`${path}/add`, {
        grain_type: 'state',
        fields: {
          data: { title: 'Old plans', metadata: {} },
          tags: ['chat_thread'],
          session_id: 'thr_old',
          embedding_text: 'Old plans',
          created_at: then,
        },
      });
      await said(path, 'thr_old', 'another old secret', { created_at: then });
      assert.equal((await http.get(`${path}/chat/threads/thr_old`)).title, 'Old plans');
      await keep({ 'retention.default_ttl_days': 30 });
      assert.deepEqual(
        (await http.get(`${path}/chat/threads`)).threads.map(({ title }: ParsedJson) => title),
        ['Plans'],
      );
      await refused(http.get(`${path}/chat/threads/thr_old`), 'CHT-E001');
      await refused(http.get(`${path}/chat/threads/thr_old/messages`), 'CHT-E001');
      await refused(patch(path, 'thr_old', { title: 'x' }), 'CHT-E001');
      await refused(remove(path, 'thr_old'), 'CHT-E001');
      await enforce();
      assert.equal(await stored('thr_old'), '[]');
      await refused(http.get(`${path}/grains/${state}`), 'MEM-E001');
    });

    test('a bound caller sees and changes its own threads alone', async () => {
      const path = await memory();
      const bound = (verb: string, at: string, json?: object) =>
        http.call(verb, `${path}/chat/threads${at}`, {
          headers: { 'x-user-id': 'ada' },
          ...(json === undefined ? {} : { json }),
        });
      const { thread_id: bobs } = await made(path, { title: 'of bob', user_id: 'bob' });
      const own = await bound('POST', '', { title: 'of ada' });
      assert.equal(own.user_id, 'ada');
      assert.deepEqual(
        (await bound('GET', '')).threads.map(({ thread_id }: ParsedJson) => thread_id),
        [own.thread_id],
      );
      for (const [verb, json] of [['GET'], ['PATCH', { title: 'x' }], ['DELETE']] as const)
        await refused(bound(verb, `/${bobs}`, json), 'CHT-E001');
      await said(path, own.thread_id, 'of ada', { user_id: 'ada' });
      await said(path, own.thread_id, 'of bob', { user_id: 'bob' });
      assert.equal((await bound('GET', `/${own.thread_id}`)).message_count, 1);
      assert.equal((await bound('GET', `/${own.thread_id}/messages`)).messages.length, 1);
    });

    test('a key that may only read lists threads and changes none', async () => {
      const path = await memory();
      const { thread_id: id } = await made(path);
      const { raw_key: key } = await http.post('/auth/keys', { scopes: ['read'] });
      const reader = http.with(key);
      assert.equal((await reader.get(`${path}/chat/threads`)).total, 1);
      for (const [verb, at] of [
        ['POST', ''],
        ['PATCH', `/${id}`],
        ['DELETE', `/${id}`],
      ] as const)
        await refused(reader.call(verb, `${path}/chat/threads${at}`, { json: {} }), 'AUT-E001');
    });
  });
