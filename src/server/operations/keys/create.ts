import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { NAME_CHARS_MAX, NAMESPACE_CHARS_MAX, USER_ID_CHARS_MAX } from '../../../engine/base/limits.ts';
import { includesScope, type Principal, RESERVED_ACTOR, SCOPES, type Scope } from '../../auth/principal.ts';
import { defineOperation } from '../define.ts';
import { secondsToMs } from '../recall/query.ts';
import { plainText } from '../text.ts';
import { described, Type } from '../type.ts';
import { isWithin, KeyOutput, keyOutput, ScopeName } from './view.ts';

const Input = Type.Object({
  name: Type.Optional(
    described(plainText({ minLength: 1, maxLength: NAME_CHARS_MAX }), 'Name of the key; the default is key.', 'key'),
  ),
  principal: Type.Optional(
    described(
      plainText({ minLength: 1, maxLength: NAME_CHARS_MAX }),
      "Principal that calls with the key act as; the default is key: and the key's id.",
    ),
  ),
  scopes: Type.Optional(
    Type.Array(ScopeName, { minItems: 1, description: "Scopes of the key; the default is the caller's own." }),
  ),
  memoryId: Type.Optional(
    Type.String({
      minLength: 1,
      description: "Memory that the key is bound to; the default is the caller's binding, or none.",
    }),
  ),
  namespace: Type.Optional(
    described(
      plainText({ minLength: 1, maxLength: NAMESPACE_CHARS_MAX }),
      "Namespace that the key is bound to; the default is the caller's binding, or none.",
    ),
  ),
  userId: Type.Optional(
    described(
      plainText({ minLength: 1, maxLength: USER_ID_CHARS_MAX }),
      "Data subject that the key is bound to; the default is the caller's binding, or none.",
    ),
  ),
  expiresAt: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Time at which the key expires, in Unix seconds; the default is never.' }),
  ),
});

const Output = Type.Object({
  ...KeyOutput.properties,
  rawKey: Type.Optional(
    Type.String({
      description:
        'The secret key, which is shown this once. It is not stored, so the answer to a repeat with the same Idempotency-Key lacks it.',
    }),
  ),
});

export const keysCreate = defineOperation({
  name: 'create_key',
  summary: 'Make an API key. raw_key is shown here once.',
  description: 'A key has at most the scopes of its maker and is bound at least as narrowly.',
  example: { name: 'reader', scopes: ['read'], memory_id: 'default' },
  needs: 'admin',
  on: 'deployment',
  reach: 'binding',
  mutates: true,
  onUnknown: 'refuse',
  input: Input,
  output: Output,
  shownOnce: ['rawKey'],
  errors: ['VAL-E001', 'MEM-E003'],
  http: [{ verb: 'POST', path: '/auth/keys', successStatus: 201 }],
  async run(input, { services, principal }, first) {
    const bound = defined({
      memoryId: input.memoryId ?? onlyMemory(principal),
      namespace: input.namespace ?? principal.namespace,
      userId: input.userId ?? principal.userId,
    });
    if (!isWithin(bound, principal))
      throw new EngineError(
        'AUT-E001',
        'a bound or narrowed caller can create only keys with a binding within its own',
      );
    if (bound.memoryId !== undefined) services.memories.get(bound.memoryId);
    const scopes = [...new Set<Scope>(input.scopes ?? ownLevels(principal))];
    if (!scopes.every((scope) => includesScope(principal, scope)))
      throw new EngineError('AUT-E001', 'a key cannot have scopes that its creator lacks');
    if (scopes.includes('metrics') && Object.keys(bound).length > 0)
      throw new EngineError(
        'VAL-E001',
        'a key with the metrics scope cannot be bound: the metrics cover the whole process',
        {
          details: [{ field: 'scopes', issue: 'metrics beside a binding' }],
        },
      );
    if (input.principal !== undefined && RESERVED_ACTOR.test(input.principal))
      throw new EngineError('VAL-E001', `principal must not be ${input.principal}`, {
        details: [{ field: 'principal', issue: 'reserved' }],
      });
    const expiresAtMs = secondsToMs(input.expiresAt, 'expires_at', 0);
    if (expiresAtMs !== undefined && expiresAtMs <= services.clock.nowMs())
      throw new EngineError('VAL-E001', 'expires_at is in the past', {
        details: [{ field: 'expires_at', issue: 'in the past' }],
      });
    const { key, raw } = await services.keys.createOnce(
      {
        name: input.name?.normalize('NFC') ?? 'key',
        scopes,
        ...bound,
        principal: input.principal?.normalize('NFC'),
        expiresAtMs,
      },
      { actor: principal.actor, first },
    );
    // A repeat of a request that was interrupted has no secret, like the kept answers.
    return defined({ ...keyOutput(key, services.keys), rawKey: raw });
  },
});

/** The caller's memory. VAL-E001 for a caller with several, of which a key can have only one. */
function onlyMemory({ memoryIds }: Principal): string | undefined {
  if (memoryIds === undefined || memoryIds.length === 1) return memoryIds?.[0];
  throw new EngineError('VAL-E001', 'memory_id is required: the caller is bound to several memories, a key to one', {
    details: [{ field: 'memory_id', issue: 'required' }],
  });
}

/** The default scopes of a new key: those of its creator, without metrics. */
function ownLevels(principal: Principal): Scope[] {
  return SCOPES.filter((scope) => scope !== 'metrics' && includesScope(principal, scope));
}
