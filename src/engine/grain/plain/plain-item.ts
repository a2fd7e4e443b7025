// A plain grain as the input of a write. Its fields are read only where something asks for them.

import type { JsonObject } from '../api/json-value.ts';
import type { GrainType } from '../grain.ts';
import type { PlainGrain, PlainGrains } from './plain-grains.ts';

export class PlainItem {
  readonly #grains: PlainGrains;
  readonly #at: number;

  /** `at`: the number of the grain among `grains`. */
  constructor(grains: PlainGrains, at: number) {
    this.#grains = grains;
    this.#at = at;
  }

  get grainType(): GrainType {
    return this.#grains.typeAt(this.#at);
  }

  /** An add of a plain grain waits for no seal. */
  get sync(): false {
    return false;
  }

  /** As the request has them; parsed anew each time. */
  get fields(): JsonObject {
    return this.#grains.fieldsAt(this.#at);
  }

  /** The grain, with the time `nowMs` if it has none; undefined when the general path must refuse it. */
  grain(nowMs: number): PlainGrain | undefined {
    return this.#grains.grainAt(this.#at, nowMs);
  }
}
