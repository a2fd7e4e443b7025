// Entry file of the thread of a cross-encoder.
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../engine/base/assert.ts';
import { oneByOne, serveTexts } from '../builtin/thread-loop.ts';
import { OnnxPairEncoder } from './pair-encoder.ts';
import type { SentenceEncoderOptions } from './sentence-encoder.ts';

assert(parentPort !== null, 'this module runs as a thread');
const { folder, runtime } = workerData as SentenceEncoderOptions; // set by its owner
await serveTexts(parentPort, async () => oneByOne(await OnnxPairEncoder.load(folder, runtime)), { queriesOnly: true });
