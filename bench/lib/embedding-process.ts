// A server whose embedder is the built-in encoder on a chosen runtime, over stored or drawn vectors if the scenario
// wants; everything else is as in `granary serve`. Started by `startServer`.
import type { Embedder } from '../../src/embed/embedder.ts';
import { readConfig } from '../../src/server/config.ts';
import { DEFAULT_BACKEND } from '../../src/server/embedding/backends.ts';
import { letHeapsGrow } from '../../src/server/heap-growth.ts';
import { readyLine, startServer } from '../../src/server/main.ts';
import { embedderOver, openEncoder } from './embedder.ts';
import type { EmbedderOptions } from './server.ts';

const [about = '', flags = ''] = process.argv.slice(2);
const wanted = JSON.parse(about) as EmbedderOptions; // sent by `startServer`
const config = readConfig(JSON.parse(flags) as Record<string, string | number>, process.env); // as above

let opening: Promise<{ readonly embedder: Embedder }> | undefined;
const server = await startServer(config, {
  openers: (spare) => {
    opening ??= openEncoder(wanted, spare).then(async (encoder) => ({ embedder: await embedderOver(encoder, wanted) }));
    return { [DEFAULT_BACKEND]: () => opening! };
  },
});
await opening;
process.once('SIGTERM', () => void server.close());
process.stdout.write(readyLine(server));
letHeapsGrow();
