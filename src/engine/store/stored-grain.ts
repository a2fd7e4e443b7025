// A grain as it is read back from the log.
import type { Address, Grain } from '../grain/grain.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { GrainHead } from '../record/grain-head.ts';

/** A grain read back from the log. */
export interface StoredGrain {
  readonly ordinal: Ordinal;
  readonly address: Address;
  /** The grain's name in the trail. */
  readonly name: string;
  readonly blob: Buffer;
  readonly grain: Grain;
}

/** Names grains by their records. */
interface GrainNames {
  nameOf(head: GrainHead): string;
}

/** Computes the name on demand, since most reads leave no trail. */
export class OpenedGrain implements StoredGrain {
  readonly ordinal: Ordinal;
  readonly address: Address;
  readonly blob: Buffer;
  readonly grain: Grain;
  readonly #names: GrainNames;
  readonly #head: GrainHead;

  constructor(names: GrainNames, head: GrainHead, { ordinal, address, blob, grain }: Omit<StoredGrain, 'name'>) {
    this.ordinal = ordinal;
    this.address = address;
    this.blob = blob;
    this.grain = grain;
    this.#names = names;
    this.#head = head;
  }

  get name(): string {
    return this.#names.nameOf(this.#head);
  }
}
