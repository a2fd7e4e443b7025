// Addresses of grains that were erased since the process started, so that a request for one gets the reason.
// The list is bounded and never on disk: a reader of the disk could hash guesses of an erased text and compare.
import { ERASED_REMEMBERED_MAX } from '../base/limits.ts';

/** Digits of an address that are kept: 64 bits distinguish a few thousand addresses. */
const DIGITS = 16;

export class ErasedAddresses {
  readonly #known = new Set<string>();

  add(memory: number, address: string): void {
    this.#known.add(nameOf(memory, address));
    if (this.#known.size > ERASED_REMEMBERED_MAX) this.#known.delete(this.#known.values().next().value!);
  }

  has(memory: number, address: string): boolean {
    return this.#known.size > 0 && this.#known.has(nameOf(memory, address));
  }
}

function nameOf(memory: number, address: string): string {
  return `${memory}/${address.slice(0, DIGITS)}`;
}
