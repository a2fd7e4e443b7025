// The master key of a running server, and its rotation: a new one is written down beside the old, every key of every
// shard is wrapped under it, the old one is forgotten. A rotation that a crash or an error cut short is finished by the
// next start, or by asking again; until then both keys open everything.

import { EngineError } from '../engine/base/errors.ts';
import { beginRotation, finishRotation, type LoadedMasterKey, MasterKey } from '../engine/keys/master-key.ts';
import { openControlKey } from './control/control-key.ts';
import type { ControlStore } from './control/store.ts';
import type { Shards } from './shards.ts';

export interface MasterKeysParts {
  readonly dataDirectory: string;
  readonly loaded: LoadedMasterKey;
  /** True when the key lives in `keys/master.key`; otherwise its operator keeps it and gives it at start. */
  readonly ownFile: boolean;
  readonly warn: (text: string) => void;
}

/** What a rotation works on, once it is there. */
export interface RotatedParts {
  readonly shards: Pick<Shards, 'rewrapKeys'>;
  readonly control: Pick<ControlStore, 'commit' | 'rewrapKeys'>;
}

export interface Rotated {
  /** Keys that were wrapped anew. */
  readonly rotated: number;
  /** Names the new master key and says nothing about it: 16 hex digits. */
  readonly fingerprint: string;
}

export class MasterKeys {
  readonly #parts: MasterKeysParts;
  #rotated: RotatedParts | undefined;
  /** The current key; while a rotation is under way it also accepts the one before. */
  #key: MasterKey;
  #rotating: boolean;
  /** Settles when nothing that needs the keys to stay as they are is under way. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: MasterKeysParts) {
    const { dataDirectory, loaded, ownFile, warn } = parts;
    this.#parts = parts;
    this.#key = loaded.key;
    this.#rotating = loaded.rotating;
    // From now on new keys are wrapped under the first key alone: a start with the older ones only must be refused.
    if (loaded.rotating) beginRotation(dataDirectory, loaded.key, ownFile);
    else if (loaded.key.ids.length > 1) {
      // A crash between the last two steps of a rotation left the old key in our file.
      if (ownFile) finishRotation(dataDirectory, loaded.key, true);
      else warn('the master key was given together with older ones, which nothing needs any more');
      this.#key = loaded.key.alone();
    }
  }

  get current(): MasterKey {
    return this.#key;
  }

  /** Finishes what was begun before this start. An error is told as a warning: everything opens with both keys. */
  async start(parts: RotatedParts): Promise<void> {
    this.#rotated = parts;
    if (!this.#rotating) return;
    try {
      await this.whileStill(() => this.#finish('system'));
      if (!this.#parts.ownFile) this.#parts.warn('every key is wrapped under the new master key: give that one alone');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#parts.warn(`the rotation of the master key is not finished, both keys are still needed: ${reason}`);
    }
  }

  /**
   * Makes a new master key, or goes on with a rotation that was cut short. VAL-E001 when the operator holds the key,
   * STO-E001 or STO-E002 when a shard could not follow: nothing is lost, asking again goes on from there.
   */
  rotate(actor: string): Promise<Rotated> {
    return this.whileStill(async () => {
      if (!this.#rotating) this.#begin();
      return this.#finish(actor);
    });
  }

  /** Runs `work` when nobody rotates, and lets nobody rotate meanwhile. */
  whileStill<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #begin(): void {
    const { dataDirectory, ownFile } = this.#parts;
    if (!ownFile)
      throw new EngineError(
        'VAL-E001',
        'the master key is kept outside: start the server with the new key before the old one, separated by a comma ' +
          '(in a file: a line each)',
      );
    const next = MasterKey.random(this.#key);
    beginRotation(dataDirectory, next, true);
    this.#key = next;
    this.#rotating = true;
  }

  async #finish(actor: string): Promise<Rotated> {
    const { dataDirectory, ownFile } = this.#parts;
    if (this.#rotated === undefined) throw new EngineError('STO-E002', 'the server is starting');
    const { shards, control } = this.#rotated;
    const rewrapped = await shards.rewrapKeys(this.#key.raw);
    const ofRecords = control.rewrapKeys(this.#key);
    openControlKey(dataDirectory, this.#key, false);
    finishRotation(dataDirectory, this.#key, ownFile);
    this.#key = this.#key.alone();
    this.#rotating = false;
    // The control log's own key is one of them.
    const rotated = rewrapped + ofRecords + 1;
    const fingerprint = this.#key.id;
    await control.commit((change) =>
      change.audit({
        event: 'key.rotated',
        actor,
        subject: '',
        details: { scope: 'kek', key_fingerprint: fingerprint, rotated },
      }),
    );
    return { rotated, fingerprint };
  }
}
