// Moves the clock of a server process, in all its threads, by the milliseconds that a file holds. Loaded by `--import`. Only
// the date moves: monotonic time and timers go on.
import { readFileSync } from 'node:fs';

const file = process.env['CLOCK_OFFSET_FILE'];
/** How long an offset that was read is used, in ms. */
const READ_MS = 5;

if (file !== undefined) {
  const RealDate = Date;
  let offsetMs = 0;
  let readMs = Number.NEGATIVE_INFINITY;
  const now = (): number => {
    const atMs = performance.now();
    if (atMs - readMs > READ_MS) {
      offsetMs = Number(readFileSync(file, 'utf8'));
      readMs = atMs;
    }
    return RealDate.now() + offsetMs;
  };
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given) as object,
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}
