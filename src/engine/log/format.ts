// Versions of a shard's disk format, without the engine that reads them.

/** Version of a shard's disk format. Raised when a format changes in a way that an older build cannot read. */
export const FORMAT_VERSION = 7;
/**
 * The oldest version whose logs are opened: 1 named grains by their plain hashes, 2 had no records of further sources, 3 had
 * no events, 4 no turns of harnesses, 5 no write-ahead files, 6 no lists of subjects in audit records.
 */
export const OLDEST_FORMAT = 1;
