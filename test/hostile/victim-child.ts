// A server in a separate process, so that an attack may end it and its memory can be measured. Started by victim.ts:
// options as one JSON argument, a line of JSON when it is ready, and an end when its stdin ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/server/config.ts';
import { startServer } from '../../src/server/main.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'granary-hostile-'));
const flags = { dataDir, embedder: 'none', httpPort: '0', grpcPort: '0', shards: '2', workers: '1', logLevel: 'error' };
// The second argument is ours: JSON of names of the config to texts.
const options = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>;
const server = await startServer(readConfig({ ...flags, ...options }, {}));
const { http, grpc, firstKey } = server;
process.stdout.write(`${JSON.stringify({ http, grpc, key: firstKey })}\n`);
process.stdin.resume();
process.stdin.once('end', async () => {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
});
