// Runs h2spec against the native HTTP/2 sessions and against node:http2, and fails on what only the native ones fail. It
// needs the program h2spec (Go: `go install github.com/summerwind/h2spec/cmd/h2spec@v2.6.0`), on the path or in H2SPEC.
import { spawn, spawnSync } from 'node:child_process';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { unreadBudget } from '../src/server/byte-budget.ts';
import { NativeSession } from '../src/server/grpc/native/session.ts';
import type { NativeStream } from '../src/server/grpc/native/stream.ts';

const program = process.env['H2SPEC'] ?? 'h2spec';
const ANSWER = Buffer.from('granary');
const UNREAD = unreadBudget(1);

/** Answers every request once it has ended, as a call does. */
function native(): Server {
  return createServer({ noDelay: true }, (socket) => {
    const accept = (stream: NativeStream): void =>
      stream.serve({
        take: () => undefined,
        finish: () => stream.end({ 'grpc-status': '0', 'grpc-message': 'OK' }, ANSWER),
        closed: () => undefined,
      });
    new NativeSession(socket, accept, UNREAD);
  });
}

function node(): Server {
  const server = createHttp2Server({ settings: { maxConcurrentStreams: 1_024 } });
  server.on('session', (session) => session.on('error', () => undefined));
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    stream.resume();
    stream.on('end', () => {
      if (stream.destroyed || stream.closed) return;
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(ANSWER);
    });
  });
  return server as unknown as Server; // Http2Server is a net.Server, which its type does not say
}

async function failuresOf(server: Server): Promise<Set<string>> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const child = spawn(program, ['-h', '127.0.0.1', '-p', String(port), '-o', '2'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => child.once('close', resolve));
  server.close();
  const report = Buffer.concat(chunks).toString();
  const summary = /^\d+ tests, \d+ passed.*$/m.exec(report)?.[0];
  if (summary === undefined) throw new Error(`h2spec said:\n${report}`);
  process.stdout.write(
    `${server instanceof Object && 'updateSettings' in server ? 'node:http2' : 'native'}: ${summary}\n`,
  );
  return failuresIn(report);
}

/** Titles of failed cases, each with its section. The report lists failures again at its end. */
function failuresIn(report: string): Set<string> {
  const failures = new Set<string>();
  let section = '';
  for (const line of report.split('\n')) {
    section = /^\s+\d+(?:\.\d+)+\. .*/.exec(line)?.[0].trim() ?? section;
    const failed = /× (.+)$/.exec(line)?.[1];
    if (failed !== undefined) failures.add(`${section} / ${failed}`);
  }
  return failures;
}

if (spawnSync(program, ['--version']).status !== 0) {
  process.stdout.write(`skipped: ${program} is not installed\n`);
} else {
  const [ours, theirs] = [await failuresOf(native()), await failuresOf(node())];
  for (const failure of theirs) process.stdout.write(`node:http2 fails: ${failure}\n`);
  for (const failure of ours) process.stdout.write(`native fails${theirs.has(failure) ? ' too' : ''}: ${failure}\n`);
  if ([...ours].some((failure) => !theirs.has(failure))) process.exitCode = 1;
}
