// Definitions of harnesses over HTTP: they are grains, they are provisioned again without change, and access tuples decide.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BLANK } from '../../src/server/harness/templates/blank.ts';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { refused } from './contract.ts';
import { serveSuite } from './http-suite.ts';

const TOOL = {
  tool_name: 'orders.find',
  description: 'Finds an order',
  input_schema: {
    type: 'object',
    properties: { id: { type: 'string', pattern: '^[0-9]+$' }, region: { type: 'string' } },
    required: ['id'],
  },
  location: 'builtin://recall',
  locked_params: { region: 'eu' },
  examples: [{ id: '7' }],
  annotations: { read_only: true },
};

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
    const { http, memory } = serveSuite(listener, partitions);

    test('H118, H119: a harness is made as a draft, and shown', async () => {
      const M = await memory();
      const made = await http.ask('POST', `${M}/harnesses`, {
        json: { slug: 'support', name: 'Support', description: 'Answers customers', template: 'blank' },
      });
      assert.equal(made.status, 201);
      const { created_at, updated_at, goal_hash, ...shown } = made.json;
      assert.deepEqual(shown, {
        slug: 'support',
        name: 'Support',
        description: 'Answers customers',
        template: 'blank',
        goal: null,
        system_prompt: BLANK.systemPrompt,
        assemble_query: 'agent_context',
        model: null,
        provider: null,
        max_iterations: 8,
        status: 'draft',
        def_namespace: 'harnesses/support/def',
        workflow_hash: null,
        tools: [],
      });
      assert.ok(updated_at >= created_at);
      assert.deepEqual(await http.get(`${M}/harnesses/support`), made.json);
      const grain = await http.get(`${M}/grains/${goal_hash}`);
      assert.deepEqual([grain.grain_type, grain.namespace], ['goal', 'harnesses/support/def']);

      await refused(http.post(`${M}/harnesses`, { slug: 'support', name: 'Again' }), 'HRN-E008');
      await refused(http.post(`${M}/harnesses`, { slug: 'other', name: 'x', template: 'none' }), 'HRN-E009');
      for (const slug of ['', '-a', 'a-', 'A', 'a b', 'ä', 'a'.repeat(64)])
        await refused(http.post(`${M}/harnesses`, { slug, name: 'x' }), 'HRN-E001');
      await refused(http.get(`${M}/harnesses/none`), 'HRN-E002');
      await refused(http.get(`${M}/harnesses/-a`), 'HRN-E001');
      await refused(http.post(`${M}/harnesses`, { slug: 'x' }), 'VAL-E003');
    });

    test('H118: the same Idempotency-Key makes one harness; two at once make one', async () => {
      const M = await memory();
      const json = { slug: 'once', name: 'Once' };
      const headers = { 'idempotency-key': 'k1' };
      const [first, again] = [
        await http.post(`${M}/harnesses`, json, { headers }),
        await http.post(`${M}/harnesses`, json, { headers }),
      ];
      assert.deepEqual(again, first);
      const both = await Promise.all(
        [1, 2].map((at) => http.ask('POST', `${M}/harnesses`, { json: { slug: 'twice', name: `${at}` } })),
      );
      assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
    });

    test('a bound caller manages no harness', async () => {
      const M = await memory();
      await http.post(`${M}/harnesses`, { slug: 'support', name: 'Support' });
      const headers = { 'x-user-id': 'ann' };
      await refused(http.get(`${M}/harnesses/support`, { headers }), 'AUT-E001');
      await refused(http.post(`${M}/harnesses`, { slug: 'mine', name: 'Mine' }, { headers }), 'AUT-E001');
    });

    test('H116: the same provision twice makes no version, and a changed one changes what it says', async () => {
      const M = await memory();
      const body = {
        goal: 'Answer customers',
        name: 'Support',
        system_prompt: 'Be brief.',
        model: 'large',
        max_iterations: 4,
        workflow: { trigger: 'a question', nodes: ['ask', 'answer'], edges: [{ src: 'ask', dst: 'answer' }] },
        tools: [TOOL, { ...TOOL, tool_name: 'refund', location: 'client://refund' }],
      };
      const first = await http.post(`${M}/harnesses/support/provision`, body);
      assert.deepEqual(
        [first.slug, first.status, first.def_namespace],
        ['support', 'provisioned', 'harnesses/support/def'],
      );
      assert.equal(first.tool_hashes.length, 2);
      assert.deepEqual(await http.post(`${M}/harnesses/support/provision`, body), first);
      assert.deepEqual(
        await http.post(`${M}/harnesses/support/provision`, {}),
        first,
        'nothing stated, nothing changed',
      );
      const versions = async () =>
        (await http.get(`${M}/grains?namespace=harnesses/support/def&include_superseded=true`)).total;
      assert.equal(await versions(), 4);

      const changed = await http.post(`${M}/harnesses/support/provision`, {
        ...body,
        system_prompt: 'Be kind.',
        tools: [{ ...TOOL, description: 'Finds any order' }],
      });
      assert.notEqual(changed.goal_hash, first.goal_hash);
      assert.equal(changed.workflow_hash, first.workflow_hash);
      assert.equal(changed.tool_hashes.filter((hash: string) => first.tool_hashes.includes(hash)).length, 1);
      assert.equal(await versions(), 6);
      const shown = await http.get(`${M}/harnesses/support`);
      assert.deepEqual(
        [shown.goal, shown.system_prompt, shown.model, shown.max_iterations, shown.status, shown.workflow_hash],
        ['Answer customers', 'Be kind.', 'large', 4, 'provisioned', first.workflow_hash],
      );
      assert.deepEqual(
        shown.tools.map(({ tool_name }: { tool_name: string }) => tool_name),
        ['orders.find', 'refund'],
      );
      const history = await http.post(`${M}/app/exec`, { command: 'history', args: { hash: shown.goal_hash } });
      assert.equal(history.result.versions.length, 2);
      const { entries } = await http.get(`${M}/audit?event_type=harness.provisioned`);
      assert.equal(entries.length, 2, 'one entry for each change');
    });

    test('H116: provision makes a harness, asks for a goal, and refuses before it writes', async () => {
      const M = await memory();
      await refused(http.post(`${M}/harnesses/new/provision`, {}), 'HRN-E003');
      await refused(http.post(`${M}/harnesses/new/provision`, { template: 'none' }), 'HRN-E009');
      await refused(http.post(`${M}/harnesses/-/provision`, { goal: 'x' }), 'HRN-E001');
      await refused(http.post(`${M}/harnesses/new/provision`, { goal: 'x', max_iterations: 33 }), 'VAL-E001');
      await refused(http.post(`${M}/harnesses/new/provision`, { goal: 'x', assemble_query: 'nothing' }), 'VAL-E001');
      await refused(http.post(`${M}/harnesses/new/provision`, { goal: 'x', assemble_query: 'ASSEMBLE x' }), 'CAL-E002');
      await refused(http.post(`${M}/harnesses/new/provision`, { goal: 'x', tools: [TOOL, TOOL] }), 'VAL-E001');
      await refused(
        http.post(`${M}/harnesses/new/provision`, { goal: 'x', workflow: { nodes: [] } }),
        'VAL-E001',
        'VAL-E003',
      );
      await refused(
        http.post(`${M}/harnesses/new/provision`, {
          goal: 'x',
          tools: [TOOL, { ...TOOL, tool_name: 'b', input_schema: {} }],
        }),
        'MEM-E101',
      );
      await refused(http.get(`${M}/harnesses/new`), 'HRN-E002');
      assert.equal((await http.get(`${M}/grains`)).total, 0);

      await http.post(`${M}/harnesses`, { slug: 'draft', name: 'Draft' });
      await refused(http.post(`${M}/harnesses/draft/provision`, {}), 'HRN-E003');
      await http.post(`${M}/harnesses/draft/provision`, { goal: 'x' });
      const { name, goal, status } = await http.get(`${M}/harnesses/draft`);
      assert.deepEqual([name, goal, status], ['Draft', 'x', 'provisioned']);
    });

    test('H116: provisions at the same time leave one definition', async () => {
      const M = await memory();
      await Promise.all(
        Array.from({ length: 6 }, (_, at) =>
          http.post(`${M}/harnesses/busy/provision`, {
            goal: `goal ${at % 2}`,
            tools: [{ ...TOOL, description: `number ${at % 3}` }],
          }),
        ),
      );
      const { grains } = await http.get(`${M}/grains?namespace=harnesses/busy/def`);
      assert.deepEqual(grains.map(({ grain_type }: { grain_type: string }) => grain_type).sort(), ['action', 'goal']);
    });

    test('H114, H115: a tool is bound, replaced, and listed', async () => {
      const M = await memory();
      await http.post(`${M}/harnesses/support/provision`, { goal: 'Help' });
      const asked = await http.ask('POST', `${M}/harnesses/support/bind-tool`, { json: TOOL });
      assert.equal(asked.status, 201);
      const bound = asked.json;
      assert.deepEqual([bound.tool_name, bound.executor_kind, bound.status], ['orders.find', 'host', 'bound']);
      assert.match(bound.spec_hash, /^[0-9a-f]{64}$/);
      assert.deepEqual(await http.post(`${M}/harnesses/support/bind-tool`, TOOL), bound, 'the same again');
      const client = await http.post(`${M}/harnesses/support/bind-tool`, {
        ...TOOL,
        location: undefined,
        executor_uri: 'client://x',
      });
      assert.equal(client.executor_kind, 'client');
      assert.notEqual(client.tool_hash, bound.tool_hash);
      assert.notEqual(client.spec_hash, bound.spec_hash);
      const { superseded_by } = await http.get(`${M}/grains/${bound.tool_hash}`);
      assert.equal(superseded_by, client.tool_hash);

      const { tools, total } = await http.get(`${M}/harnesses/support/tools`);
      assert.equal(total, 1);
      const { created_at, ...tool } = tools[0];
      assert.ok(created_at > 0);
      const { location: _, ...rest } = TOOL;
      assert.deepEqual(tool, {
        ...rest,
        tool_hash: client.tool_hash,
        spec_hash: client.spec_hash,
        executor_uri: 'client://x',
        executor_kind: 'client',
        annotations: { read_only: true, destructive: false, idempotent: false },
        strict: false,
        async_mode: false,
      });
      const { raw_key } = await http.post('/auth/keys', { scopes: ['read'] });
      const [shown] = (await http.with(raw_key).get(`${M}/harnesses/support/tools`)).tools;
      assert.deepEqual(
        [shown.executor_uri, shown.locked_params, shown.tool_name],
        [undefined, undefined, 'orders.find'],
      );
      const { fields } = await http.with(raw_key).get(`${M}/grains/${client.tool_hash}`);
      assert.deepEqual(
        [fields.executor_uri, fields.locked_params],
        ['client://x', TOOL.locked_params],
        'a grain is whole',
      );
      await refused(http.post(`${M}/harnesses/none/bind-tool`, TOOL), 'HRN-E002');
      const { entries } = await http.get(`${M}/audit?event_type=harness.tool_bound`);
      assert.equal(entries.length, 2);
    });

    test('H114: what no tool may be is refused', async () => {
      const M = await memory();
      await http.post(`${M}/harnesses/support/provision`, { goal: 'Help' });
      const schema = (properties: object, more: object = {}) => ({
        input_schema: { type: 'object', properties, ...more },
      });
      let deep: object = { type: 'string' };
      for (let at = 0; at < 17; at++) deep = { type: 'array', items: deep };
      const bad: readonly (readonly [object, ...string[]])[] = [
        [{ tool_name: '' }, 'VAL-E001'],
        [{ tool_name: 'a b' }, 'VAL-E001'],
        [{ tool_name: 'a'.repeat(65) }, 'VAL-E001'],
        [{ tool_name: '.'.repeat(40) }, 'VAL-E001'],
        [{ description: '' }, 'VAL-E001'],
        [{ location: undefined }, 'VAL-E003'],
        [{ input_schema: undefined }, 'VAL-E003'],
        [{ input_schema: { type: 'array' } }, 'MEM-E101'],
        [{ output_schema: {} }, 'MEM-E101'],
        [schema({ a: { $ref: '#' } }), 'MEM-E102'],
        [schema({ a: { oneOf: [] } }), 'MEM-E102'],
        [schema({ a: { format: 'hostname' } }), 'MEM-E102'],
        [{ annotations: { read_only: true, destructive: true } }, 'MEM-E103'],
        [schema({ a: { description: 'such as ann.lee@example.com' } }), 'MEM-E104'],
        [schema({ a: deep }), 'MEM-E105'],
        [schema({ a: { pattern: '(' } }), 'MEM-E106'],
        [schema({ a: { pattern: '(a)\\1' } }), 'MEM-E106'],
        [schema({ a: { type: 'file' } }), 'VAL-E001'],
        [schema({}, { required: 'a' }), 'VAL-E001'],
        [{ locked_params: { region: 7 } }, 'VAL-E001'],
        [{ examples: [{ id: 7 }] }, 'VAL-E001'],
        [schema({ a: { description: 'x'.repeat(33_000) } }), 'LIM-E003'],
        ...[
          'orders',
          'client://',
          'ftp://x/y',
          'builtin://run',
          'executor://none',
          'http://',
          'https://user:p@example.com/',
        ].map((location) => [{ location }, 'VAL-E001'] as const),
      ];
      for (const [change, ...codes] of bad)
        await refused(http.post(`${M}/harnesses/support/bind-tool`, { ...TOOL, ...change }), ...codes).catch(
          (error: Error) => {
            throw new Error(`${JSON.stringify(change)}: ${error.message}`);
          },
        );
      await http.post(`${M}/harnesses/support/bind-tool`, TOOL);
      await refused(http.post(`${M}/harnesses/support/bind-tool`, { ...TOOL, tool_name: 'orders__find' }), 'VAL-E001');
      for (let at = 1; at < 64; at++)
        await http.post(`${M}/harnesses/support/bind-tool`, { ...TOOL, tool_name: `t${at}` });
      await refused(http.post(`${M}/harnesses/support/bind-tool`, { ...TOOL, tool_name: 'more' }), 'LIM-E002');
    });

    test('H120: what is stated changes, the rest stays', async () => {
      const M = await memory();
      await http.post(`${M}/harnesses/support/provision`, { goal: 'Help', model: 'large', tools: [TOOL] });
      const before = await http.get(`${M}/harnesses/support`);
      const after = await http.call('PATCH', `${M}/harnesses/support`, {
        json: { name: 'Desk', goal: 'Help more', model: '', provider: 'local', description: 'A desk' },
      });
      const { goal_hash: _, updated_at: __, ...same } = before;
      const { goal_hash: hash, updated_at: ___, ...changed } = after;
      assert.deepEqual(changed, {
        ...same,
        name: 'Desk',
        goal: 'Help more',
        model: null,
        provider: 'local',
        description: 'A desk',
      });
      assert.equal((await http.call('PATCH', `${M}/harnesses/support`, { json: { name: 'Desk' } })).goal_hash, hash);
      await refused(http.call('PATCH', `${M}/harnesses/none`, { json: { name: 'x' } }), 'HRN-E002');
      for (const json of [{ name: '' }, { max_iterations: 0 }, { goal: '' }, { assemble_query: 'RECALL events' }])
        await refused(http.call('PATCH', `${M}/harnesses/support`, { json }), 'VAL-E001');
    });

    test('H121: the definition is forgotten with its history, and its conversations stay', async () => {
      const M = await memory();
      await http.post(`${M}/harnesses/support/provision`, { goal: 'Help', tools: [TOOL] });
      await http.call('PATCH', `${M}/harnesses/support`, { json: { goal: 'Help more' } });
      await http.post(`${M}/add`, {
        grain_type: 'event',
        fields: { content: 'hello', session_id: 'c1', role: 'user' },
      });
      const { raw_key } = await http.post('/auth/keys', { scopes: ['read', 'write'] });
      await refused(http.with(raw_key).call('DELETE', `${M}/harnesses/support`), 'AUT-E001');
      assert.deepEqual(await http.call('DELETE', `${M}/harnesses/support`), { deleted: true, slug: 'support' });
      await refused(http.get(`${M}/harnesses/support`), 'HRN-E002');
      await refused(http.call('DELETE', `${M}/harnesses/support`), 'HRN-E002');
      const left = await http.get(`${M}/grains?include_superseded=true`);
      assert.deepEqual(
        left.grains.map(({ grain_type }: { grain_type: string }) => grain_type),
        ['event'],
      );
      await http.post(`${M}/harnesses`, { slug: 'support', name: 'New' });
    });

    test('H117: harnesses are listed in pages, with their tools', async () => {
      const M = await memory();
      assert.deepEqual(await http.get(`${M}/harnesses`), { harnesses: [], total: 0, next_cursor: null });
      for (const slug of ['a', 'b', 'c'])
        await http.post(`${M}/harnesses/${slug}/provision`, {
          goal: slug,
          tools: [{ ...TOOL, tool_name: `tool-${slug}` }],
        });
      // A goal of the same tag elsewhere is no harness.
      await http.post(`${M}/add`, { grain_type: 'goal', fields: { description: 'x', tags: ['granary:harness'] } });
      const slugs: string[] = [];
      let cursor = '';
      do {
        const page = await http.get(`${M}/harnesses?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
        assert.equal(page.total, 3);
        for (const { slug, tools } of page.harnesses) {
          slugs.push(slug);
          assert.deepEqual(
            tools.map(({ tool_name }: { tool_name: string }) => tool_name),
            [`tool-${slug}`],
          );
        }
        cursor = page.next_cursor ?? '';
      } while (cursor !== '');
      assert.deepEqual(slugs.sort(), ['a', 'b', 'c']);
      await refused(http.get(`${M}/harnesses?cursor=x`), 'VAL-E004');
    });

    test('access tuples decide: users see the harness, managers change it', async () => {
      const M = await memory();
      const keyOf = async (principal: string) =>
        http.with((await http.post('/auth/keys', { scopes: ['read', 'write'], principal })).raw_key);
      const [ann, bob] = [await keyOf('user:ann'), await keyOf('user:bob')];
      await http.call('PUT', `${M}/policy`, {
        json: { overrides: { access: { authz_required: true } }, reason: 'test' },
      });
      for (const slug of ['support', 'sales'])
        await http.post(`${M}/harnesses/${slug}/provision`, { goal: 'Help', tools: [TOOL] });
      await refused(ann.get(`${M}/harnesses/support`), 'AUT-E001');
      await refused(ann.post(`${M}/harnesses/mine/provision`, { goal: 'x' }), 'AUT-E001');
      assert.deepEqual((await ann.get(`${M}/harnesses`)).harnesses, []);
      const grant = (subject: string, relation: string, object: string) =>
        http.post(`${M}/authz/grant`, { subject, relation, object });
      await grant('user:ann', 'user', 'harness:support');
      await grant('user:bob', 'manager', 'harness:support');
      assert.equal((await ann.get(`${M}/harnesses/support`)).goal, 'Help');
      assert.equal((await ann.get(`${M}/harnesses/support/tools`)).total, 1);
      const listed = await ann.get(`${M}/harnesses`);
      assert.deepEqual([listed.harnesses.map(({ slug }: { slug: string }) => slug), listed.total], [['support'], null]);
      await refused(ann.call('PATCH', `${M}/harnesses/support`, { json: { goal: 'x' } }), 'AUT-E001');
      await refused(ann.post(`${M}/harnesses/support/bind-tool`, TOOL), 'AUT-E001');
      await bob.call('PATCH', `${M}/harnesses/support`, { json: { goal: 'Help more' } });
      await bob.post(`${M}/harnesses/support/bind-tool`, { ...TOOL, tool_name: 'more' });
      await refused(bob.get(`${M}/harnesses/sales`), 'AUT-E001');
      // An editor of the memory may use its harnesses, an admin manages them.
      const memoryId = M.split('/').at(-1);
      await grant('user:ann', 'editor', `memory:${memoryId}`);
      assert.equal((await ann.get(`${M}/harnesses`)).total, 2);
      await refused(ann.call('PATCH', `${M}/harnesses/sales`, { json: { goal: 'x' } }), 'AUT-E001');
      await grant('user:ann', 'admin', `memory:${memoryId}`);
      await ann.call('PATCH', `${M}/harnesses/sales`, { json: { goal: 'x' } });
      // Another harness of the same slug begins without the rights to this one.
      await http.call('DELETE', `${M}/harnesses/support`);
      await http.post(`${M}/harnesses/support/provision`, { goal: 'Something else' });
      await refused(bob.get(`${M}/harnesses/support`), 'AUT-E001');
      const { entries } = await http.get(`${M}/audit?event_type=authz.access_denied`);
      assert.ok(
        entries.some(({ details }: { details: { object: string } }) => /^harness:[0-9a-f]+$/.test(details.object)),
      );
    });

    test('a provision that the policy refuses leaves nothing behind', async () => {
      const tools = ['first', 'second'].map((name) => ({ ...TOOL, tool_name: name, description: `the ${name} tool` }));
      for (const [overrides, code] of [
        [{ guardrail: { patterns: ['second tool'], mode: 'contains' } }, 'POL-E012'],
        [{ guardrail: { patterns: ['the goal'], mode: 'contains' } }, 'POL-E012'],
        [{ write: { user_id_required: true } }, 'POL-E006'],
        [{ pii: { write_action: 'block' } }, 'POL-E005'],
      ] as const) {
        const M = await memory();
        await http.call('PUT', `${M}/policy`, { json: { overrides, reason: 'test' } });
        const goal = code === 'POL-E005' ? 'Write to ann@example.org' : 'the goal';
        await refused(http.post(`${M}/harnesses/new/provision`, { goal, tools }), code);
        assert.deepEqual((await http.get(`${M}/grains?include_superseded=true`)).grains, [], code);
      }
    });

    test('what governs grains governs a definition', async () => {
      const M = await memory();
      const made = await http.post(`${M}/harnesses/support/provision`, { goal: 'Help', tools: [TOOL] });
      await http.call('PUT', `${M}/policy`, {
        json: { overrides: { deletion: { reason_required: true } }, reason: 'test' },
      });
      await refused(http.call('DELETE', `${M}/harnesses/support`), 'POL-E001');
      assert.equal((await http.get(`${M}/harnesses/support`)).goal_hash, made.goal_hash);
      const exported = await http.ask('GET', `${M}/export-file`);
      const other = await memory();
      const body = new FormData();
      body.append('file', new Blob([Uint8Array.from(exported.bytes)]), 'f.mg');
      await http.ask('POST', `${other}/import-file`, { body });
      const moved = await http.get(`${other}/harnesses/support`);
      assert.deepEqual([moved.goal_hash, moved.tools.length], [made.goal_hash, 1]);
      await http.call('DELETE', `${M}/harnesses/support`, { headers: { 'x-reason': 'over' } });
      await http.post(`${other}/scope-erase`, { scope_path: 'harnesses/support', reason: 'over' });
      await refused(http.get(`${other}/harnesses/support`), 'HRN-E002');
    });
  });
