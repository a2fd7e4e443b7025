// Header blocks of answers. Headers of every answer are in the connection's table and cost an octet or two; the rest is
// sent as it is, because compressing it would cost more than it saves.
import type { HeaderBlock } from '../call-stream.ts';
import { RESPONSE } from '../exchange.ts';
import { HpackEncoder } from './hpack/encoder.ts';

const OK: readonly string[] = ['grpc-status', '0', 'grpc-message', 'OK'];
const OK_NAMES = new Set(OK);

/** A block that the table makes short, and the table's version that it was written with. */
interface Kept {
  readonly list: readonly string[];
  version: number;
  block: Buffer;
}

export class ReplyHeaders {
  private readonly encoder = new HpackEncoder();
  private readonly response: Kept = { list: RESPONSE, version: -1, block: Buffer.alloc(0) };
  private readonly ok: Kept = { list: OK, version: -1, block: Buffer.alloc(0) };

  /** The peer's SETTINGS_HEADER_TABLE_SIZE. */
  resize(tableBytesMax: number): void {
    this.encoder.resize(tableBytesMax);
  }

  /** Headers before the first message. The caller sends the block before it asks for another one. */
  begin(): Buffer {
    if (this.response.version === this.encoder.version) return this.response.block;
    this.encoder.begin();
    this.add(this.response);
    return this.encoder.view();
  }

  /** Any headers, such as trailers. The caller sends the block before it asks for another one. */
  block(headers: HeaderBlock): Buffer {
    const isOk = headers['grpc-status'] === '0' && headers['grpc-message'] === 'OK';
    const list: string[] = [];
    for (const name of Object.keys(headers)) if (!isOk || !OK_NAMES.has(name)) list.push(name, headers[name]!);
    this.encoder.begin();
    if (isOk) this.add(this.ok);
    this.encoder.literal(list);
    return this.encoder.view();
  }

  private add(kept: Kept): void {
    const { encoder } = this;
    if (kept.version === encoder.version) {
      encoder.again(kept.block);
      return;
    }
    const before = encoder.version;
    const start = encoder.view().length;
    encoder.indexed(kept.list);
    if (encoder.version !== before) return;
    kept.version = before;
    kept.block = Buffer.from(encoder.view().subarray(start));
  }
}
