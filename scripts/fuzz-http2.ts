// Sends random HTTP/2 frames to native sessions: `npm run fuzz-http2 -- [frames] [seed]`. A violation prints its seed.
import { fuzz } from '../src/server/grpc/native/testing/fuzz.ts';

const [frames = '10000000', seed = String(Date.now() % 2 ** 32)] = process.argv.slice(2);
const PART = 100_000;

process.stdout.write(`${frames} frames, seed ${seed}\n`);
for (let sent = 0, part = 0; sent < Number(frames); part++) {
  const report = await fuzz(Number(seed) + part, Math.min(PART, Number(frames) - sent));
  sent += report.frames;
  process.stdout.write(`${sent} frames; of the last: ${JSON.stringify(report)}\n`);
}
