// The master key of a running server, and its rotation: store a new key next to the old one, wrap every key of every
// shard under it, then drop the old one. A rotation interrupted by a crash or an error is completed by the next start,
// or by asking again; until then both keys are valid.

import { EngineError } from '../engine/base/errors.ts';
import type { KeyFiles } from '../engine/keys/key-files.ts';
import { beginRotation, finishRotation, type LoadedMasterKey, MasterKey } from '../engine/keys/master-key.ts';
import { rewrapBootstrapKey } from './control/bootstrap-key.ts';
import { openControlKey } from './control/control-key.ts';
import type { ControlStore } from './control/store.ts';
import { rewrapProofKeys } from './proofs/proof-keys.ts';
import type { Shards } from './shards.ts';

export interface MasterKeysParts {
  readonly files: KeyFiles;
  readonly loaded: LoadedMasterKey;
  /** True when `keys/master.key` holds the key; otherwise its operator gives it at start. */
  readonly ownFile: boolean;
  readonly warn: (text: string) => void;
}

/** The parts that a rotation works on, once they exist. */
export interface RotatedParts {
  readonly shards: Pick<Shards, 'rewrapKeys'>;
  readonly control: Pick<ControlStore, 'commit' | 'rewrapKeys'>;
}

export interface Rotated {
  /** Number of keys wrapped again. */
  readonly rotated: number;
  /** Identifies the new master key without revealing it: 16 hex digits. */
  readonly fingerprint: string;
}

export class MasterKeys {
  readonly #parts: MasterKeysParts;
  #rotated: RotatedParts | undefined;
  /** The current key; during a rotation it also accepts the previous one. */
  #key: MasterKey;
  #rotating: boolean;
  /** Settles when no work runs that needs unchanged keys. */
  #turn: Promise<unknown> = Promise.resolve();

  /** The caller flushes the files before it uses the key. */
  constructor(parts: MasterKeysParts) {
    const { files, loaded, ownFile, warn } = parts;
    this.#parts = parts;
    this.#key = loaded.key;
    this.#rotating = loaded.rotating;
    // From now on new keys are wrapped under the first key, so a start with only the older ones must be rejected.
    if (loaded.rotating) beginRotation(files, loaded.key, ownFile);
    else if (loaded.key.ids.length > 1) {
      // A crash between the last two steps of a rotation left the old key in our file.
      if (ownFile) finishRotation(files, loaded.key, true);
      else warn('older master keys were given that are no longer needed: give only the first one');
      this.#key = loaded.key.alone();
    }
  }

  get current(): MasterKey {
    return this.#key;
  }

  /** Completes a rotation from before this start. An error becomes a warning, because both keys still work. */
  async start(parts: RotatedParts): Promise<void> {
    this.#rotated = parts;
    if (!this.#rotating) return;
    try {
      await this.whileStill(() => this.#finish('system'));
      if (!this.#parts.ownFile)
        this.#parts.warn('every key is wrapped under the new master key: give only that one from now on');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#parts.warn(`the rotation of the master key is incomplete, and both keys are still needed: ${reason}`);
    }
  }

  /**
   * Makes a new master key, or continues an interrupted rotation. VAL-E001 when the operator holds the key, STO-E001 or
   * STO-E002 when a shard failed: nothing is lost, and asking again continues.
   */
  rotate(actor: string): Promise<Rotated> {
    return this.whileStill(async () => {
      if (!this.#rotating) await this.#begin();
      return this.#finish(actor);
    });
  }

  /** Runs `work` while no rotation runs, and blocks rotations meanwhile. */
  whileStill<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #begin(): Promise<void> {
    const { files, ownFile } = this.#parts;
    if (!ownFile)
      throw new EngineError(
        'VAL-E001',
        'the operator holds the master key: start the server with the new key before the old one, separated by a comma ' +
          '(in a file: one per line)',
      );
    const next = MasterKey.random(this.#key);
    beginRotation(files, next, true);
    await files.flush();
    this.#key = next;
    this.#rotating = true;
  }

  async #finish(actor: string): Promise<Rotated> {
    const { files, ownFile } = this.#parts;
    if (this.#rotated === undefined) throw new EngineError('STO-E002', 'the server is starting');
    const { shards, control } = this.#rotated;
    const rewrapped = await shards.rewrapKeys(this.#key.raw);
    const ofRecords = await control.rewrapKeys(this.#key);
    openControlKey(files, this.#key, false);
    rewrapProofKeys(files, this.#key, this.#key);
    rewrapBootstrapKey(files, this.#key);
    finishRotation(files, this.#key, ownFile);
    await files.flush();
    this.#key = this.#key.alone();
    this.#rotating = false;
    // One of them is the control log's own key.
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
