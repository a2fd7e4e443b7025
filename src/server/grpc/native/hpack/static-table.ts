// The static table of RFC 7541, appendix A.

/** Names and values in turn; the first pair has index 1. */
const PAIRS: readonly string[] = [
  ...[':authority', '', ':method', 'GET', ':method', 'POST', ':path', '/', ':path', '/index.html'],
  ...[':scheme', 'http', ':scheme', 'https', ':status', '200', ':status', '204', ':status', '206'],
  ...[':status', '304', ':status', '400', ':status', '404', ':status', '500', 'accept-charset', ''],
  ...['accept-encoding', 'gzip, deflate', 'accept-language', '', 'accept-ranges', '', 'accept', ''],
  ...['access-control-allow-origin', '', 'age', '', 'allow', '', 'authorization', '', 'cache-control', ''],
  ...['content-disposition', '', 'content-encoding', '', 'content-language', '', 'content-length', ''],
  ...['content-location', '', 'content-range', '', 'content-type', '', 'cookie', '', 'date', '', 'etag', ''],
  ...['expect', '', 'expires', '', 'from', '', 'host', '', 'if-match', '', 'if-modified-since', ''],
  ...['if-none-match', '', 'if-range', '', 'if-unmodified-since', '', 'last-modified', '', 'link', ''],
  ...['location', '', 'max-forwards', '', 'proxy-authenticate', '', 'proxy-authorization', '', 'range', ''],
  ...['referer', '', 'refresh', '', 'retry-after', '', 'server', '', 'set-cookie', ''],
  ...['strict-transport-security', '', 'transfer-encoding', '', 'user-agent', '', 'vary', '', 'via', ''],
  ...['www-authenticate', ''],
];

/** Entries of the static table; indexes above it are those of the dynamic table. */
export const STATIC_ENTRIES = PAIRS.length / 2;

/** By index, from 1. */
export const STATIC_NAMES: readonly string[] = ['', ...PAIRS.filter((_, at) => at % 2 === 0)];
export const STATIC_VALUES: readonly string[] = ['', ...PAIRS.filter((_, at) => at % 2 === 1)];

/** The first index with a name. */
export const STATIC_INDEX_OF_NAME: ReadonlyMap<string, number> = new Map(
  STATIC_NAMES.map((name, index) => [name, index] as const)
    .slice(1)
    .reverse(),
);
