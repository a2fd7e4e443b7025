// gRPC clients of two other languages against each listener. They are skipped, and say so, where they are not installed:
// Python's grpcio (Debian: python3-grpcio), and Go with the modules of grpc-clients/go (`go mod download` there).
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { EngineError } from '../../src/engine/base/errors.ts';
import type { GrpcHandler } from '../../src/server/grpc/front.ts';
import { grpcListener } from '../../src/server/grpc/listen.ts';
import { closeAll, startFrontOn } from '../../src/server/grpc/testing/front.ts';
import { GRPC_STATUS } from '../../src/server/status.ts';

const FOLDER = join(import.meta.dirname, 'grpc-clients');
const built = mkdtempSync(join(tmpdir(), 'granary-go-client-'));

interface ClientProgram {
  readonly name: string;
  /** Undefined when it can run; otherwise why not. */
  readonly missing: string | undefined;
  readonly command: readonly [program: string, ...args: string[]];
}

function python(): ClientProgram {
  const program = process.env['GRPC_PYTHON'] ?? 'python3';
  const found = spawnSync(program, ['-c', 'import grpc']).status === 0;
  const missing = found ? undefined : `${program} has no module grpc`;
  return { name: 'grpcio of Python', missing, command: [program, join(FOLDER, 'client.py')] };
}

/** Built from modules that are there: a test downloads nothing. */
function go(): ClientProgram {
  const program = join(built, 'client');
  const environment = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local' };
  const { status, error } = spawnSync('go', ['build', '-o', program, '.'], {
    cwd: join(FOLDER, 'go'),
    env: environment,
    timeout: 300_000,
  });
  const missing = status === 0 ? undefined : error === undefined ? 'its modules are not downloaded' : 'Go is missing';
  return { name: 'grpc-go', missing, command: [program] };
}

/** Echoes; some messages ask for something else. */
const handler: GrpcHandler = (call) => {
  const text = call.bytes.length < 20 ? call.bytes.toString() : '';
  const headers = { 'x-request-id': call.header('x-request-id') ?? 'none' };
  if (text === 'refuse') return Promise.reject(new EngineError('MEM-E001', 'not hér'));
  if (text !== 'never') return Promise.resolve({ bytes: call.bytes, headers });
  return new Promise((resolve) => call.aborted.addEventListener('abort', () => resolve({ bytes: call.bytes })));
};

const EXPECTED = {
  echo: 'hello',
  large: true,
  gzip: true,
  trailers: 'mine',
  refused: [GRPC_STATUS.NOT_FOUND, 'MEM-E001: not hér', 'MEM-E001'],
  late: GRPC_STATUS.DEADLINE_EXCEEDED,
  cancelled: true,
  many: true,
  watch: '0801',
  reflection: [true, true, true],
  unknown: GRPC_STATUS.UNIMPLEMENTED,
};

describe('clients of other languages', { timeout: 300_000 }, () => {
  after(() => {
    closeAll();
    rmSync(built, { recursive: true, force: true });
  });
  for (const client of [python(), go()])
    for (const kind of ['native', 'node', 'grpc-js'] as const)
      test(`${client.name} and the listener ${kind}`, { skip: client.missing ?? false }, async () => {
        const { port } = await startFrontOn(await grpcListener(kind))(handler);
        const [program, ...args] = client.command;
        const { stdout } = await promisify(execFile)(program, [...args, `127.0.0.1:${port}`]);
        assert.deepEqual(JSON.parse(stdout), EXPECTED);
      });
});
