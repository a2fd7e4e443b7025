// Findings of one pass over a grain. A blob can break several rules at once, and the format says which one is
// reported: the first in the order of checks, not the first that a single pass happens to meet. So a pass notes its
// findings and throws the foremost at its end. A fault that ends the pass (a broken encoding) throws at once.
import { GrainError, type GrainErrorCode } from '../error.ts';

/** Order of the checks that can be noted; lower wins. Gaps follow the numbering of the format's table. */
export const CHECKS = {
  float: { rank: 10, code: 'ERR_FLOAT_INVALID' },
  noType: { rank: 11, code: 'ERR_NO_TYPE' },
  unknownType: { rank: 12, code: 'ERR_UNKNOWN_TYPE' },
  typeMismatch: { rank: 13, code: 'ERR_SCHEMA' },
  names: { rank: 14, code: 'ERR_CORRUPT' },
  indexLayer: { rank: 15, code: 'ERR_SCHEMA' },
  schema: { rank: 16, code: 'ERR_SCHEMA' },
  addressLength: { rank: 16, code: 'ERR_HASH_LENGTH' },
  addressFormat: { rank: 16, code: 'ERR_HASH_FORMAT' },
  empty: { rank: 17, code: 'ERR_EMPTY' },
  range: { rank: 18, code: 'ERR_RANGE' },
  header: { rank: 19, code: 'ERR_CORRUPT' },
  sensitivity: { rank: 20, code: 'ERR_SENSITIVITY_MISMATCH' },
} as const satisfies Record<string, { rank: number; code: GrainErrorCode }>;

interface Check {
  readonly rank: number;
  readonly code: GrainErrorCode;
}

const NONE = 1_000;
let foremost = NONE;
let code: GrainErrorCode = 'ERR_SCHEMA';
let subject = '';
let problem = '';

/** Forgets what an earlier pass (one that threw) left behind. The codec is synchronous, so one list is enough. */
export function startFindings(): void {
  foremost = NONE;
}

/** Notes a breach. `field` is a name of the format, never a caller's own key or value. */
export function note(check: Check, field: string, issue: string): void {
  if (check.rank >= foremost) return;
  foremost = check.rank;
  code = check.code;
  subject = field;
  problem = issue;
}

/** Throws the foremost breach noted since `startFindings`, if any. */
export function raiseFindings(): void {
  if (foremost === NONE) return;
  foremost = NONE;
  throw new GrainError(code, `${subject}: ${problem}`);
}
