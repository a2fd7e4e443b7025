// Caches the converted model in a file, because writing the graph takes longer than reading it back. An unusable file
// is written again.
//
//   0  magic, 8 bytes            8  version, u32 little-endian
//   12 SHA-256 of the rest       44 the ONNX model
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, replaceFile } from '../../engine/base/durable-file.ts';
import { encoderGraph, type Precision } from './graph.ts';
import { Weights } from './weights.ts';

const MAGIC = Buffer.from('GRANENC\n', 'latin1');
/** Raise it whenever the conversion's output changes. */
const VERSION = 2;
const HEADER_BYTES = 44;
const FILES: Readonly<Record<Precision, string>> = {
  fp32: 'use-lite-512.encoder',
  int8: 'use-lite-int8-512.encoder',
};

export interface Model {
  /** An ONNX model of the graph that `graph.ts` describes. */
  readonly onnx: Uint8Array;
  /** A problem with the cache. The model is good nevertheless. */
  readonly notice?: string | undefined;
}

/**
 * The model: from its file in `cacheFolder`, or converted from the package's weights in `encoderFolder` and then
 * written to the cache durably. Without a cache folder every call converts. Throws EmbedError when there are no
 * weights.
 */
export function loadModel(encoderFolder: string, cacheFolder: string | undefined, precision: Precision): Model {
  const file = FILES[precision];
  const path = cacheFolder === undefined ? undefined : join(cacheFolder, file);
  const kept = path === undefined ? undefined : read(path);
  if (kept !== undefined) return { onnx: kept };
  const onnx = encoderGraph(new Weights(encoderFolder), precision);
  if (cacheFolder === undefined || path === undefined) return { onnx };
  try {
    makeFolder(cacheFolder);
    replaceFile(path, Buffer.concat([header(onnx), onnx]));
    return { onnx };
  } catch (error) {
    return { onnx, notice: `cannot cache the encoder in ${file}: ${error instanceof Error ? error.message : error}` };
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
    return undefined; // A read error is reported when the file is written.
  }
  const onnx = bytes.subarray(HEADER_BYTES);
  return bytes.length > HEADER_BYTES && header(onnx).equals(bytes.subarray(0, HEADER_BYTES)) ? onnx : undefined;
}
