import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GRPC_STATUS, STATUS, type WireStatus } from './status.ts';

/** gRPC statuses allowed for each HTTP status: both must tell a client to do the same. */
const KINDS: Record<number, readonly (keyof typeof GRPC_STATUS)[]> = {
  400: ['INVALID_ARGUMENT'],
  401: ['UNAUTHENTICATED'],
  403: ['PERMISSION_DENIED', 'FAILED_PRECONDITION'],
  404: ['NOT_FOUND', 'UNIMPLEMENTED'],
  405: ['UNIMPLEMENTED'],
  409: ['ALREADY_EXISTS', 'ABORTED', 'FAILED_PRECONDITION'],
  410: ['NOT_FOUND', 'FAILED_PRECONDITION'],
  413: ['RESOURCE_EXHAUSTED'],
  415: ['INVALID_ARGUMENT'],
  422: ['INVALID_ARGUMENT'],
  429: ['RESOURCE_EXHAUSTED'],
  500: ['INTERNAL'],
  501: ['UNIMPLEMENTED'],
  502: ['UNAVAILABLE'],
  503: ['UNAVAILABLE'],
  504: ['DEADLINE_EXCEEDED'],
};

test('each code’s two statuses are of one kind', () => {
  for (const [code, { http, grpc }] of Object.entries<WireStatus>(STATUS)) {
    const kinds = (KINDS[http] ?? []).map((name) => GRPC_STATUS[name]);
    assert.ok(
      kinds.some((kind) => kind === grpc),
      `${code}: HTTP ${http}, gRPC ${grpc}`,
    );
  }
});
