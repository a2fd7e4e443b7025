// Uploads: multipart/form-data with a file part named `file`. Other parts are not read; only their names are kept, because some clients add a `config`.
import busboy from 'busboy';
import { EngineError } from '../../engine/base/errors.ts';
import { UPLOAD_BYTES_MAX } from '../../engine/base/limits.ts';
import { checkEncoding } from './json.ts';
import type { HttpRequest } from './listener.ts';

/** Maximum parts of one upload. */
const PARTS_MAX = 16;
/** Allowance for boundaries and part headers. */
const ENVELOPE_BYTES_MAX = 65_536;
const PART_NAME = 'file';
/** Bytes parsed in one go: a few milliseconds even when every few bytes begin like a boundary. */
const STRETCH_BYTES = 131_072;

export interface Upload {
  /** As named by the client, without folders; empty when missing. */
  readonly fileName: string;
  /** As declared by the client; default: application/octet-stream. */
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** Names of the parts besides `file`, in order. */
  readonly otherParts: readonly string[];
}

/**
 * The uploaded file. Rejects with LIM-E003 when it or the body is too large, VAL-E006 for another content type,
 * VAL-E002 for invalid multipart, VAL-E003 without the part `file` or with several.
 */
export async function fileUpload(request: HttpRequest, bytesMax: number = UPLOAD_BYTES_MAX): Promise<Upload> {
  const type = request.only('content-type') ?? '';
  const body = await request.body(bytesMax + ENVELOPE_BYTES_MAX);
  checkEncoding(request.header('content-encoding') ?? '');
  if (!/^multipart\/form-data\s*(;|$)/i.test(type)) {
    throw new EngineError('VAL-E006', 'the body of this route is multipart/form-data with a part named `file`');
  }
  const { files, otherParts } = await partsOf(type, body, bytesMax);
  const [file] = files;
  if (file === undefined || files.length > 1) {
    const issue = file === undefined ? 'missing field `file`' : 'more than one part `file`';
    throw new EngineError('VAL-E003', issue, { details: [{ field: PART_NAME, issue }] });
  }
  return { ...file, otherParts };
}

interface Parts {
  readonly files: Omit<Upload, 'otherParts'>[];
  readonly otherParts: string[];
}

function partsOf(type: string, body: Uint8Array, bytesMax: number): Promise<Parts> {
  return new Promise((resolve, reject) => {
    const malformed = (): void => reject(new EngineError('VAL-E002', 'the body is not multipart'));
    const { files, otherParts }: Parts = { files: [], otherParts: [] };
    let parser: busboy.Busboy;
    try {
      parser = busboy({
        headers: { 'content-type': type },
        defParamCharset: 'utf8',
        // One byte more than allowed, so that a file of exactly the limit does not count as truncated.
        limits: { fileSize: bytesMax + 1, parts: PARTS_MAX, fieldSize: ENVELOPE_BYTES_MAX },
      });
    } catch {
      malformed();
      return;
    }
    parser.on('file', (name, stream, info) => {
      if (name !== PART_NAME) {
        otherParts.push(name);
        stream.resume();
        return;
      }
      const content = new Content(body);
      stream.on('data', (chunk: Buffer) => content.push(chunk));
      stream.on('end', () => {
        files.push({ fileName: info.filename ?? '', contentType: info.mimeType, bytes: content.bytes });
      });
      // A truncated part fails here and in the parser; the parser's error is answered.
      stream.on('error', () => undefined);
    });
    parser.on('field', (name) => otherParts.push(name));
    parser.on('partsLimit', () => reject(new EngineError('VAL-E002', `more than ${PARTS_MAX} parts`)));
    parser.on('error', malformed);
    parser.on('close', () => {
      if (files.some(({ bytes }) => bytes.byteLength > bytesMax)) {
        reject(new EngineError('LIM-E003', `the file is larger than the limit of ${bytesMax} bytes`));
      } else resolve({ files, otherParts });
    });
    void feed(parser, body);
  });
}

/**
 * The bytes of a file, a stretch of the body. The parser gives them in pieces, perhaps one for every few bytes. Most pieces are
 * views of the body; those that may be the beginning of a boundary are copies.
 */
class Content {
  readonly #body: Uint8Array;
  /** Offset in the body, known from the first view on. */
  #start: number | undefined;
  #length = 0;
  /** The pieces before the first view: fewer bytes than a boundary has. */
  readonly #copies: Buffer[] = [];

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  push(piece: Buffer): void {
    if (this.#start === undefined) {
      const at = piece.byteOffset - this.#body.byteOffset;
      // A copy may be in the same buffer as the body, because small ones share a buffer.
      const isView = piece.buffer === this.#body.buffer && at >= 0 && at < this.#body.length;
      if (isView) this.#start = at - this.#length;
      else this.#copies.push(piece);
    }
    this.#length += piece.length;
  }

  /** A view of the body, unless it is shorter than a boundary. */
  get bytes(): Uint8Array {
    if (this.#start === undefined) return Buffer.concat(this.#copies);
    return this.#body.subarray(this.#start, this.#start + this.#length);
  }
}

/** Feeds the parser in stretches, so that other requests are answered in between. */
async function feed(parser: busboy.Busboy, body: Uint8Array): Promise<void> {
  for (let at = 0; at < body.length && !parser.destroyed; at += STRETCH_BYTES) {
    parser.write(body.subarray(at, at + STRETCH_BYTES));
    if (at + STRETCH_BYTES < body.length) await new Promise((resolve) => setImmediate(resolve));
  }
  parser.end();
}
