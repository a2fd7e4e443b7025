// Floods: many clients that send without end, that request and do not read, and whose bytes cost more than their size.
// The server's memory stays below the figure in docs/limits.md, and the server keeps answering.
import assert from 'node:assert/strict';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { after, before, beforeEach, describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { FLAG, FRAME, PREFACE } from '../../src/server/grpc/native/frames.ts';
import { HpackEncoder } from '../../src/server/grpc/native/hpack/encoder.ts';
import { h2 } from '../../src/server/grpc/native/testing/raw-connection.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { eventually } from '../support/eventually.ts';
import type { StallReport } from '../support/stall-probe.ts';
import { type StallLimits, stalledBy } from './limits.ts';
import { startVictim, type Victim } from './victim.ts';
import { pathOf } from './worst.ts';

const MIB = 1_048_576;
/** docs/limits.md: the memory under attack, with default options and little data. */
const RESIDENT_BYTES_MAX = 1_536 * MIB;
/**
 * The main thread's longest turn, in CPU time: a listener reads the received bytes of all connections before others get
 * their turn.
 */
const LIMITS: StallLimits = { mainMs: 250, workersMs: Number.POSITIVE_INFINITY };

const SILENT_CLIENTS = 300;
/** The memory of a stream whose client reads nothing: a chunk of events, and the listener's copy of it. */
const SILENT_CLIENT_BYTES_MAX = MIB;

const UNREAD_CONNECTIONS = 20;
/** Twice what a gRPC connection may leave unread (`GRPC_UNREAD_BYTES_MAX`), with the objects of its streams. */
const UNREAD_CONNECTION_BYTES_MAX = 6 * MIB;

const LISTENERS = ['uws', 'node'] as const;
/** gRPC has one listener, the same beside each of HTTP. */
const GRPC_BESIDE: (typeof LISTENERS)[number] = 'uws';

for (const listener of LISTENERS)
  describe(`floods, ${listener}`, () => {
    let victim: Victim;
    let http: HttpClient;
    let sockets: Socket[] = [];
    let sessions: ClientHttp2Session[] = [];

    before(async () => {
      victim = await startVictim({ http: listener });
      http = new HttpClient(victim.http, victim.key);
      for (let at = 0; at < 2; at += 1) {
        const grains = Array.from({ length: 10 }, (_, i) => ({
          grain_type: 'event',
          fields: { content: `apple ${at} ${i}`, session_id: `s${at} ${i}`, body: 'x'.repeat(0.9 * MIB) },
        }));
        await http.post('/memories/default/batch-add', { grains });
      }
    });
    after(() => victim.close());
    beforeEach(async () => {
      await victim.stalls();
    });

    /** A connection that sends these bytes and reads nothing. */
    function sent(port: number, ...pieces: readonly (string | Uint8Array)[]): Socket {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.pause();
      for (const piece of pieces) socket.write(piece);
      sockets.push(socket);
      return socket;
    }

    function requestHead(method: string, path: string, headers: Readonly<Record<string, string | number>>): string {
      const all = {
        host: 'localhost',
        authorization: `Bearer ${victim.key}`,
        'content-type': 'application/json',
        ...headers,
      };
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      return `${method} /api/memories/default/${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
    }

    async function openStreams(): Promise<number> {
      const answer = await fetch(`${victim.http}/metrics`, { headers: { authorization: `Bearer ${victim.key}` } });
      return Number(/^granary_event_streams (\d+)$/m.exec(await answer.text())?.[1]);
    }

    /** Beliefs that make 6,000 events. */
    async function addInBatches(about: string): Promise<void> {
      for (let from = 0; from < 6_000; from += 100) {
        const grains = Array.from({ length: 100 }, (_, i) => ({
          grain_type: 'belief',
          fields: { subject: about, relation: 'has', object: `the number ${from + i}` },
        }));
        await http.post('/memories/default/batch-add', { grains });
      }
    }

    function session(): ClientHttp2Session {
      const opened = connectHttp2(`http://${victim.grpc}`);
      opened.on('error', () => undefined);
      sessions.push(opened);
      return opened;
    }

    function rpc(on: ClientHttp2Session, name: string, headers: Readonly<Record<string, string>> = {}) {
      const stream = on.request({
        ':method': 'POST',
        ':path': pathOf(name),
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization: `Bearer ${victim.key}`,
        ...headers,
      });
      stream.on('error', () => undefined);
      return stream;
    }

    /** The server answers during the flood and accepts uploads of others afterwards. */
    async function holds(): Promise<void> {
      // On a busy machine a worker may be too late for one of these answers. The flood continues meanwhile.
      await eventually('it is healthy', async () => (await http.ask('GET', '/health')).status === 200);
      for (const socket of sockets) socket.destroy();
      for (const opened of sessions) opened.destroy();
      [sockets, sessions] = [[], []];
      const belief = { subject: 'it', relation: 'lives', object: 'on' };
      await eventually(
        'it takes a belief',
        async () => (await http.ask('POST', '/memories/default/add', { json: belief })).status === 200,
      );
    }

    /** A test that floods the server, again if it is blocked for too long; the server holds, and never becomes too large. */
    function floods(name: string, flood: (t: TestContext) => Promise<void>): void {
      test(name, async (t) => {
        let mainMs = 0;
        const stalls = async (): Promise<StallReport> => {
          const report = await victim.stalls();
          ({ mainMs } = report);
          return report;
        };
        const slow = await stalledBy({ stalls }, LIMITS, async () => {
          await flood(t);
          await holds();
        });
        assert.deepEqual(slow, []);
        const peak = victim.peakBytes();
        if (peak === undefined) {
          t.skip('this system does not report the peak memory of a process (VmHWM)');
          return;
        }
        t.diagnostic(
          `the main thread was blocked for ${Math.round(mainMs)} ms, ${Math.round(peak / MIB)} MiB were resident`,
        );
        assert.ok(peak < RESIDENT_BYTES_MAX, `${Math.round(peak / MIB)} MiB were resident`);
      });
    }

    floods('uploads that stall just before their end', async () => {
      const body = Buffer.alloc(MIB, ' ');
      const head = requestHead('POST', 'add', { 'content-length': 16 * MIB });
      const stalled = Array.from({ length: 100 }, () =>
        sent(victim.httpPort, head, ...Array.from({ length: 15 }, () => body)),
      );
      await eventually(
        'all that is read was sent',
        () => stalled.filter((socket) => socket.writableLength === 0).length > 10,
      );
    });

    floods('files that stall just before their end', async () => {
      const body = Buffer.alloc(MIB, 'x');
      const head = requestHead('POST', 'import-file', {
        'content-type': 'multipart/form-data; boundary=x',
        'content-length': 50 * MIB,
      });
      const stalled = Array.from({ length: 12 }, () =>
        sent(victim.httpPort, head, ...Array.from({ length: 45 }, () => body)),
      );
      await eventually('some were sent', () => stalled.filter((socket) => socket.writableLength === 0).length > 3);
    });

    floods('bodies in chunks of one byte', async () => {
      const head = requestHead('POST', 'add', { 'transfer-encoding': 'chunked' });
      const chunks = Buffer.alloc(6 * 100_000, '1\r\n \r\n');
      // The event loop reads the received bytes of all connections in one turn.
      const tiny = Array.from({ length: 8 }, () => sent(victim.httpPort, head, chunks));
      for (const socket of tiny) socket.resume();
      await eventually('their connections are closed', () => tiny.every(({ destroyed }) => destroyed));
    });

    if (listener === GRPC_BESIDE) {
      floods('gRPC messages that stall before their end', async () => {
        const half = Buffer.concat([Buffer.of(0, 0, 0xff, 0xff, 0xff), Buffer.alloc(1.5 * MIB)]);
        for (let at = 0; at < 10; at += 1) {
          const on = session();
          for (let i = 0; i < 50; i += 1) rpc(on, 'Add').write(half);
        }
        await eventually(
          'the server has read what it reads',
          async () => (await http.ask('GET', '/health')).status === 200,
        );
      });

      floods('gRPC calls without a key whose refusals are long and that nobody reads', async (t) => {
        const before = victim.residentBytes();
        const port = Number(victim.grpc.split(':').at(-1));
        const head = [':method', 'POST', ':scheme', 'http', ':path', `/${'p'.repeat(1_900)}`, ':authority', 'x'];
        const list = [...head, 'content-type', 'application/grpc', 'te', 'trailers'];
        for (let at = 0; at < UNREAD_CONNECTIONS; at += 1) {
          const encoder = new HpackEncoder();
          // All but the first name their headers by the table, in some octets.
          const calls = Array.from({ length: 10_000 }, (_, i) => {
            encoder.begin();
            encoder.indexed(list);
            return h2(FRAME.HEADERS, FLAG.END_HEADERS | FLAG.END_STREAM, 2 * i + 1, encoder.view());
          });
          const socket = sent(port, PREFACE, h2(FRAME.SETTINGS, 0, 0), Buffer.concat(calls));
          await eventually('the system has taken them', () => socket.writableLength === 0 || socket.destroyed);
        }
        // The main thread reads from each of them between two of these.
        for (let turn = 0; turn < 20; turn += 1) await http.ask('GET', '/health');
        const grown = victim.residentBytes() - before;
        t.diagnostic(`${Math.round(grown / MIB)} MiB more for ${UNREAD_CONNECTIONS} connections`);
        assert.ok(
          grown < UNREAD_CONNECTIONS * UNREAD_CONNECTION_BYTES_MAX,
          `it grew by ${Math.round(grown / MIB)} MiB`,
        );
      });

      floods('compressed gRPC messages that grow to the limit, and beyond', async () => {
        const framed = (bytes: Buffer): Buffer => {
          const frame = Buffer.alloc(5);
          frame[0] = 1;
          frame.writeUInt32BE(bytes.length, 1);
          return Buffer.concat([frame, bytes]);
        };
        const bombs = [gzipSync(Buffer.alloc(15 * MIB)), gzipSync(Buffer.alloc(64 * MIB))].map(framed);
        const on = session();
        let ended = 0;
        for (let i = 0; i < 16; i += 1) {
          const stream = rpc(on, 'Get', { 'grpc-encoding': 'gzip' });
          stream.on('close', () => {
            ended += 1;
          });
          stream.resume();
          stream.end(bombs[i % 2]);
        }
        await eventually('all are answered', () => ended === 16);
      });
    }

    floods('clients of the stream of events that read nothing', async (t) => {
      // Half of the adds come before, so that the growth is not that of a server that was just started.
      await addInBatches('before');
      const before = victim.residentBytes();
      for (let at = 0; at < SILENT_CLIENTS; at += 1) sent(victim.httpPort, requestHead('GET', 'events', {}));
      await eventually('all are open', async () => (await openStreams()) === SILENT_CLIENTS);
      await addInBatches('beside');
      const grown = victim.residentBytes() - before;
      t.diagnostic(`${Math.round(grown / MIB)} MiB more for ${SILENT_CLIENTS} clients`);
      assert.ok(grown < SILENT_CLIENTS * SILENT_CLIENT_BYTES_MAX, `it grew by ${Math.round(grown / MIB)} MiB`);
    });

    floods('callers that request large answers and read nothing', async () => {
      const body = '{"query":"apple","limit":500}';
      for (let at = 0; at < 7; at += 1) {
        sent(victim.httpPort, `${requestHead('POST', 'recall', { 'content-length': body.length })}${body}`);
        sent(victim.httpPort, requestHead('GET', 'grains?limit=500', {}));
      }
      const on = connectHttp2(`http://${victim.grpc}`, { settings: { initialWindowSize: 1_000 } });
      on.on('error', () => undefined);
      sessions.push(on);
      const message = Buffer.from('\x0a\x05apple\x60\xf4\x03', 'latin1');
      const frame = Buffer.concat([Buffer.of(0, 0, 0, 0, message.length), message]);
      for (let i = 0; i < 7; i += 1) rpc(on, 'Recall').end(frame);
      // Its turn comes after theirs.
      const found = await http.post('/memories/default/recall', { query: 'apple', limit: 1 });
      assert.equal(found.count, 1);
    });
  });
