// Statuses of the contract's error codes. A code without statuses does not compile.
import type { CalErrorCode, ErrorCode } from '../engine/base/errors.ts';
import { CAL_ERRORS } from '../engine/cal/errors.ts';

/** gRPC's status codes, as numbers on the wire. */
export const GRPC_STATUS = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type GrpcStatus = (typeof GRPC_STATUS)[keyof typeof GRPC_STATUS];

export interface WireStatus {
  readonly http: number;
  readonly grpc: GrpcStatus;
}

const wire = (http: number, grpc: keyof typeof GRPC_STATUS): WireStatus => ({ http, grpc: GRPC_STATUS[grpc] });

/** Query errors are the caller's, with these exceptions. */
const CAL_EXCEPTIONS: Readonly<Partial<Record<CalErrorCode, WireStatus>>> = {
  'CAL-E030': wire(429, 'RESOURCE_EXHAUSTED'),
  'CAL-E031': wire(504, 'DEADLINE_EXCEEDED'),
  'CAL-E040': wire(409, 'FAILED_PRECONDITION'),
  'CAL-E041': wire(409, 'FAILED_PRECONDITION'),
  'CAL-E042': wire(409, 'FAILED_PRECONDITION'),
  'CAL-E043': wire(429, 'RESOURCE_EXHAUSTED'),
  'CAL-E044': wire(403, 'PERMISSION_DENIED'),
  'CAL-E045': wire(403, 'PERMISSION_DENIED'),
  'CAL-E046': wire(404, 'NOT_FOUND'),
  'CAL-E052': wire(429, 'RESOURCE_EXHAUSTED'),
  'CAL-E075': wire(504, 'DEADLINE_EXCEEDED'),
  'CAL-E079': wire(501, 'UNIMPLEMENTED'),
  'CAL-E085': wire(404, 'NOT_FOUND'),
  'CAL-E088': wire(409, 'ALREADY_EXISTS'),
  'CAL-E089': wire(429, 'RESOURCE_EXHAUSTED'),
};
// Object.keys loses the type of the keys.
const CAL_CODES = Object.keys(CAL_ERRORS) as CalErrorCode[];
const CAL_STATUS = Object.fromEntries(
  CAL_CODES.map((code) => [code, CAL_EXCEPTIONS[code] ?? wire(400, 'INVALID_ARGUMENT')]),
) as Readonly<Record<CalErrorCode, WireStatus>>; // the loop made a row for each of them

/**
 * The contract has no gRPC status for codes that only HTTP routes use; here they have a matching one, in case an
 * operation gets a second transport.
 */
