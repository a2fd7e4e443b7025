// Deliveries over a kill: what was committed before it arrives after the restart, in order, and nothing is left out.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ask, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

async function receiver(t: TestContext) {
  const arrived: { readonly sequence: number; readonly delivery: string }[] = [];
  const state = { isDown: false };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      if (state.isDown) return void request.socket.destroy();
      arrived.push({ sequence: JSON.parse(body).sequence, delivery: String(request.headers['x-memory-delivery']) });
      response.end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, arrived, state }; // it listens on a port
}

test('what a kill kept from a webhook arrives after the restart, in order and without a gap', async (t) => {
  const directory = temporaryDirectory(t);
  const flags = ['--shards', '2', '--workers', '1', '--embedder', 'none'];
  const to = await receiver(t);
  let server = await startServerProcess({ directory, flags });
  const add = async (i: number): Promise<void> => {
    const belief = { subject: 'ann', relation: 'likes', object: `thing ${i}` };
    assert.equal((await ask(server, 'POST', '/memories/default/add', belief)).status, 200);
  };
  const hook = await ask(server, 'POST', '/memories/default/hooks', { url: to.url });
  assert.equal(hook.status, 201);
  for (let i = 0; i < 20; i++) await add(i);
  await eventually('the first arrive', () => to.arrived.length >= 20);
  to.state.isDown = true;
  for (let i = 20; i < 40; i++) await add(i);
  await server.kill();
  to.state.isDown = false;
  server = await startServerProcess({ directory, flags });
  t.after(() => server.stop());
  // The failed try may have been written: then the event waits for its next one, unless it is asked for.
  const resume = { command: 'hook_resume', args: { hook_id: hook.body.hook_id } };
  assert.equal((await ask(server, 'POST', '/memories/default/app/exec', resume)).status, 200);
  await eventually('all arrive', () => to.arrived.some(({ sequence }) => sequence === 40));
  const first = [...new Set(to.arrived.map(({ sequence }) => sequence))];
  assert.deepEqual(
    first,
    Array.from({ length: 40 }, (_, i) => i + 1),
    'in order, each at least once',
  );
  // A repeat has the id of the first delivery.
  assert.equal(new Set(to.arrived.map(({ delivery }) => delivery)).size, 40);
  assert.equal(await server.stop(), 0);
});

const PYTHON = `
import hashlib, hmac, http.server, os, sys, time
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        sent = dict(part.split("=") for part in self.headers["x-memory-signature"].split(","))
        own = hmac.new(os.environ["SECRET"].encode(), sent["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
        fresh = abs(time.time() - int(sent["t"])) <= 300
        self.send_response(204 if fresh and hmac.compare_digest(own, sent["v1"]) else 401)
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
`;

test('a receiver in Python accepts the signature, and refuses one of another secret', async (t) => {
  if (spawnSync('python3', ['--version']).status !== 0) return t.skip('python3 is not installed');
  const { spawn } = await import('node:child_process');
  const directory = temporaryDirectory(t);
  const server = await startServerProcess({
    directory,
    flags: ['--shards', '2', '--workers', '1', '--embedder', 'none'],
  });
  t.after(() => server.stop());
  // The port is the system's choice, and the secret of the second hook is not the receiver's.
  const holder = createServer();
  await new Promise<void>((resolve) => {
    holder.listen(0, '127.0.0.1', resolve);
  });
  const { port } = holder.address() as AddressInfo; // it listens on a port
  holder.close();
  const url = `http://127.0.0.1:${port}/`;
  const create = () => ask(server, 'POST', '/memories/default/hooks', { url, generate_secret: true });
  const [right, wrong] = [(await create()).body, (await create()).body];
  const python = spawn('python3', ['-c', PYTHON], {
    env: { SECRET: right.secret, PORT: String(port), PATH: process.env['PATH'] },
  });
  t.after(() => python.kill());
  await new Promise((resolve) => python.stdout.once('data', resolve));
  const belief = { subject: 'ann', relation: 'likes', object: 'tea' };
  assert.equal((await ask(server, 'POST', '/memories/default/add', belief)).status, 200);
  const hookOf = async (id: string) =>
    (await ask(server, 'GET', '/memories/default/hooks')).body.hooks.find(
      ({ hook_id }: { readonly hook_id: string }) => hook_id === id,
    );
  await eventually('the right one is delivered', async () => (await hookOf(right.hook_id)).deliveries === 1);
  await eventually('the wrong one is given up', async () => (await hookOf(wrong.hook_id)).dead_letters.length === 1);
  assert.equal((await hookOf(wrong.hook_id)).dead_letters[0].reason, 'it answered 401');
});
