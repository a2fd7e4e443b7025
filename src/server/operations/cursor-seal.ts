// Cursors of lists whose places are numbers that every change of a shard counts up: sealed, as such a number tells how much goes
// on beside what the caller sees.
import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { EngineError } from '../../engine/base/errors.ts';
import { KEY_BYTES, open, seal } from '../../engine/crypto/envelope.ts';
import { badCursor, type CursorPlace, jsonOfPlace, type Place, placeOfJson } from './page.ts';

export class CursorSeal {
  readonly #key: KeyObject;

  /** Cursors outlive a restart, as the control key does. */
  constructor(controlKey: KeyObject) {
    this.#key = createSecretKey(
      Buffer.from(hkdfSync('sha256', controlKey, Buffer.alloc(0), 'granary list cursors', KEY_BYTES)),
    );
  }

  write(place: Place, scope: string, order: 'asc' | 'desc'): string {
    const text = jsonOfPlace(place, scope, order);
    // Its length would tell how many digits a number has.
    const padded = text.padEnd(Math.ceil(text.length / PADDED_CHARS) * PADDED_CHARS);
    return seal(this.#key, Buffer.from(padded), NO_DATA).toString('base64url');
  }

  /** Throws VAL-E004 for a cursor that this deployment did not make for the list. */
  read(cursor: string, scope: string): CursorPlace {
    let text: string;
    try {
      text = open(this.#key, Buffer.from(cursor, 'base64url'), NO_DATA).toString('utf8');
    } catch (error) {
      if (error instanceof EngineError) throw badCursor();
      throw error;
    }
    return placeOfJson(text, scope);
  }
}

const NO_DATA = Buffer.alloc(0);
const PADDED_CHARS = 256;
