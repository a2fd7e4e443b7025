// `granary events` against a server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as streamed } from 'node:stream/consumers';
import { test } from 'node:test';
import { environment, servedForFile } from './support/cli.ts';
import { granary, granaryJson } from './support/command-thread.ts';
import { eventually } from './support/eventually.ts';
import { MAIN } from './support/program.ts';

const { here } = servedForFile();

test('the kept events are listed, with filters, as lines and as JSON lines', async () => {
  const { hash } = await granaryJson(here('add', 'Ada', 'likes', 'tea', '--user', 'ada'));
  await granaryJson(here('consent', 'grant', 'ada', 'ads'));
  const listed = await granary(here('events'));
  assert.equal(listed.code, 0, listed.stderr);
  const lines = listed.stdout.trimEnd().split('\n');
  assert.match(
    lines[0]!,
    new RegExp(`^\\d{4}-.* 1 +grain_created +${String(hash).slice(0, 12)} +Ada likes tea, user ada$`),
  );
  assert.equal(lines.length, 3);
  assert.equal(listed.stderr, 'Continue with --since 3.\n');
  const some = await granary(here('events', '--types', 'consent_granted', '--since', '1', '--json'));
  const [event] = some.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual([event.event_type, event.user_id, event.sequence], ['consent_granted', 'ada', 3]);
  const unknown = await granary(here('events', '--types', 'grain_made'));
  assert.notEqual(unknown.code, 0);
  assert.match(unknown.stderr, /HOK-E002/);
});

test('--follow shows an add made by another command, and says at Ctrl-C where to go on', async () => {
  const follower = spawn(process.execPath, [MAIN, ...here('events', '--follow', '--json')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    // It tells nothing until it listens, so add until it tells one.
    let text = '';
    const told = new Promise<string>((done) => {
      follower.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('\n')) done(text.slice(0, text.indexOf('\n')));
      });
    });
    let isTold = false;
    void told.then(() => {
      isTold = true;
    });
    for (let i = 0; !isTold && i < 100; i++) await granaryJson(here('add', 'Ada', 'reads', `book ${i}`));
    const event = JSON.parse(await told);
    assert.match(event.object, /^book \d+$/);
    follower.kill('SIGINT');
    const [note, [code]] = await Promise.all([streamed(follower.stderr), once(follower, 'exit')]);
    const since = /^Continue with --since (\d+)\.$/m.exec(note)?.[1];
    assert.ok(Number(since) >= event.sequence, note);
    assert.equal(code, 130);
  } finally {
    follower.kill('SIGKILL');
  }
});

test('--follow pauses before it opens a stream again that something between closed at once', async (t) => {
  let streams = 0;
  const closing = createServer((_, response) => {
    streams += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
  });
  await once(closing.listen(0, '127.0.0.1'), 'listening');
  const { port } = closing.address() as AddressInfo; // it listens on TCP
  const follower = spawn(process.execPath, [MAIN, 'events', '--follow', '--url', `http://127.0.0.1:${port}`], {
    env: environment({ GRANARY_API_KEY: 'a-key' }),
  });
  t.after(async () => {
    follower.kill('SIGKILL');
    await once(closing.close(), 'close');
  });
  let notes = '';
  follower.stderr.on('data', (chunk: Buffer) => {
    notes += chunk.toString();
  });
  await eventually('a note, or many streams', () => notes.includes('\n') || streams > 20);
  assert.equal(streams, 1);
  assert.match(notes, /The connection was lost: the stream ended early. Trying again\./);
});
