// Entry file of the thread that encodes with a model of the operator. Its data is SentenceEncoderOptions.
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../engine/base/assert.ts';
import { oneByOne, type ServeOptions, serveTexts } from '../builtin/thread-loop.ts';
import { OnnxSentenceEncoder, type SentenceEncoderOptions } from './sentence-encoder.ts';

assert(parentPort !== null, 'this module runs as a thread');
const options = workerData as SentenceEncoderOptions & ServeOptions; // set by its owner
await serveTexts(parentPort, async () => oneByOne(await OnnxSentenceEncoder.load(options)), options);