export const STATUS: Readonly<Record<ErrorCode, WireStatus>> = {
  'VAL-E001': wire(400, 'INVALID_ARGUMENT'),
  'VAL-E002': wire(400, 'INVALID_ARGUMENT'),
  'VAL-E003': wire(422, 'INVALID_ARGUMENT'),
  'VAL-E004': wire(400, 'INVALID_ARGUMENT'),
  'VAL-E005': wire(409, 'ALREADY_EXISTS'),
  'VAL-E006': wire(415, 'INVALID_ARGUMENT'),
  'MEM-E001': wire(404, 'NOT_FOUND'),
  'MEM-E002': wire(409, 'ABORTED'),
  'MEM-E003': wire(404, 'NOT_FOUND'),
  'MEM-E004': wire(409, 'ALREADY_EXISTS'),
  'MEM-E005': wire(400, 'INVALID_ARGUMENT'),
  'MEM-E006': wire(410, 'NOT_FOUND'),
  'MEM-E101': wire(400, 'INVALID_ARGUMENT'),
  'MEM-E102': wire(400, 'INVALID_ARGUMENT'),
  'MEM-E103': wire(400, 'INVALID_ARGUMENT'),
  'MEM-E104': wire(400, 'INVALID_ARGUMENT'),
  'MEM-E105': wire(400, 'INVALID_ARGUMENT'),
  'MEM-E106': wire(400, 'INVALID_ARGUMENT'),
  'FMT-E001': wire(400, 'INVALID_ARGUMENT'),
  'FMT-E002': wire(500, 'INTERNAL'),
  'FMT-E003': wire(400, 'INVALID_ARGUMENT'),
  'STO-E001': wire(500, 'INTERNAL'),
  'STO-E002': wire(503, 'UNAVAILABLE'),
  'CRY-E001': wire(500, 'INTERNAL'),
  'CRY-E002': wire(410, 'FAILED_PRECONDITION'),
  'AUT-E001': wire(403, 'PERMISSION_DENIED'),
  'AUT-E002': wire(403, 'PERMISSION_DENIED'),
  'AUT-E003': wire(500, 'INTERNAL'),
  'AUT-E004': wire(401, 'UNAUTHENTICATED'),
  'AUT-E005': wire(401, 'UNAUTHENTICATED'),
  'AUT-E006': wire(403, 'PERMISSION_DENIED'),
  'AUT-E007': wire(404, 'NOT_FOUND'),
  'AUT-E008': wire(503, 'UNAVAILABLE'),
  'POL-E001': wire(403, 'FAILED_PRECONDITION'),
  'POL-E002': wire(403, 'FAILED_PRECONDITION'),
  'POL-E003': wire(403, 'PERMISSION_DENIED'),
  'POL-E004': wire(403, 'PERMISSION_DENIED'),
  'POL-E005': wire(403, 'FAILED_PRECONDITION'),
  'POL-E006': wire(400, 'INVALID_ARGUMENT'),
  'POL-E007': wire(403, 'PERMISSION_DENIED'),
  'POL-E008': wire(403, 'FAILED_PRECONDITION'),
  'POL-E009': wire(400, 'INVALID_ARGUMENT'),
  'POL-E010': wire(403, 'PERMISSION_DENIED'),
  'POL-E011': wire(403, 'FAILED_PRECONDITION'),
  'POL-E012': wire(403, 'FAILED_PRECONDITION'),
  'POL-E013': wire(403, 'FAILED_PRECONDITION'),
  'GOL-E001': wire(409, 'FAILED_PRECONDITION'),
  'GOL-E002': wire(409, 'FAILED_PRECONDITION'),
  'SCP-E001': wire(400, 'INVALID_ARGUMENT'),
  'SCP-E002': wire(422, 'INVALID_ARGUMENT'),
  'SCP-E003': wire(404, 'NOT_FOUND'),
  'HOK-E001': wire(400, 'INVALID_ARGUMENT'),
  'HOK-E002': wire(400, 'INVALID_ARGUMENT'),
  'HOK-E003': wire(404, 'NOT_FOUND'),
  'HOK-E004': wire(409, 'FAILED_PRECONDITION'),
  'HRN-E001': wire(400, 'INVALID_ARGUMENT'),
  'HRN-E002': wire(404, 'NOT_FOUND'),
  'HRN-E003': wire(400, 'INVALID_ARGUMENT'),
  'HRN-E004': wire(404, 'NOT_FOUND'),
  'HRN-E005': wire(409, 'FAILED_PRECONDITION'),
  'HRN-E006': wire(422, 'INVALID_ARGUMENT'),
  'HRN-E007': wire(504, 'DEADLINE_EXCEEDED'),
  'HRN-E008': wire(409, 'ALREADY_EXISTS'),
  'HRN-E009': wire(400, 'INVALID_ARGUMENT'),
  'HRN-E010': wire(409, 'FAILED_PRECONDITION'),
  'IMP-E001': wire(415, 'INVALID_ARGUMENT'),
  'IMP-E002': wire(404, 'NOT_FOUND'),
  'IMP-E003': wire(409, 'FAILED_PRECONDITION'),
  'IMP-E004': wire(422, 'INVALID_ARGUMENT'),
  'CHT-E001': wire(404, 'NOT_FOUND'),
  'AGT-E001': wire(404, 'NOT_FOUND'),
  'AGT-E002': wire(409, 'ALREADY_EXISTS'),
  'AGT-E003': wire(403, 'PERMISSION_DENIED'),
  'PRV-E001': wire(404, 'NOT_FOUND'),
  'DSR-E001': wire(404, 'NOT_FOUND'),
  'DSR-E002': wire(409, 'FAILED_PRECONDITION'),
  'DSR-E003': wire(404, 'NOT_FOUND'),
  'VER-E001': wire(404, 'NOT_FOUND'),
  'VER-E002': wire(400, 'INVALID_ARGUMENT'),
  'LLM-E001': wire(503, 'UNAVAILABLE'),
  'LLM-E002': wire(502, 'UNAVAILABLE'),
  'LLM-E003': wire(400, 'INVALID_ARGUMENT'),
  'LLM-E004': wire(409, 'FAILED_PRECONDITION'),
  'EXE-E001': wire(400, 'INVALID_ARGUMENT'),
  ...CAL_STATUS,
  'CAL-E101': wire(503, 'UNAVAILABLE'),
  'CAL-E121': wire(403, 'PERMISSION_DENIED'),
  'LIM-E001': wire(429, 'RESOURCE_EXHAUSTED'),
  'LIM-E002': wire(429, 'RESOURCE_EXHAUSTED'),
  'LIM-E003': wire(413, 'RESOURCE_EXHAUSTED'),
  'SYS-E001': wire(500, 'INTERNAL'),
  'SYS-E002': wire(501, 'UNIMPLEMENTED'),
  'SYS-E003': wire(404, 'UNIMPLEMENTED'),
  'SYS-E004': wire(405, 'UNIMPLEMENTED'),
  'SYS-E005': wire(504, 'DEADLINE_EXCEEDED'),
};

const BY_CODE: Readonly<Record<string, WireStatus | undefined>> = STATUS;

/** The statuses of a code that may not be one of ours. */
export function statusOf(code: string): WireStatus | undefined {
  return BY_CODE[code];
}
