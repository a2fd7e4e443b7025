// Encrypts list cursors that contain a shard's sequence numbers. Plain numbers would reveal how much other callers
// change.
import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { EngineError } from '../../engine/base/errors.ts';
import { KEY_BYTES, open, seal } from '../../engine/crypto/envelope.ts';
import { badCursor, type CursorPlace, jsonOfPlace, type Place, placeOfJson } from './page.ts';

export class CursorSeal {
  readonly #key: KeyObject;

  /** Derives its key from the control key, so cursors survive a restart. */
  constructor(controlKey: KeyObject) {
    this.#key = createSecretKey(
      Buffer.from(hkdfSync('sha256', controlKey, Buffer.alloc(0), 'granary list cursors', KEY_BYTES)),
    );
  }

  write(place: Place, scope: string, order: 'asc' | 'desc'): string {
    const text = jsonOfPlace(place, scope, order);
    // Without padding the length would reveal the number of digits.
    const padded = text.padEnd(Math.ceil(text.length / PADDED_CHARS) * PADDED_CHARS);
    return seal(this.#key, Buffer.from(padded), NO_DATA).toString('base64url');
  }

  /** Seals a short text for one scope. */
  writeText(text: string, scope: string): string {
    const padded = text.padEnd(Math.ceil(text.length / PADDED_TEXT_CHARS) * PADDED_TEXT_CHARS);
    return seal(this.#key, Buffer.from(padded), Buffer.from(scope)).toString('base64url');
  }

  /** The text; undefined when it was not sealed for this scope. */
  readText(sealed: string, scope: string): string | undefined {
    try {
      return open(this.#key, Buffer.from(sealed, 'base64url'), Buffer.from(scope)).toString('utf8').trimEnd();
    } catch (error) {
      if (error instanceof EngineError) return undefined;
      throw error;
    }
  }

  /** Throws VAL-E004 for a cursor that this deployment did not make for the list `scope`. */
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
const PADDED_TEXT_CHARS = 32;
