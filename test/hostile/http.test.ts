// Hostile input over HTTP, on both listeners: every answer is one of the contract's, and the server keeps running.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../../src/engine/base/testing/any-text.ts';
import { SocketClient, type WireResponse } from '../../src/server/http/socket-client.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { ROUTES } from '../conformance/routes.ts';
import { eventually } from '../support/eventually.ts';
import { runs } from '../support/runs.ts';
import { corpus, type HostileBody, type HostileRequest, joined } from './corpus.ts';
import { verdict, verdictOfBytes } from './verdict.ts';
import { startVictim, type Victim } from './victim.ts';

const M = '/api/memories/default';
const MIB = 1_048_576;
/** Routes that read a body: each gets bytes that are not a valid body. */
const BODY_PATHS = ['add', 'batch-add', 'recall', 'search', 'supersede', 'accumulate', 'forget', 'app/exec'];
const GET_PATHS = ['grains', `grains/${'f'.repeat(64)}`, 'stats', 'stats/history', 'tier-info', 'export-file'];

const anyName = fc.constantFrom(
  ...[
    'subject',
    'relation',
    'object',
    'fields',
    'grain_type',
    'grains',
    'query',
    'limit',
    'blob_hash',
    'hashes',
    'tags',
  ],
  ...['deltas', 'set', 'command', 'args', 'options', 'namespace', 'user_id', 'created_at', 'confidence', 'reason'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'invalidation_policy',
    'related_to',
    'context',
    'time_start',
    'embedding',
  ],
);

/** Any JSON text; numbers, names and texts that are hard for parsers are more frequent than by chance. */
const anyJson: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', '1e400', '-0', '1e-400', '9007199254740993', '12345678901234567890', '-1', '0.1'),
    fc.constantFrom('"\\u0000"', '"\\ud800"', '"__proto__"', '""', '"*"', '"belief"', `"${'f'.repeat(64)}"`),
    anyText().map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(fc.oneof(anyName, anyText()), tie('value')), { maxLength: 6 })
      .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
  ),
})).value;

