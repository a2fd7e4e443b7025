import { placeOfKey } from '../../control/keys.ts';
import { defineOperation } from '../define.ts';
import { PAGE_INPUT, PAGE_OUTPUT, pageOf, readPage } from '../page.ts';
import { Type } from '../type.ts';
import { isWithin, KeyOutput, keyOutput } from './view.ts';

const SCOPE = 'keys';

export const keysList = defineOperation({
  name: 'list_keys',
  summary: 'List API keys, newest first, without their secrets.',
  description: 'A bound key sees keys that are bound at least as narrowly.',
  example: { limit: 20 },
  needs: 'admin',
  on: 'deployment',
  reach: 'binding',
  mutates: false,
  paged: true,
  input: Type.Object(PAGE_INPUT),
  output: Type.Object({ keys: Type.Array(KeyOutput, { description: 'The keys of the page.' }), ...PAGE_OUTPUT }),
  http: [{ verb: 'GET', path: '/auth/keys' }],
  async run(input, { services, principal, warnings }) {
    const isBound =
      principal.memoryIds !== undefined || principal.namespace !== undefined || principal.userId !== undefined;
    const all = services.keys.list();
    const seen = isBound ? all.filter((key) => isWithin(key, principal)) : all;
    const { items, total, nextCursor } = pageOf(seen, readPage(input, SCOPE, warnings), placeOfKey, SCOPE);
    return { keys: items.map((key) => keyOutput(key, services.keys)), total, nextCursor };
  },
});
