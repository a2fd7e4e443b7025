// A server whose embedder is the built-in encoder on a chosen runtime, over stored or drawn vectors if the scenario
// wants; everything else is as in `granary serve`. Started by `startServer`.
import { join } from 'node:path';
import { openBuiltinEmbedder } from '../../src/embed/builtin/builtin.ts';
import { readConfig } from '../../src/server/config.ts';
import { readyLine, startServer } from '../../src/server/main.ts';
import { drawing, drawnVectors } from './drawn-vectors.ts';
import { keeping } from './kept-vectors.ts';
import type { EmbedderOptions } from './server.ts';

const [about = '', flags = ''] = process.argv.slice(2);
const { runtime, folder, grains } = JSON.parse(about) as EmbedderOptions; // sent by `startServer`
const config = readConfig(JSON.parse(flags) as Record<string, string | number>, process.env); // as above

const encoder = openBuiltinEmbedder({ cacheFolder: join(folder, 'models'), runtime });
await encoder.load();
const embedder =
  grains === 'encoded'
    ? encoder
    : grains === 'kept'
      ? keeping(encoder, folder)
      : drawing(encoder, await drawnVectors(encoder, folder));
const server = await startServer(config, {
  openers: { builtin: () => Promise.resolve({ embedder }) },
});
process.once('SIGTERM', () => void server.close());
process.stdout.write(readyLine(server));
