// An upload: multipart/form-data whose file part is named `file`. Other parts are passed over, as some clients send a
// `config` beside it.
import busboy from 'busboy';
import { EngineError } from '../../engine/base/errors.ts';
import { UPLOAD_BYTES_MAX } from '../../engine/base/limits.ts';
import { checkEncoding } from './json.ts';
import type { HttpRequest } from './listener.ts';

/** Parts of one upload; more are refused. */
const PARTS_MAX = 16;
/** What boundaries and part headers may add to the file. */
const ENVELOPE_BYTES_MAX = 65_536;
const PART_NAME = 'file';
/** What is parsed in one go: some milliseconds where every few bytes begin as a boundary does. */
const STRETCH_BYTES = 131_072;

export interface Upload {
  /** As the client named it, without folders; '' when it did not. */
  readonly fileName: string;
  /** As the client said; application/octet-stream when it did not. */
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/**
 * The uploaded file. Rejects with LIM-E003 when it or the body is too large, VAL-E006 for another content type, VAL-E002
 * for what is not multipart, VAL-E003 without the part `file` or with several.
 */
export async function fileUpload(request: HttpRequest, bytesMax: number = UPLOAD_BYTES_MAX): Promise<Upload> {
  const type = request.only('content-type') ?? '';
  const body = await request.body(bytesMax + ENVELOPE_BYTES_MAX);
  checkEncoding(request.header('content-encoding') ?? '');
  if (!/^multipart\/form-data\s*(;|$)/i.test(type)) {
    throw new EngineError('VAL-E006', 'the body of this route is multipart/form-data with a part named `file`');
  }
  const files = await fileParts(type, body, bytesMax);
  const [file] = files;
  if (file === undefined || files.length > 1) {
    const issue = file === undefined ? 'missing field `file`' : 'more than one part `file`';
    throw new EngineError('VAL-E003', issue, { details: [{ field: PART_NAME, issue }] });
  }
  return file;
}

function fileParts(type: string, body: Uint8Array, bytesMax: number): Promise<Upload[]> {
  return new Promise((resolve, reject) => {
    const malformed = (): void => reject(new EngineError('VAL-E002', 'the body is not multipart'));
    const files: Upload[] = [];
    let parser: busboy.Busboy;
    try {
      parser = busboy({
        headers: { 'content-type': type },
        defParamCharset: 'utf8',
        // One byte more than allowed, so that a file of exactly the limit is not taken for a cut one.
        limits: { fileSize: bytesMax + 1, parts: PARTS_MAX, fieldSize: ENVELOPE_BYTES_MAX },
      });
    } catch {
      malformed();
      return;
    }
    parser.on('file', (name, stream, info) => {
      if (name !== PART_NAME) {
        stream.resume();
        return;
      }
      const content = new Content(body.length);
      stream.on('data', (chunk: Buffer) => content.push(chunk));
      stream.on('end', () => {
        files.push({ fileName: info.filename ?? '', contentType: info.mimeType, bytes: content.bytes });
      });
      // A part that the body's end cuts off ends in an error here and in the parser; the parser's is answered.
      stream.on('error', () => undefined);
    });
    parser.on('partsLimit', () => reject(new EngineError('VAL-E002', `more than ${PARTS_MAX} parts`)));
    parser.on('error', malformed);
    parser.on('close', () => {
      if (files.some(({ bytes }) => bytes.byteLength > bytesMax)) {
        reject(new EngineError('LIM-E003', `the file is larger than ${bytesMax} bytes`));
      } else resolve(files);
    });
    void feed(parser, body);
  });
}

/** Pieces of a file, put together as they come. There may be one for every few bytes, and to join those at the end would take long. */
class Content {
  readonly #bytesMax: number;
  /** One piece is the file as a rule, and is not copied. */
  #only: Buffer | undefined;
  #joined: Buffer | undefined;
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  push(piece: Buffer): void {
    if (this.#length === 0) this.#only = piece;
    else {
      this.#joined ??= this.#begun();
      piece.copy(this.#joined, this.#length);
    }
    this.#length += piece.length;
  }

  get bytes(): Uint8Array {
    return this.#joined?.subarray(0, this.#length) ?? this.#only ?? NO_BYTES;
  }

  /** Memory that is not used yet costs nothing. */
  #begun(): Buffer {
    const joined = Buffer.allocUnsafeSlow(this.#bytesMax);
    this.#only?.copy(joined);
    this.#only = undefined;
    return joined;
  }
}

const NO_BYTES = new Uint8Array(0);

/** A stretch at a time, so that the parser of a long body lets others be answered between two. */
async function feed(parser: busboy.Busboy, body: Uint8Array): Promise<void> {
  for (let at = 0; at < body.length && !parser.destroyed; at += STRETCH_BYTES) {
    parser.write(body.subarray(at, at + STRETCH_BYTES));
    if (at + STRETCH_BYTES < body.length) await new Promise((resolve) => setImmediate(resolve));
  }
  parser.end();
}
