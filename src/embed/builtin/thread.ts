// Entry file of the encoder's thread. Its data is EncoderOptions.
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../engine/base/assert.ts';
import { type EncoderOptions, SentenceEncoder } from './encoder.ts';
import { serveTexts } from './thread-loop.ts';

assert(parentPort !== null, 'this module runs as a thread');
const options = workerData as EncoderOptions; // set by its owner
await serveTexts(parentPort, () => SentenceEncoder.load(options), options);
