// Sentence models that the server runs itself, on the data of `likeness`: what recall finds, and what a text costs. The
// built-in encoder is measured in the same way. The folders of the others are in BENCH_MODELS; without it the scenario is
// skipped.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Embedder } from '../../src/embed/embedder.ts';
import { openLocalEmbedder } from '../../src/embed/local.ts';
import { readModelFolder } from '../../src/embed/onnx/model-folder.ts';
import { openOnnxEmbedder } from '../../src/embed/onnx/onnx.ts';
import { inFolder } from '../lib/folder.ts';
import { abstracts, type Collection, chats, DEPTH, fourPlaces, missingData, quality } from '../lib/judged.ts';
import { importCorpus, recallAll } from '../lib/judged-client.ts';
import type { Measured, Options, Scenario, Skipped } from '../lib/scenario.ts';
import { serverSize, sized } from '../lib/scenario.ts';
import { embedded, startServer } from '../lib/server.ts';
import { median, named } from '../lib/statistics.ts';

/** The two encoders of the package. */
const BUILTIN = ['use-lite-int8', 'use-lite'];
/** A window that is full for the built-in encoder. */
const LONG = 'When they came back from the mountains, everyone wanted to know what had happened on the way. '.repeat(5);

export const scenario: Scenario = {
  name: 'models',
  about: 'sentence models of the operator: what recall finds with each, and what a text costs',
  aims: [],
  run,
};

async function run({ size, profile, start: startOne = startServer }: Options): Promise<Measured | Skipped> {
  const skipped = missingData();
  if (skipped !== undefined) return { skipped };
  const root = process.env['BENCH_MODELS'] ?? '';
  if (!existsSync(root)) return { skipped: 'BENCH_MODELS names no folder with models' };
  const asked = sized(size, { full: Number.POSITIVE_INFINITY, quick: 100, smoke: 5 });
  const metrics: Record<string, number> = {};
  for (const model of [...BUILTIN, ...readdirSync(root).toSorted()]) {
    const folder = join(root, model);
    const label = model.replaceAll(/[^a-z0-9]+/g, '_');
    if (!BUILTIN.includes(model))
      metrics[`${label}_mb`] =
        [readModelFolder(folder).modelFile].reduce((sum, path) => sum + statSync(path).size, 0) / 1e6;
    metrics[`${label}_wasm_window_ms`] = await longTextMs(model, folder);
    await inFolder(async (data) => {
      const server = await startOne({
        dataDirectory: join(data, 'granary'),
        ...serverSize(size),
        auth: 'api-key',
        isOwn: true,
        profile,
        flags: BUILTIN.includes(model) ? { embedder: model } : { embedder: 'onnx', embedderModel: folder },
      });
      try {
        for (const whole of [chats(), abstracts()]) {
          const collection: Collection = { ...whole, questions: whole.questions.slice(0, asked) };
          await importCorpus(server, collection);
          const start = performance.now();
          await embedded(server, [...collection.documents.keys()]);
          metrics[`${label}_${collection.name}_embedded_s`] = (performance.now() - start) / 1_000;
          const { ranked } = await recallAll(server, collection.questions, { tries: 20 });
          Object.assign(metrics, named(`${label}_${collection.name}`, quality(collection.questions, ranked)));
        }
      } finally {
        await server.stop();
      }
    });
  }
  return { parameters: { depth: DEPTH }, metrics: fourPlaces(metrics) };
}

/** Milliseconds for a text of a whole window on WebAssembly, in the thread of the encoder. */
async function longTextMs(model: string, folder: string): Promise<number> {
  const embedder: Embedder = BUILTIN.includes(model)
    ? (await openLocalEmbedder({ runtime: 'wasm', precision: model === 'use-lite' ? 'fp32' : 'int8' })).embedder
    : await openOnnxEmbedder(folder, { runtime: 'wasm' });
  try {
    const times: number[] = [];
    for (let round = 0; round < 10; round++) {
      const start = performance.now();
      await embedder.embed([LONG]);
      times.push(performance.now() - start);
    }
    return median(times);
  } finally {
    await embedder.close();
  }
}