for (const listener of ['uws', 'node'])
  describe(`hostile HTTP, ${listener}`, { timeout: 600_000 }, () => {
    let victim: Victim;
    before(async () => {
      victim = await startVictim({ http: listener });
    });
    after(() => victim.close());

    const open = (): Promise<SocketClient> => SocketClient.open(victim.httpPort);
    const authorized = () => ({ Authorization: `Bearer ${victim.key}` });
    const client = (): HttpClient => new HttpClient(victim.http, victim.key);

    /** One connection, reopened when the server closed it: most attacks need no new one. */
    async function exchanges(): Promise<{
      post(path: string, body: string | Uint8Array, headers?: Record<string, string>): Promise<WireResponse>;
      get(path: string, headers?: Record<string, string>): Promise<WireResponse>;
      close(): void;
    }> {
      let socket = await open();
      const ask = async (method: string, target: string, options: object): Promise<WireResponse> => {
        for (let attempt = 0; attempt < 2; attempt += 1) {
          const reply = socket.socket.destroyed ? undefined : await socket.exchange(method, target, options);
          if (reply?.headers.get('connection')?.toLowerCase() === 'close') socket.close();
          if (reply !== undefined) return reply;
          socket = await open();
        }
        assert.fail(`${method} ${target.slice(0, 200)} was not answered`);
      };
      return {
        post: (path, body, headers = { 'Content-Type': 'application/json' }) =>
          ask('POST', path, { headers: { ...authorized(), ...headers }, body }),
        get: (path, headers = {}) => ask('GET', path, { headers: { ...authorized(), ...headers } }),
        close: () => socket.close(),
      };
    }

    /** The server answers, and its data is still there. */
    async function livesOn(): Promise<void> {
      const http = client();
      await eventually('it is well', async () => (await http.ask('GET', '/health')).status === 200);
      const { blob_hash } = await http.post('/memories/default/add', {
        subject: 'it',
        relation: 'lives',
        object: 'on',
      });
      assert.equal((await http.get(`/memories/default/grains/${blob_hash}`)).fields.object, 'on');
    }

    test('saved bodies are refused with their expected codes', async () => {
      const wire = await exchanges();
      for (const { name, path, body, base64, codes = [], ok = false } of corpus<HostileBody>('http-bodies.json')) {
        const bytes = base64 === undefined ? Buffer.from(joined(body ?? [])) : Buffer.from(base64, 'base64');
        const code = verdict(await wire.post(`${M}/${path}`, bytes), name);
        if (code === undefined) assert.ok(ok, `${name} was accepted`);
        else assert.ok(codes.includes(code), `${name}: ${code}`);
      }
      wire.close();
      await livesOn();
    });

    test('saved requests are answered or their connections closed', async () => {
      const rows = corpus<HostileRequest>('http-requests.json');
      await Promise.all(
        rows.map(async ({ name, request, statuses, closed = false }) => {
          const socket = await open();
          socket.send(joined(request));
          // The half-close tells the server that no more comes.
          const giveUp = closed ? setTimeout(() => socket.socket.end(), 1_000) : undefined;
          const reply = await socket.response();
          clearTimeout(giveUp);
          if (reply === undefined) assert.ok(closed, `${name}: the connection was closed`);
          else assert.ok(statuses.includes(reply.status), `${name}: status ${reply.status}`);
          verdictOfBytes(reply, name);
          socket.close();
        }),
      );
      await livesOn();
    });

    test('any bytes, and any JSON, are answered by the contract on every route with a body', async () => {
      const wire = await exchanges();
      const path = fc.constantFrom(...BODY_PATHS);
      const bytes = fc.oneof(
        { weight: 4, arbitrary: anyJson.map((text) => Buffer.from(text)) },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
      );
      await fc.assert(
        fc.asyncProperty(path, bytes, async (to, body) => {
          verdict(await wire.post(`${M}/${to}`, body), to);
        }),
        { numRuns: runs(100) },
      );
      wire.close();
      await livesOn();
    });

    test('a valid body with one part replaced by anything is answered by the contract', async () => {
      const wire = await exchanges();
      const good: readonly (readonly [string, Record<string, unknown>])[] = [
        ['add', { subject: 'a', relation: 'b', object: 'c', tags: ['t'], created_at: 1_700_000_000, context: {} }],
        [
          'add',
          { grain_type: 'belief', fields: { subject: 'a', relation: 'b', object: 'c' }, options: { sync: false } },
        ],
        ['batch-add', { grains: [{ grain_type: 'event', fields: { content: 'x' } }], namespace: 'n', tags: [] }],
        ['recall', { query: 'a', limit: 3, time_start: 1, tags: ['t'], confidence_threshold: 0.5, multi_hop: 1 }],
        ['supersede', { blob_hash: 'f'.repeat(64), object: 'x', reason: 'r' }],
        ['accumulate', { subject: 'a', relation: 'b', deltas: { n: 1 }, set: { x: 1 } }],
        ['forget', { hashes: ['f'.repeat(64)], subject: 'nobody', reason: 'r' }],
        ['app/exec', { command: 'history', args: { hash: 'f'.repeat(64) } }],
      ];
      const mutation = fc.constantFrom(...good).chain(([path, body]) =>
        fc.record({
          path: fc.constant(path),
          body: fc.constant(body),
          name: fc.oneof(fc.constantFrom(...Object.keys(body)), anyName),
          value: anyJson,
        }),
      );
      await fc.assert(
        fc.asyncProperty(mutation, async ({ path, body, name, value }) => {
          const members = Object.entries(body).filter(([member]) => member !== name);
          const texts = [...members.map(([member, one]) => [member, JSON.stringify(one)]), [name, value]];
          const text = `{${texts.map(([member, one]) => `${JSON.stringify(member)}:${one}`).join(',')}}`;
          verdict(await wire.post(`${M}/${path}`, Buffer.from(text)), text);
        }),
        { numRuns: runs(100) },
      );
      wire.close();
      await livesOn();
    });

    test('any path, query and header is answered by the contract', async () => {
      const wire = await exchanges();
      const visible = fc.string({
        unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      });
      const encoded = anyText().map((text) => encodeURIComponent(text.toWellFormed()));
      const routes = ROUTES.filter(({ verb }) => verb === 'GET').map(({ path }) => path);
      const path = fc.oneof(
        fc.tuple(fc.constantFrom(...GET_PATHS), fc.oneof(visible, encoded)).map(([at, more]) => `${M}/${at}?${more}`),
        fc
          .tuple(fc.constantFrom('limit', 'cursor', 'offset', 'order', 'grain_type', 'created_after', 'from'), encoded)
          .map(([name, value]) => `${M}/grains?${name}=${value}`),
        fc
          .tuple(fc.constantFrom(...routes), encoded)
          .map(([route, id]) => `/api${route.replace(/^M/, '/memories/{id}')}`.replaceAll(/\{[a-z_]+\}/g, () => id)),
        visible.map((text) => `/api/${text}`),
      );
      const header = fc.record({
        name: fc.constantFrom(
          'X-Request-Id',
          'X-Namespace',
          'X-User-Id',
          'X-Reason',
          'X-Purpose',
          'Idempotency-Key',
          'Origin',
        ),
        value: fc.oneof(visible, encoded, fc.constant('x'.repeat(3_000))),
      });
      await fc.assert(
        fc.asyncProperty(path, header, async (target, { name, value }) => {
          const reply = await wire.get(target.replaceAll('#', '%23'), { [name]: value });
          verdictOfBytes(reply, target);
        }),
        { numRuns: runs(100) },
      );
      wire.close();
      await livesOn();
    });

    test('numbers stay exact or are refused; names of prototypes and equal names do no harm', async () => {
      const wire = await exchanges();
      const stored = async (fields: string): Promise<string | undefined> => {
        const reply = await wire.post(
          `${M}/add`,
          `{"subject":"n","relation":"is","object":"${fields.length}",${fields}}`,
        );
        if (verdict(reply, fields) !== undefined) return undefined;
        const { blob_hash } = JSON.parse(reply.body.toString());
        return (await wire.get(`${M}/grains/${blob_hash}`)).body.toString();
      };
      for (const integer of ['9007199254740993', '-9223372036854775808', '18446744073709551615'])
        assert.match((await stored(`"x":${integer}`)) ?? '', new RegExp(`"x":${integer}[,}]`));
      for (const number of [0.1, 1e-300, 5e-324, Number.MAX_VALUE, 1e21])
        assert.equal(JSON.parse((await stored(`"x":${number}`)) ?? '{}').fields?.x, number);
      for (const number of [
        '1e400',
        '-1e400',
        '123456789012345678901',
        '99999999999999999999',
        '-9223372036854775809',
      ]) {
        const text = await stored(`"x":${number}`);
        // Integers beyond 64 bits are refused, not rounded.
        assert.equal(text, undefined, `${number} was stored`);
      }
      const proto = JSON.parse(
        (await stored('"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}}')) ?? '{}',
      );
      assert.equal(Object.hasOwn(proto.fields, '__proto__'), true);
      assert.deepEqual(proto.fields.constructor, { prototype: { x: 1 } });
      const twice = JSON.parse((await stored('"twice":1,"twice":2')) ?? '{}');
      assert.equal(twice.fields.twice, 2, 'the last of two members of one name wins');
      const many = Array.from({ length: 10_001 }, (_, at) => `"f${at}":${at}`).join(',');
      assert.equal(await stored(many), undefined, 'a grain with too many fields is refused');
      wire.close();
      await livesOn();
    });

    test('bodies of another type, and bodies of a false length, are refused', async () => {
      const wire = await exchanges();
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'a/b; c',
      ])
        assert.equal(verdict(await wire.post(`${M}/add`, '{}', { 'Content-Type': type }), type), 'VAL-E006');
      const boundary = { 'Content-Type': 'multipart/form-data; boundary=x' };
      for (const body of [
        '',
        '--x',
        '--x--',
        '--x\r\n\r\n--x--',
        `--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n`,
        'x'.repeat(100_000),
      ])
        assert.ok(verdict(await wire.post(`${M}/import-file`, body, boundary), body.slice(0, 80)), body.slice(0, 80));
      wire.close();

      const short = await open();
      short.request('POST', `${M}/add`, {
        headers: { ...authorized(), 'Content-Type': 'application/json', 'Content-Length': '1000' },
        body: '{}',
      });
      short.socket.end();
      const reply = await short.response();
      if (reply !== undefined) assert.ok(reply.status >= 400 && reply.status < 500, `status ${reply.status}`);
      short.close();
      await livesOn();
    });

    test('a file with bytes changed, removed or inserted is imported or refused with a code', async () => {
      const wire = await exchanges();
      const id = `files-${listener}`;
      await client().post('/memories', { id });
      const grains = ['one', 'two', 'three'].map((content) => ({ grain_type: 'event', fields: { content } }));
      await client().post(`/memories/${id}/batch-add`, { grains });
      const file = Buffer.from((await client().ask('GET', `/memories/${id}/export-file`)).bytes);
      const change = fc.record({ at: fc.nat(file.length), cut: fc.nat(8), put: fc.uint8Array({ maxLength: 8 }) });
      const imported = async (bytes: Uint8Array): Promise<string | undefined> => {
        const head = '--x\r\nContent-Disposition: form-data; name="file"; filename="../../a.mg"\r\n\r\n';
        const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--x--\r\n')]);
        const type = { 'Content-Type': 'multipart/form-data; boundary=x' };
        return verdict(await wire.post(`/api/memories/${id}/import-file`, body, type), 'an import');
      };
      assert.equal(await imported(file), undefined);
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
          let bytes = file;
          for (const { at, cut, put } of changes)
            bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)]);
          const code = await imported(bytes);
          assert.ok(bytes.equals(file) || code === 'FMT-E001' || code === 'FMT-E003', `answered ${code}`);
        }),
        { numRuns: runs(33) },
      );
      assert.equal((await client().get(`/memories/${id}/stats`)).total_grains, grains.length);
      wire.close();
      await livesOn();
    });

    test('pipelined requests are answered in order, or not at all', async () => {
      const socket = await open();
      const request = (path: string) =>
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${victim.key}\r\n\r\n`;
      const asked = Array.from({ length: 200 }, (_, at) =>
        at % 3 === 2 ? `/api/nothing/${at}` : `${M}/grains?limit=1`,
      );
      socket.send(asked.map(request).join(''));
      for (const path of asked) {
        const reply = await socket.response();
        // uWebSockets.js closes a connection that does not wait for the previous answer.
        if (reply === undefined && listener === 'uws') break;
        assert.ok(reply, `${path} was not answered`);
        assert.equal(reply.status, path.includes('nothing') ? 404 : 200);
      }
      socket.close();
      await livesOn();
    });

    test('clients that disconnect, half or whole, leave nothing behind', async () => {
      const sockets = await Promise.all(Array.from({ length: 60 }, open));
      for (const [at, socket] of sockets.entries()) {
        const head = { ...authorized(), 'Content-Type': 'application/json' };
        if (at % 4 === 0) socket.send('POST /api/mem');
        if (at % 4 === 1) socket.request('POST', `${M}/add`, { headers: { ...head, 'Content-Length': '100000' } });
        if (at % 4 === 2) socket.request('GET', `${M}/export-file`, { headers: head });
        if (at % 4 === 3) socket.request('POST', `${M}/recall`, { headers: head, body: '{"query":"lives"}' });
      }
      for (const [at, socket] of sockets.entries()) {
        if (at % 2 === 0) socket.socket.end();
        else socket.socket.resetAndDestroy();
      }
      await livesOn();
      for (const socket of sockets) socket.close();
    });

    test('a body that arrives byte by byte is read like any other', async () => {
      const socket = await open();
      const body = '{"subject":"slow","relation":"is","object":"fine"}';
      const head = `POST ${M}/add HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${victim.key}\r\nContent-Type: application/json\r\n`;
      for (const byte of `${head}Content-Length: ${body.length}\r\n\r\n${body}`) {
        socket.send(byte);
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal((await socket.response())?.status, 200);
      socket.send(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      for (const byte of body) socket.send(`1\r\n${byte}\r\n`);
      socket.send('0\r\n\r\n');
      assert.equal((await socket.response())?.status, 200);
      socket.close();
      await livesOn();
    });

    test('memory stays bounded under large input', async () => {
      const http = client();
      const large = Buffer.from(`{"query":"${'x'.repeat(8 * MIB)}"}`);
      const deep = Buffer.from(`{"query":${'['.repeat(MIB)}`);
      const many = Buffer.from(`{"grains":[${'{},'.repeat(100_000)}{}]}`);
      const wire = await exchanges();
      const round = async (): Promise<void> => {
        for (const body of [large, deep, many])
          for (const path of ['recall', 'batch-add']) verdict(await wire.post(`${M}/${path}`, body), path);
        // Announced but never sent, and sent but never requested.
        const sockets = await Promise.all(Array.from({ length: 20 }, open));
        for (const socket of sockets) {
          socket.request('POST', `${M}/add`, { headers: { ...authorized(), 'Content-Length': String(16 * MIB) } });
          socket.send('{"subject":"'.padEnd(65_536, 'x'));
        }
        await http.get('/health');
        for (const socket of sockets) {
          const over = once(socket.socket, 'close');
          socket.close();
          await over;
        }
      };
      await round();
      const before = victim.residentBytes();
      for (let at = 0; at < 2; at++) await round();
      const grown = victim.residentBytes() - before;
      assert.ok(grown < 300 * MIB, `grew by ${Math.round(grown / MIB)} MiB`);
      wire.close();
      await livesOn();
    });
  });
