/** A header block that RFC 7541 does not allow. Both ends' tables differ from then on, so the connection must end. */
export class HpackError extends Error {
  override name = 'HpackError';
}
