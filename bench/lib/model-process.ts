// A model server in a process of its own: each answer is tokens at a steady pace. A token tells when the model sent it and
// when the model got the request, in milliseconds since 1970, so that any process on this machine can measure delays.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const [tokens = '1', gapMs = '0'] = process.argv.slice(2);
const now = (): number => performance.timeOrigin + performance.now();
const chunk = (choice: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'paced', choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`;

function stream(response: ServerResponse, askedAt: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let left = Number(tokens);
  const next = (): void => {
    if (left === 0) {
      response.end(`${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`);
      return;
    }
    left -= 1;
    response.write(chunk({ delta: { content: `@${now().toFixed(3)}/${askedAt.toFixed(3)} ` } }));
    setTimeout(next, Number(gapMs));
  };
  next();
}

const server = createServer((request, response) => {
  const askedAt = now();
  request.resume();
  request.once('end', () => stream(response, askedAt));
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)); // it listens on a port
process.once('SIGTERM', () => process.exit(0));
process.once('disconnect', () => process.exit(0));
