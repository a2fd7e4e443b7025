// Reads the rights of a token from its claims (service contract, section 3): principal, scopes, and bindings like those
// of a key.
import type { JWTPayload } from 'jose';
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  MEMORIES_OF_TOKEN_MAX,
  NAMESPACE_CHARS_MAX,
  TOKEN_SUBJECT_CHARS_MAX,
  USER_ID_CHARS_MAX,
} from '../../engine/base/limits.ts';
import { heldBy, type Principal, SCOPES, type Scope } from './principal.ts';

const SCOPE_WORD = /^memory:(read|write|admin|metrics)$/;

/** Throws AUT-E004 for a claim of the wrong form: ignoring it would widen the token. */
export function principalOfClaims(claims: JWTPayload): Principal {
  const memoryIds = memoriesOf(claims['memories']);
  const namespace = textOf(claims, 'memory_namespace', NAMESPACE_CHARS_MAX);
  const userId = textOf(claims, 'memory_user_id', USER_ID_CHARS_MAX);
  const agentId = textOf(claims, 'agent_id', TOKEN_SUBJECT_CHARS_MAX);
  const subject = textOf(claims, 'sub', TOKEN_SUBJECT_CHARS_MAX);
  if (subject === undefined) throw wrong('sub');
  const isBound = memoryIds !== undefined || namespace !== undefined || userId !== undefined;
  const { scope, readsMetrics } = heldBy(scopesOf(claims));
  // The metrics cover the whole process, so a bound caller has no part in them.
  if (isBound && scope === 'metrics') throw refused('its scope memory:metrics excludes a binding');
  return defined({
    actor: `user:${subject}`,
    scope,
    readsMetrics: (readsMetrics === true && !isBound) || undefined,
    memoryIds,
    namespace,
    userId,
    agentId,
  });
}

/** `memory_scopes`, else the words of `scope` or `scp`, else `read`. */
function scopesOf(claims: JWTPayload): readonly Scope[] {
  const named = claims['memory_scopes'];
  if (named !== undefined) {
    const known = Array.isArray(named) ? SCOPES.filter((scope) => named.includes(scope)) : [];
    if (known.length === 0) throw wrong('memory_scopes');
    return known;
  }
  const words = [claims['scope'], claims['scp']].flatMap((claim) =>
    typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [],
  );
  return SCOPES.filter((scope) => words.some((word) => SCOPE_WORD.exec(String(word))?.[1] === scope));
}

function memoriesOf(claim: unknown): readonly string[] | undefined {
  if (claim === undefined) return undefined;
  if (!Array.isArray(claim) || claim.length > MEMORIES_OF_TOKEN_MAX || !claim.every((id) => typeof id === 'string'))
    throw wrong('memories');
  return Object.freeze([...new Set<string>(claim)]);
}

function textOf(claims: JWTPayload, name: string, charsMax: number): string | undefined {
  const claim = claims[name];
  if (claim === undefined) return undefined;
  // A control character could forge lines in a log or an audit export.
  if (typeof claim !== 'string' || claim === '' || claim.length > charsMax || /\p{Cc}|\p{Cs}/u.test(claim))
    throw wrong(name);
  return claim.normalize('NFC');
}

function wrong(claim: string): EngineError {
  return refused(`its claim ${claim} is absent or invalid`);
}

/** AUT-E004. `why` never quotes the token. */
export function refused(why: string): EngineError {
  return new EngineError('AUT-E004', `the token is refused: ${why}`);
}
