// The contract's errors, copied without the server's own table: code, HTTP status, gRPC status. Every error that a
// client of this suite gets is checked against it.
import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';

/** Contract section 2, the rows that this build can return. */
const REFUSALS: Readonly<Record<string, readonly [http: number, grpc: number | undefined]>> = {
  'VAL-E001': [400, status.INVALID_ARGUMENT],
  'VAL-E002': [400, status.INVALID_ARGUMENT],
  'VAL-E003': [422, status.INVALID_ARGUMENT],
  'VAL-E004': [400, status.INVALID_ARGUMENT],
  'VAL-E005': [409, status.ALREADY_EXISTS],
  'VAL-E006': [415, status.INVALID_ARGUMENT],
  'MEM-E001': [404, status.NOT_FOUND],
  'MEM-E002': [409, status.ABORTED],
  'MEM-E003': [404, status.NOT_FOUND],
  'MEM-E004': [409, status.ALREADY_EXISTS],
  'MEM-E005': [400, status.INVALID_ARGUMENT],
  'MEM-E006': [410, status.NOT_FOUND],
  'MEM-E101': [400, status.INVALID_ARGUMENT],
  'MEM-E102': [400, status.INVALID_ARGUMENT],
  'MEM-E103': [400, status.INVALID_ARGUMENT],
  'MEM-E104': [400, status.INVALID_ARGUMENT],
  'MEM-E105': [400, status.INVALID_ARGUMENT],
  'MEM-E106': [400, status.INVALID_ARGUMENT],
  'FMT-E001': [400, status.INVALID_ARGUMENT],
  'FMT-E003': [400, status.INVALID_ARGUMENT],
  'STO-E002': [503, status.UNAVAILABLE],
  'CRY-E002': [410, status.FAILED_PRECONDITION],
  'AUT-E001': [403, status.PERMISSION_DENIED],
  'AUT-E004': [401, status.UNAUTHENTICATED],
  'AUT-E005': [401, status.UNAUTHENTICATED],
  'AUT-E006': [403, status.PERMISSION_DENIED],
  'AUT-E007': [404, status.NOT_FOUND],
  'AUT-E008': [503, status.UNAVAILABLE],
  'GOL-E001': [409, status.FAILED_PRECONDITION],
  'GOL-E002': [409, status.FAILED_PRECONDITION],
  'POL-E001': [403, status.FAILED_PRECONDITION],
  'POL-E002': [403, status.FAILED_PRECONDITION],
  'POL-E003': [403, status.PERMISSION_DENIED],
  'POL-E004': [403, status.PERMISSION_DENIED],
  'POL-E005': [403, status.FAILED_PRECONDITION],
  'POL-E006': [400, status.INVALID_ARGUMENT],
  'POL-E008': [403, status.FAILED_PRECONDITION],
  'POL-E009': [400, status.INVALID_ARGUMENT],
  'POL-E010': [403, status.PERMISSION_DENIED],
  'POL-E012': [403, status.FAILED_PRECONDITION],
  'POL-E013': [403, status.FAILED_PRECONDITION],
  'SCP-E001': [400, status.INVALID_ARGUMENT],
  'SCP-E002': [422, undefined],
  'SCP-E003': [404, undefined],
  'IMP-E001': [415, undefined],
  'IMP-E002': [404, undefined],
  'IMP-E003': [409, undefined],
  'IMP-E004': [422, undefined],
  'AGT-E001': [404, undefined],
  'AGT-E002': [409, undefined],
  'AGT-E003': [403, status.PERMISSION_DENIED],
  'HOK-E001': [400, undefined],
  'HOK-E002': [400, undefined],
  'HOK-E003': [404, undefined],
  'CHT-E001': [404, undefined],
  'HOK-E004': [409, undefined],
  'LLM-E001': [503, undefined],
  'LLM-E002': [502, undefined],
  'LLM-E003': [400, undefined],
  'LLM-E004': [409, undefined],
  'HRN-E001': [400, undefined],
  'HRN-E002': [404, undefined],
  'HRN-E003': [400, undefined],
  'HRN-E004': [404, undefined],
  'HRN-E005': [409, undefined],
  'HRN-E006': [422, undefined],
  'HRN-E007': [504, undefined],
  'HRN-E008': [409, undefined],
  'HRN-E009': [400, undefined],
  'HRN-E010': [409, undefined],
  'EXE-E001': [400, undefined],
  'PRV-E001': [404, status.NOT_FOUND],
  'DSR-E001': [404, status.NOT_FOUND],
  'DSR-E002': [409, status.FAILED_PRECONDITION],
  'DSR-E003': [404, status.NOT_FOUND],
  'VER-E001': [404, status.NOT_FOUND],
  'VER-E002': [400, status.INVALID_ARGUMENT],
  ...Object.fromEntries(
    'E001 E002 E003 E004 E005 E006 E007 E008 E009 E010 E011 E012 E013 E014 E015 E016 E017 E018 E019 E020 E021 E022'
      .split(' ')
      .concat(
        'E032 E033 E034 E035 E036 E037 E038 E039 E050 E051 E060 E061 E062 E063 E064 E065 E066 E070 E071'.split(' '),
      )
      .concat('E076 E077 E078 E086 E087 E090 E091 E092 E093 E094 E095 E096 E100 E110 E113'.split(' '))
      .map((code) => [`CAL-${code}`, [400, status.INVALID_ARGUMENT] as const]),
  ),
  'CAL-E030': [429, status.RESOURCE_EXHAUSTED],
  'CAL-E031': [504, status.DEADLINE_EXCEEDED],
  'CAL-E040': [409, status.FAILED_PRECONDITION],
  'CAL-E041': [409, status.FAILED_PRECONDITION],
  'CAL-E042': [409, status.FAILED_PRECONDITION],
  'CAL-E043': [429, status.RESOURCE_EXHAUSTED],
  'CAL-E044': [403, status.PERMISSION_DENIED],
  'CAL-E045': [403, status.PERMISSION_DENIED],
  'CAL-E046': [404, status.NOT_FOUND],
  'CAL-E052': [429, status.RESOURCE_EXHAUSTED],
  'CAL-E075': [504, status.DEADLINE_EXCEEDED],
  'CAL-E079': [501, status.UNIMPLEMENTED],
  'CAL-E085': [404, status.NOT_FOUND],
  'CAL-E088': [409, status.ALREADY_EXISTS],
  'CAL-E089': [429, status.RESOURCE_EXHAUSTED],
  'CAL-E101': [503, status.UNAVAILABLE],
  'LIM-E001': [429, status.RESOURCE_EXHAUSTED],
  'LIM-E002': [429, status.RESOURCE_EXHAUSTED],
  'LIM-E003': [413, status.RESOURCE_EXHAUSTED],
  'SYS-E002': [501, status.UNIMPLEMENTED],
  'SYS-E003': [404, undefined],
  'SYS-E004': [405, undefined],
  'SYS-E005': [504, status.DEADLINE_EXCEEDED],
};

