// The converted model, kept in a file of its own: writing the graph takes longer than reading it back. Whatever is wrong
// with the file, it is made again.
//
//   0  magic, 8 bytes            8  version, u32 little-endian
//   12 SHA-256 of what follows   44 the ONNX model
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, replaceFile } from '../../engine/base/durable-file.ts';
import { encoderGraph } from './graph.ts';
import { Weights } from './weights.ts';

const MAGIC = Buffer.from('GRANENC\n', 'latin1');
/** Raised by every change of what the conversion writes. */
const VERSION = 1;
const HEADER_BYTES = 44;
const FILE = 'use-lite-512.encoder';

export interface Model {
  /** An ONNX model of the graph that `graph.ts` describes. */
  readonly onnx: Uint8Array;
  /** What went wrong with the cache; the model is good all the same. */
  readonly notice?: string;
}

/**
 * The model: from its file in `cacheFolder`, or converted from the package's weights in `encoderFolder` and written
 * there, durably. Without a cache folder it is converted every time. Throws EmbedError when there are no weights.
 */
export function loadModel(encoderFolder: string, cacheFolder: string | undefined): Model {
  const path = cacheFolder === undefined ? undefined : join(cacheFolder, FILE);
  const kept = path === undefined ? undefined : read(path);
  if (kept !== undefined) return { onnx: kept };
  const onnx = encoderGraph(new Weights(encoderFolder));
  if (cacheFolder === undefined || path === undefined) return { onnx };
  try {
    makeFolder(cacheFolder);
    replaceFile(path, Buffer.concat([header(onnx), onnx]));
    return { onnx };
  } catch (error) {
    return { onnx, notice: `the encoder is not kept in ${FILE}: ${error instanceof Error ? error.message : error}` };
  }
}

function header(onnx: Uint8Array): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(VERSION, MAGIC.length);
  createHash('sha256').update(onnx).digest().copy(bytes, 12);
  return bytes;
}

/** The model in the file; undefined when the file is absent, damaged or of another version. */
function read(path: string): Uint8Array | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return undefined; // Whatever keeps it from being read will be told when it is written.
  }
  const onnx = bytes.subarray(HEADER_BYTES);
  return bytes.length > HEADER_BYTES && header(onnx).equals(bytes.subarray(0, HEADER_BYTES)) ? onnx : undefined;
}
