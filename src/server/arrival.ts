// A request as it arrives on a transport, and what its headers say.
import { hash } from 'node:crypto';
import { EngineError } from '../engine/base/errors.ts';
import { HASHED_AT_ONCE_BYTES, IDEMPOTENCY_KEY_CHARS_MAX, INDEX_WAIT_MS_MAX } from '../engine/base/limits.ts';
import { randomId } from './control/ids.ts';
import { headerName } from './header-text.ts';
import { hashInTurns } from './long-bytes.ts';
import type { Operation } from './operations/define.ts';
import type { QueryMode } from './query-mode.ts';

/** A request before its body is read. */
export interface Arrival {
  readonly operation: Operation;
  readonly face: 'http' | 'grpc';
  /** The memory in the path or metadata; undefined: the key's own, else `default`. */
  readonly memoryId: string | undefined;
  /** The request id sent by the caller. */
  readonly requestId: string | undefined;
  /**
   * A header or metadata entry by lower-case name. Throws VAL-E001 when it repeats: every header read here decides
   * about identity, rights or effects.
   */
  readonly header: (name: string) => string | undefined;
  /** The caller's address, found when it is first read. */
  readonly remoteAddress: string;
  /** The same object for requests of equal headers on a connection, where the transport recognises them. */
  readonly identity?: object | undefined;
  /** Path parameters besides the memory, and the query as sent. An idempotency key covers one such target. */
  readonly target?: string | undefined;
  /** The route over HTTP, for traces. */
  readonly route?: { readonly verb: string; readonly path: string } | undefined;
  /** True when the rate of its caller has counted it. */
  readonly isCounted?: boolean | undefined;
  /** Deadline: a time of `steadyMs` (base/clock.ts). */
  readonly deadlineMs?: number | undefined;
}

const REQUEST_ID_PATTERN = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's request id if valid, otherwise a new one. */
export function requestIdOf(given: string | undefined): string {
  return given !== undefined && REQUEST_ID_PATTERN.test(given) ? given : randomId('req');
}

/** `x-wait-for-index-ms`. VAL-E001 for an invalid value. */
export function waitHeader(arrival: Arrival): number | undefined {
  const value = arrival.header('x-wait-for-index-ms') ?? '';
  if (value === '') return undefined;
  if (/^\d{1,5}$/.test(value) && Number(value) <= INDEX_WAIT_MS_MAX) return Number(value);
  throw new EngineError('VAL-E001', `\`x-wait-for-index-ms\` must be from 0 to ${INDEX_WAIT_MS_MAX} milliseconds`, {
    details: [{ field: 'x-wait-for-index-ms', issue: `not 0 to ${INDEX_WAIT_MS_MAX}` }],
  });
}

/** `x-query-mode`: how a recall reads the operators of its query. VAL-E001 for an invalid value. */
export function queryModeHeader(arrival: Arrival): QueryMode | undefined {
  const value = arrival.header('x-query-mode') ?? '';
  if (value === '') return undefined;
  if (value === 'operators' || value === 'natural') return value;
  throw new EngineError('VAL-E001', '`x-query-mode` must be `operators` or `natural`', {
    details: [{ field: 'x-query-mode', issue: 'neither operators nor natural' }],
  });
}

/** A boolean header. VAL-E001 for an invalid value. */
export function flagHeader(arrival: Arrival, header: string): boolean {
  const value = arrival.header(header) ?? '';
  if (value === '' || value === '0' || value === 'false') return false;
  if (value === '1' || value === 'true') return true;
  throw new EngineError('VAL-E001', `\`${header}\` must be 1 or 0`, { details: [{ field: header, issue: '1 or 0' }] });
}

/** A header with the name of a thing, such as a namespace. VAL-E001 for an invalid value. */
export function nameHeader(arrival: Arrival, header: string): string | undefined {
  return headerName(arrival.header(header), header);
}

/**
 * True for a request that does no harm when it runs twice: it changes nothing, or its idempotency key makes the second run find the
 * answer of the first.
 */
export function isRepeatable({ mutates }: Pick<Operation, 'mutates'>, idempotencyKey: string | undefined): boolean {
  return !mutates || (idempotencyKey ?? '') !== '';
}

/** The caller of a request, and what the request is about. */
interface RequestScope {
  readonly principal: { readonly actor: string; readonly memoryIds?: readonly string[] | undefined };
  readonly memory: { readonly number: number } | undefined;
  readonly namespace: string | undefined;
  readonly userId: string | undefined;
}

/** The idempotency key of a request, and the SHA-256 of the request, as 64 hexadecimal digits each. */
interface Idempotency {
  readonly key: string;
  readonly bodyHash: string;
}

/**
 * Undefined for a request that changes nothing or has no key. Keys are separate for each caller. The body's hash covers the whole
 * request: memory, bindings and narrowing, path and query, and whether it is a dry run, because the change itself is
 * another request. Only that of a long body is a promise. VAL-E001 for a key that is too long.
 */
export function idempotencyOf(
  arrival: Arrival,
  { principal, memory, namespace = '', userId = '' }: RequestScope,
  bytes: Uint8Array,
): Idempotency | undefined | Promise<Idempotency> {
  const { operation, target = '' } = arrival;
  if (!operation.mutates) return undefined;
  const given = arrival.header('idempotency-key') ?? '';
  if (given === '') return undefined;
  if (given.length > IDEMPOTENCY_KEY_CHARS_MAX)
    throw new EngineError('VAL-E001', `idempotency-key is longer than ${IDEMPOTENCY_KEY_CHARS_MAX} characters`);
  const dryRun = flagHeader(arrival, 'x-dry-run') ? ['dry run'] : [];
  // A key that is bound to memories may not do, and so not repeat, what another key of its principal may.
  const bound = memory === undefined && principal.memoryIds !== undefined ? [{ memories: principal.memoryIds }] : [];
  const about = JSON.stringify([operation.name, memory?.number ?? 0, target, namespace, userId, ...dryRun, ...bound]);
  const key = hash('sha256', `${principal.actor}\n${given}`, 'hex');
  const head = Buffer.from(`${about}\n`);
  if (bytes.length > HASHED_AT_ONCE_BYTES) return hashInTurns(head, bytes).then((bodyHash) => ({ key, bodyHash }));
  return { key, bodyHash: hash('sha256', Buffer.concat([head, bytes]), 'hex') };
}
