// The codec's own errors: codes of the grain format, the precedence of checks, and the service's error for each.
import { EngineError, type ErrorCode } from '../base/errors.ts';

const GRAIN_ERROR_MEANINGS = {
  ERR_TOO_SHORT: 'fewer bytes than the smallest valid form',
  ERR_TOO_LARGE: 'more bytes than the limit',
  ERR_VERSION: 'unknown format version',
  ERR_SIGNED_MISMATCH: 'signed flag and envelope disagree',
  ERR_ENCRYPTED: 'payload is encrypted and there is no key',
  ERR_INTEGRITY: 'hash, footer or signature does not match',
  ERR_CORRUPT: 'not canonical',
  ERR_UNSUPPORTED: 'a feature of the format that is not read here',
  ERR_NOT_MAP: 'payload is not a map',
  ERR_FLOAT_INVALID: 'not a finite number',
  ERR_NO_TYPE: 'no type',
  ERR_UNKNOWN_TYPE: 'unknown grain type',
  ERR_SCHEMA: 'missing or mistyped field',
  ERR_EMPTY: 'required value is empty',
  ERR_RANGE: 'value out of range',
  ERR_SENSITIVITY_MISMATCH: 'header sensitivity is below what the tags demand',
  ERR_HASH_LENGTH: 'content address is not 64 characters long',
  ERR_HASH_FORMAT: 'content address is not lowercase hex',
  ERR_INVALIDATION_DENIED: 'the invalidation policy does not permit this',
  ERR_EVIDENCE_REQUIRED: 'evidence required',
} as const;

export type GrainErrorCode = keyof typeof GRAIN_ERROR_MEANINGS;

/** A fault in a grain, a blob, a container or an envelope. Messages name fields, never contents. */
export class GrainError extends Error {
  override name = 'GrainError';
  readonly code: GrainErrorCode;

  constructor(code: GrainErrorCode, text?: string) {
    super(text ?? GRAIN_ERROR_MEANINGS[code]);
    this.code = code;
  }
}

/**
 * Throws `GrainError` with the code. Declared as returning `never`, so that callers can end a branch with it.
 */
export function refuse(code: GrainErrorCode, text?: string): never {
  throw new GrainError(code, text);
}

const FROM_API: Record<GrainErrorCode, ErrorCode> = {
  ERR_TOO_SHORT: 'FMT-E002',
  ERR_TOO_LARGE: 'LIM-E003',
  ERR_VERSION: 'FMT-E002',
  ERR_SIGNED_MISMATCH: 'FMT-E002',
  ERR_ENCRYPTED: 'FMT-E002',
  ERR_INTEGRITY: 'FMT-E003',
  ERR_CORRUPT: 'VAL-E001', // text or nesting that has no canonical form: a byte order mark, half a surrogate pair
  ERR_UNSUPPORTED: 'SYS-E002',
  ERR_NOT_MAP: 'FMT-E002',
  ERR_FLOAT_INVALID: 'VAL-E001',
  ERR_NO_TYPE: 'MEM-E005',
  ERR_UNKNOWN_TYPE: 'MEM-E005',
  ERR_SCHEMA: 'VAL-E003',
  ERR_EMPTY: 'VAL-E001',
  ERR_RANGE: 'VAL-E001',
  ERR_SENSITIVITY_MISMATCH: 'FMT-E002',
  ERR_HASH_LENGTH: 'VAL-E001',
  ERR_HASH_FORMAT: 'VAL-E001',
  ERR_INVALIDATION_DENIED: 'POL-E004',
  ERR_EVIDENCE_REQUIRED: 'POL-E004',
};

/**
 * The service's error for a codec error. `api`: the caller gave fields. `import`: the caller gave bytes, where every
 * breach is FMT-E001 and a wrong hash, footer or signature FMT-E003.
 */
export function toEngineError(error: GrainError, origin: 'api' | 'import'): EngineError {
  if (origin === 'api') return new EngineError(FROM_API[error.code], error.message);
  const code: ErrorCode =
    error.code === 'ERR_INTEGRITY'
      ? 'FMT-E003'
      : error.code === 'ERR_INVALIDATION_DENIED' || error.code === 'ERR_EVIDENCE_REQUIRED'
        ? 'POL-E004'
        : 'FMT-E001';
  return new EngineError(code, `${error.code}: ${error.message}`);
}
