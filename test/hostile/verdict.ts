// Checks that an answer is one of the contract's: a success, or a refusal with a code; never an accident.
import assert from 'node:assert/strict';
import type { WireResponse } from '../../src/server/http/socket-client.ts';
import { isCallersCode } from '../conformance/contract.ts';
import { refusalOf } from '../conformance/http-client.ts';

/** A listener's answers to bytes that are not a request, before the contract is reached. */
const PROTOCOL_STATUSES = new Set([400, 408, 413, 414, 417, 431, 505]);

/** The code of the refusal, or undefined for a success. Fails for anything else. */
export function verdict(reply: WireResponse, where: string): string | undefined {
  if (reply.status >= 200 && reply.status < 400) return undefined;
  const headers = new Headers([...reply.headers]);
  const refusal = refusalOf({ status: reply.status, headers, text: reply.body.toString() }, where);
  assert.ok(isCallersCode(refusal.code) || refusal.code === 'SYS-E002', `${where}: ${refusal.message}`);
  return refusal.code;
}

/** For bytes that may not be a request: a verdict, a bare protocol error, or a closed connection. */
export function verdictOfBytes(reply: WireResponse | undefined, where: string): void {
  if (reply === undefined) return;
  if (PROTOCOL_STATUSES.has(reply.status) && reply.headers.get('content-type')?.startsWith('application/json') !== true)
    return;
  verdict(reply, where);
}
