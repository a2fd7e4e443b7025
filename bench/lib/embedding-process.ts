// A server whose embedder is the built-in encoder on a chosen runtime, over stored or drawn vectors if the scenario
// wants; everything else is as in `granary serve`. Started by `startServer`.
import { readConfig } from '../../src/server/config.ts';
import { readyLine, startServer } from '../../src/server/main.ts';
import { embedderOver, openEncoder } from './embedder.ts';
import type { EmbedderOptions } from './server.ts';

const [about = '', flags = ''] = process.argv.slice(2);
const wanted = JSON.parse(about) as EmbedderOptions; // sent by `startServer`
const config = readConfig(JSON.parse(flags) as Record<string, string | number>, process.env); // as above

const embedder = await embedderOver(await openEncoder(wanted), wanted);
const server = await startServer(config, {
  openers: { builtin: () => Promise.resolve({ embedder }) },
});
process.once('SIGTERM', () => void server.close());
process.stdout.write(readyLine(server));
