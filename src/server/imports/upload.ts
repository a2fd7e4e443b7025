// The file of an import job on disk, sealed: it may hold anything about anyone. Its key is in the control log and goes
// with the job.
//
//   "GRIM" | version u8 | sealed piece, sealed piece, …     each piece of IMPORT_PIECE_BYTES, the last one shorter
//
// The number of a piece and of all pieces is bound to its seal, so pieces cannot be exchanged or left out.
import { createSecretKey, type KeyObject } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { type FileHandle, open as openFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { makeFolder, storageError, syncDirectory, TEMPORARY_SUFFIX } from '../../engine/base/durable-file.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { IMPORT_PIECE_BYTES } from '../../engine/base/limits.ts';
import { open, SEAL_BYTES, seal } from '../../engine/crypto/envelope.ts';

const HEAD = Buffer.from('GRIM\x01', 'latin1');

export class Uploads {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Durable when it resolves. Pieces are sealed one at a time, so that other requests run in between. Rejects with STO-E001. */
  async write(id: string, bytes: Uint8Array, key: Uint8Array): Promise<void> {
    const path = this.#path(id);
    const temporary = `${path}${TEMPORARY_SUFFIX}`;
    try {
      makeFolder(this.#directory);
      const file = await openFile(temporary, 'w', 0o600);
      try {
        await writePieces(file, bytes, createSecretKey(key));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
      syncDirectory(this.#directory);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw storageError('cannot store the file of an import', error);
    }
  }

  /** Rejects with IMP-E004 for a file that is missing, as after a restore, and with STO-E001 for a damaged one. */
  async read(id: string, length: number, key: Uint8Array): Promise<Buffer> {
    const path = this.#path(id);
    if (!existsSync(path))
      throw new EngineError('IMP-E004', 'the uploaded file is missing on the server: send it again');
    try {
      const file = await openFile(path, 'r');
      try {
        return await readPieces(file, length, createSecretKey(key));
      } finally {
        await file.close();
      }
    } catch (error) {
      throw error instanceof EngineError && error.code === 'STO-E001'
        ? error
        : new EngineError('STO-E001', 'the uploaded file is damaged');
    }
  }

  async remove(id: string): Promise<void> {
    await rm(this.#path(id), { force: true });
  }

  /** Removes the files that no job needs: a crash or a restore left them. */
  async removeOthers(needed: ReadonlySet<string>): Promise<void> {
    if (!existsSync(this.#directory)) return;
    for (const name of readdirSync(this.#directory))
      if (!needed.has(name)) await rm(join(this.#directory, name), { force: true });
  }

  #path(id: string): string {
    return join(this.#directory, id);
  }
}

function piecesOf(length: number): number {
  return Math.max(1, Math.ceil(length / IMPORT_PIECE_BYTES));
}

function aadOf(piece: number, pieces: number): Buffer {
  return Buffer.from(`import ${piece} of ${pieces}`, 'ascii');
}

async function writePieces(file: FileHandle, bytes: Uint8Array, key: KeyObject): Promise<void> {
  const pieces = piecesOf(bytes.length);
  await file.writeFile(HEAD);
  for (let piece = 0; piece < pieces; piece++) {
    const plain = bytes.subarray(piece * IMPORT_PIECE_BYTES, (piece + 1) * IMPORT_PIECE_BYTES);
    await file.writeFile(seal(key, plain, aadOf(piece, pieces)));
    await nextTurn();
  }
}

async function readPieces(file: FileHandle, length: number, key: KeyObject): Promise<Buffer> {
  const damaged = (): EngineError => new EngineError('STO-E001', 'the uploaded file is damaged');
  const pieces = piecesOf(length);
  const { size } = await file.stat();
  if (size !== HEAD.length + length + pieces * SEAL_BYTES) throw damaged();
  const head = Buffer.alloc(HEAD.length);
  await file.read(head, 0, head.length, 0);
  if (!head.equals(HEAD)) throw damaged();
  const whole = Buffer.allocUnsafe(length);
  const sealed = Buffer.allocUnsafe(IMPORT_PIECE_BYTES + SEAL_BYTES);
  let at = HEAD.length;
  for (let piece = 0; piece < pieces; piece++) {
    const from = piece * IMPORT_PIECE_BYTES;
    const room = Math.min(IMPORT_PIECE_BYTES, length - from) + SEAL_BYTES;
    const { bytesRead } = await file.read(sealed, 0, room, at);
    if (bytesRead !== room) throw damaged();
    open(key, sealed.subarray(0, room), aadOf(piece, pieces)).copy(whole, from);
    at += room;
    await nextTurn();
  }
  return whole;
}
