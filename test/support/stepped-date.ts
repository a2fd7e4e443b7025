// Moves the clock of a server process, in all its threads, by the milliseconds that a file holds. Loaded by `--import`. Only
// the date moves: monotonic time and timers go on.
import { readFileSync } from 'node:fs';

const file = process.env['CLOCK_OFFSET_FILE'];
if (file !== undefined) {
  const RealDate = Date;
  // Read each time: threads must agree, as a deadline that one of them sets is compared with the clock of another.
  const now = (): number => RealDate.now() + Number(readFileSync(file, 'utf8'));
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given) as object,
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}
