// The columns of a tail: ordinal, times and sizes of every doc.
import { assert } from '../../base/assert.ts';
import { grow } from '../files/list-table.ts';
import type { IndexedGrain } from '../parts/part.ts';

/** Most memories hold a handful of grains in a tail. */
const DOCS_FIRST = 4;

export class DocsTail {
  count = 0;
  ordinals = new Uint32Array(DOCS_FIRST);
  createdAtMs = new Float64Array(DOCS_FIRST);
  blobBytes = new Uint32Array(DOCS_FIRST);
  recordBytes = new Uint32Array(DOCS_FIRST);
  chronological = true;

  /** Adds a grain, whose ordinal must be larger than the previous one, and returns its doc. */
  add(grain: IndexedGrain): number {
    const doc = this.count;
    assert(doc === 0 || grain.ordinal > this.ordinals[doc - 1]!, 'ordinals ascend');
    if (doc === this.ordinals.length) {
      this.ordinals = grow(this.ordinals);
      this.createdAtMs = grow(this.createdAtMs);
      this.blobBytes = grow(this.blobBytes);
      this.recordBytes = grow(this.recordBytes);
    }
    this.ordinals[doc] = grain.ordinal;
    this.createdAtMs[doc] = grain.createdAtMs;
    this.blobBytes[doc] = grain.blobBytes;
    this.recordBytes[doc] = grain.recordBytes;
    if (doc > 0 && grain.createdAtMs < this.createdAtMs[doc - 1]!) this.chronological = false;
    this.count += 1;
    return doc;
  }
}
