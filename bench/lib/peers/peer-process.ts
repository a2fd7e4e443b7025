// A process that adds rows to a peer, or asks it. One task at a time: each message is answered by one.
import { once } from 'node:events';
import { BUILTIN_INT8_NAME } from '../../../src/embed/builtin/builtin.ts';
import { ENCODER_DIMENSIONS } from '../../../src/embed/builtin/graph.ts';
import { englishSource, keptDrawnVectors } from '../drawn-vectors.ts';
import { cacheFolder } from '../kept-vectors.ts';
import { granaryKind } from './granary.ts';
import { installedPeers } from './installed.ts';
import { PEERS, type Peer, type PeerName, type PeerRow, timed } from './peer.ts';
import type { PeerTask } from './peer-client.ts';

/** A question of function words (1 of 20) finds nothing while Granary has vectors for few rows, and ranks by words alone. */
const EMPTY_MAX = 5;
const EMPTY_SHARE_MAX = 0.2;

const [name = '', place = '', seed = ''] = process.argv.slice(2);
const kind = { ...installedPeers(), granary: granaryKind }[name as PeerName];
if (kind === undefined) throw new Error(`the peer ${name} is not installed`);
const peer = await kind.open(place);
const source = englishSource(Number(seed));
const draw = keptDrawnVectors(cacheFolder(), BUILTIN_INT8_NAME, ENCODER_DIMENSIONS);
let nextId = 0;
let prepared: PeerRow[][] = [];
let isEnough = false;

process.once('disconnect', () => process.exit());
process.on('message', (message) => {
  isEnough = message === 'enough';
});
process.send?.('open');

for (;;) {
  const [task] = (await once(process, 'message')) as [PeerTask | 'enough']; // what `PeerClient` sends
  if (task !== 'enough') process.send?.(await run(peer, PEERS[name as PeerName].inFlight, task));
}

async function run(to: Peer, inFlight: number, task: PeerTask): Promise<unknown> {
  switch (task.do) {
    case 'prepare':
      prepared = Array.from({ length: task.batches }, () => rowsOf(task.rows));
      return 'prepared';
    case 'add':
      return timed(async () => {
        const add = async (): Promise<void> => {
          for (let rows = prepared.shift(); rows !== undefined; rows = prepared.shift()) await to.add(rows);
        };
        await Promise.all(Array.from({ length: inFlight }, add));
      });
    case 'index':
      return to.index();
    case 'ask':
      return ask(to, task.limit, task.questions ?? Number.POSITIVE_INFINITY);
    case 'close':
      await to.close();
      return 'closed';
  }
}

function rowsOf(count: number): PeerRow[] {
  return source.take(count).map(({ fields }) => {
    const text = String(fields['object']);
    return { id: nextId++, text, vector: draw(text) };
  });
}

/** One question after another until there are enough. Milliseconds of each. */
async function ask(to: Peer, limit: number, questions: number): Promise<number[]> {
  const times: number[] = [];
  let empty = 0;
  for (isEnough = false; !isEnough && times.length < questions; ) {
    const text = source.question();
    const vector = draw(text);
    const start = performance.now();
    const found = await to.search(text, vector, limit);
    times.push(performance.now() - start);
    if (found.length === 0) empty += 1;
    // `enough` arrives between two questions.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (empty > EMPTY_MAX + EMPTY_SHARE_MAX * times.length)
    throw new Error(`${name} finds nothing for ${empty} of ${times.length} questions`);
  return times;
}
