// Header blocks of requests to their heads.
import { GRPC_HEADERS_MAX, HEADER_BYTES_MAX } from '../../../engine/base/limits.ts';
import { CODE, type Code } from './frames.ts';
import { HeadMemo } from './head-memo.ts';
import { HpackDecoder } from './hpack/decoder.ts';
import { TABLE_BYTES_DEFAULT } from './hpack/encoder.ts';
import { areTrailers, type RequestHead, requestHeadOf } from './request-head.ts';

export class HeadReader {
  private readonly decoder = new HpackDecoder({
    tableBytesMax: TABLE_BYTES_DEFAULT,
    listBytesMax: HEADER_BYTES_MAX,
    headersMax: GRPC_HEADERS_MAX,
  });
  private readonly memo = new HeadMemo();

  /** The request in a block, or the code to refuse it with. Throws HpackError. */
  head(bytes: Buffer, start: number, end: number): RequestHead | Code {
    const { version } = this.decoder;
    const block = bytes.toString('latin1', start, end);
    const known = this.memo.find(block, version);
    if (known !== undefined) return known;
    const list = this.decoder.decode(bytes, start, end);
    if (list === undefined) return CODE.ENHANCE_YOUR_CALM;
    const head = requestHeadOf(list);
    if (head === undefined) return CODE.PROTOCOL_ERROR;
    if (this.decoder.version === version) this.memo.keep(block, version, head);
    return head;
  }

  /** True for a block of valid trailers. Their values say nothing to a server. Throws HpackError. */
  trailers(bytes: Buffer, start: number, end: number): boolean {
    const list = this.decoder.decode(bytes, start, end);
    return list !== undefined && areTrailers(list);
  }
}
