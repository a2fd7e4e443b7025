// Notices between two nodes about a shard that moves between them: u8 the kind, u32 the shard, little-endian. A node of an
// older version takes it for `look` alone, and does not answer.

/**
 * `fetch`: you take the shard soon, so fetch what you need. `fetching`: that goes on. `fetched`: it is over, and the shard may
 * come.
 */
export const NOTICE_KINDS = ['fetch', 'fetching', 'fetched'] as const;

export interface ShardNotice {
  readonly kind: (typeof NOTICE_KINDS)[number];
  readonly shard: number;
}

const BYTES = 5;

export function noticeBytes(notice: ShardNotice | undefined): Buffer {
  if (notice === undefined) return Buffer.alloc(0);
  const bytes = Buffer.alloc(BYTES);
  bytes.writeUInt8(NOTICE_KINDS.indexOf(notice.kind), 0);
  bytes.writeUInt32LE(notice.shard, 1);
  return bytes;
}

/** Undefined for none, and for one that a newer version has sent. */
export function readNotice(bytes: Buffer): ShardNotice | undefined {
  const kind = bytes.length === BYTES ? NOTICE_KINDS[bytes.readUInt8(0)] : undefined;
  return kind === undefined ? undefined : { kind, shard: bytes.readUInt32LE(1) };
}
