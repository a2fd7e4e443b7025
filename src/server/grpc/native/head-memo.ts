// Header blocks of a connection that repeat: the same octets, read with the same table, say the same.
import { GRPC_HEAD_KEPT_BYTES_MAX, GRPC_HEADS_KEPT_MAX } from '../../../engine/base/limits.ts';
import type { RequestHead } from './request-head.ts';

export class HeadMemo {
  private readonly heads = new Map<string, RequestHead>();
  /** The version of the table that all heads were read with. */
  private version = -1;

  /** The head of a block seen before. `block` has one character for each octet. */
  find(block: string, version: number): RequestHead | undefined {
    return version === this.version ? this.heads.get(block) : undefined;
  }

  /** Keeps the head of a block that did not change the table. */
  keep(block: string, version: number, head: RequestHead): void {
    if (block.length > GRPC_HEAD_KEPT_BYTES_MAX) return;
    if (version !== this.version || this.heads.size === GRPC_HEADS_KEPT_MAX) this.heads.clear();
    this.version = version;
    this.heads.set(block, head);
    head.isKept = true;
  }
}
