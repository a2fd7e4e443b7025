import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { eventually } from '../../test/support/eventually.ts';
import { ChatTalk, noteOf } from './chat-talk.ts';
import type { Connection } from './connection.ts';
import { HttpCaller } from './http-caller.ts';

test('a call of a tool is shown with integers of any size', () => {
  assert.equal(
    noteOf({ name: 'add', arguments: { count: 9_007_199_254_740_993n } }),
    '[add {"count":9007199254740993}]',
  );
});

test('an answer that is stopped ends its request, also while the model is silent', async (t) => {
  let isOpen = false;
  let isEnded = false;
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': the model thinks\n\n');
    isOpen = true;
    response.on('close', () => {
      isEnded = true;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
  const caller = new HttpCaller({ base, key: undefined, tlsRoots: undefined });
  t.after(() => {
    caller.close();
    server.close();
  });
  const connection = { download: caller.download.bind(caller) } as unknown as Connection; // the talk asks for no more
  const options = { dataDir: '', memory: 'm', tools: false };
  const talk = new ChatTalk(connection, options, undefined, false);
  const said = talk.say('hello');
  await eventually('the stream is open', () => isOpen);
  assert.ok(talk.stop());
  await said;
  await eventually('the request has ended', () => isEnded);
});
