import { EngineError } from '../../../engine/base/errors.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';
import { isWithin } from './view.ts';

export const keysRevoke = defineOperation({
  name: 'revoke_key',
  summary: 'Revoke an API key: the next call with it fails.',
  description: 'A revoked key stays in the list.',
  example: { key_id: 'key_aaaaaaaaaaaaaaaaaaaaaaaa' },
  needs: 'admin',
  on: 'deployment',
  reach: 'binding',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({ keyId: Type.String({ description: 'Id of the key to revoke.' }) }),
  output: Type.Object({
    revoked: Type.Literal(true, { description: 'Always true.' }),
    keyId: Type.String({ description: 'Id of the revoked key.' }),
  }),
  errors: ['AUT-E007'],
  http: [{ verb: 'DELETE', path: '/auth/keys/{key_id}' }],
  async run({ keyId }, { services, principal }) {
    const key = services.keys.find(keyId);
    if (key === undefined || !isWithin(key, principal))
      throw new EngineError('AUT-E007', 'there is no API key with this id');
    await services.keys.revoke(keyId, principal.actor);
    return { revoked: true as const, keyId };
  },
});
