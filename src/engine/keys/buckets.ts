// Where the slots of a key store lie, in buckets: files (bucket-files.ts), or a database that takes them with appends of the
// log (staged-buckets.ts).

export type SlotChange = readonly [id: number, slot: Uint8Array];

export interface Buckets {
  /** Name of the store, part of every key's id text. */
  readonly name: string;
  /** Number of the newest bucket, -1 when there is none. */
  readonly newest: number;
  /** The bytes of a bucket, `BUCKET_BYTES` long, or undefined. Callers must not change them. */
  read(bucket: number): Buffer | undefined;
  /** True for a bucket that ends before its last slot: keys may be missing. */
  isCutShort(bucket: number): boolean;
  /** Writes bytes `from`..`to` of an existing bucket. STO-E001. */
  writeRange(bucket: number, bytes: Buffer, from: number, to: number): void;
  /** Replaces a whole bucket, or creates it. On STO-E001 the old one remains. */
  replace(bucket: number, bytes: Buffer): void;
  /** Like `replace`, and leaves as little as it can of the replaced bytes. */
  replaceAndScrub(bucket: number, bytes: Buffer): void;
  /** Like `replaceAndScrub`, for slots that become tombstones. */
  destroySlots(bucket: number, bytes: Buffer, ids: readonly number[]): void;
  /** Changed slots that no append has taken yet. Absent where slots are durable by themselves. */
  readonly staged?: ReadonlyMap<number, Uint8Array> | undefined;
  /** The append that took these slots is durable. */
  written?(slots: readonly SlotChange[]): void;
  /** Copies every bucket durably into `directory`, as files. Returns their number. */
  copyTo(directory: string): number;
}
