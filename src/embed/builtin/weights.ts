// Reads the encoder's weights from its package: a manifest that lists the tensors in order, and shards with their
// numbers in sequence, little-endian, four bytes each.
import { EmbedError } from '../embedder.ts';
import { checkEncoderBytes, encoderFile } from './package-files.ts';

const MANIFEST_SHA256 = '507d11df18b070f99e0ad650b9a4e6534a4cfb05040127e8ce579f00c8fa3b53';
/** Digest of all shards in order. */
const WEIGHTS_SHA256 = '713639dff4b5b3cc4a1ca070077c0f1125022582dd1d2ec8961d92905c289300';

export interface Tensor {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

interface ManifestEntry {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: string;
}

interface Manifest {
  readonly paths: readonly string[];
  readonly weights: readonly ManifestEntry[];
}

export class Weights {
  readonly #tensors = new Map<string, Tensor>();

  /** Reads about 28 MB from `folder`. Throws EmbedError when files are missing or differ from the known ones. */
  constructor(folder: string) {
    const manifest = encoderFile(folder, 'model.json');
    checkEncoderBytes('manifest and graph', manifest, MANIFEST_SHA256);
    const model = JSON.parse(manifest.toString('utf8')) as { weightsManifest: Manifest[] }; // the digest proves the type
    const bytes = Buffer.concat(
      model.weightsManifest.flatMap(({ paths }) => paths.map((path) => encoderFile(folder, path))),
    );
    checkEncoderBytes('weights', bytes, WEIGHTS_SHA256);
    // A buffer of its own aligns the numbers to four bytes.
    const all = new Float32Array(new Uint8Array(bytes).buffer);
    let at = 0;
    for (const { name, shape, dtype } of model.weightsManifest.flatMap(({ weights }) => weights)) {
      const count = shape.reduce((product, size) => product * size, 1);
      if (dtype === 'float32') this.#tensors.set(name, { shape, values: all.subarray(at, at + count) });
      at += count;
    }
  }

  /** The one float tensor whose name ends in `ending`. Throws EmbedError when none or several match. */
  endingIn(ending: string): Tensor {
    const found = [...this.#tensors].filter(([name]) => name.endsWith(`/${ending}`));
    if (found.length !== 1)
      throw new EmbedError(`the encoder's graph has ${found.length} tensors "${ending}"`, { retryable: false });
    return found[0]![1];
  }

  /** The one number of a tensor. */
  scalar(ending: string): number {
    return this.endingIn(ending).values[0]!;
  }
}