export interface RefusalDetail {
  readonly field: string;
  readonly issue: string;
}

/** An error from any transport. */
export class Refusal extends Error {
  readonly code: string;
  readonly details: readonly RefusalDetail[];
  readonly requestId: string | undefined;

  constructor(code: string, message: string, details: readonly RefusalDetail[] = [], requestId?: string) {
    super(message);
    this.code = code;
    this.details = details;
    this.requestId = requestId;
  }
}

function known(code: string, where: string): readonly [number, number | undefined] {
  const row = REFUSALS[code];
  assert.ok(row, `${where} refused with ${code}, which no caller here can cause`);
  return row;
}

export function checkHttpStatus(code: string, http: number, where: string): void {
  // HTTP has a separate status for headers that are too large.
  if (code === 'LIM-E003' && http === 431) return;
  assert.equal(http, known(code, where)[0], `HTTP status of ${code} from ${where}`);
}

export function checkGrpcStatus(code: string, grpc: number, where: string): void {
  assert.equal(grpc, known(code, where)[1], `gRPC status of ${code} from ${where}`);
}

/** Codes that a caller can cause. */
export function isCallersCode(code: string): boolean {
  const row = REFUSALS[code];
  return row !== undefined && row[0] < 500;
}

/** Resolves to the error; fails when the call succeeds or returns another code. */
export async function refused(call: Promise<unknown>, ...codes: readonly string[]): Promise<Refusal> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in outcome)
    assert.fail(`expected ${codes.join(' or ')}, got ${JSON.stringify(outcome.value)?.slice(0, 500)}`);
  const { error } = outcome;
  if (!(error instanceof Refusal)) throw error;
  assert.ok(codes.includes(error.code), `expected ${codes.join(' or ')}, got ${error.message}`);
  return error;
}
