// An encoder thread without an encoder, for tests. Some texts are commands; the others are answered with the number of
// texts embedded before them. `gate` is shared: the thread starts a text only if its number is below gate[0], and
// counts the texts it has reached in gate[1].
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../../engine/base/assert.ts';
import { EmbedError } from '../../embedder.ts';
import { oneByOne, serveTexts } from '../thread-loop.ts';

interface FakeData {
  readonly gate: Int32Array;
  readonly failing?: string | undefined;
}

assert(parentPort !== null, 'this module is a thread');
const { gate, failing } = workerData as FakeData; // set by the tests
let embedded = 0;

await serveTexts(parentPort, async () => {
  if (failing === 'load') throw new EmbedError('nothing to load', { retryable: false });
  if (failing === 'crash') throw new Error('crashed while loading');
  return oneByOne({
    runtime: 'wasm',
    notices: ['a notice'],
    async encode(text) {
      Atomics.add(gate, 1, 1);
      Atomics.notify(gate, 1);
      for (let open = Atomics.load(gate, 0); open <= embedded; open = Atomics.load(gate, 0))
        Atomics.wait(gate, 0, open);
      if (text === 'exit') process.exit(1);
      if (text === 'throw') throw new Error('thrown by the encoder');
      if (text === 'hang') Atomics.wait(gate, 2, 0);
      return text === '' ? undefined : Float32Array.of(embedded++);
    },
  });
});
