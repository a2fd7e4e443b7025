import { defined } from '../../../engine/base/defined.ts';
import { defineOperation } from '../define.ts';
import { PAGE_INPUT, PAGE_OUTPUT, readPage, writeCursor } from '../page.ts';
import { Type } from '../type.ts';
import { Tuple } from './tuple.ts';

const SCOPE = 'tuples';

export const listAccess = defineOperation({
  name: 'list_access',
  summary: 'List access tuples, the newest first.',
  description: 'It lists all tuples of the memory, those of an object, those of a subject, or those of both.',
  example: { object: 'namespace:acme/prod' },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  paged: true,
  input: Type.Object({
    object: Type.Optional(
      Type.String({ minLength: 1, description: 'Only tuples of this object; the default is all.' }),
    ),
    subject: Type.Optional(
      Type.String({ minLength: 1, description: 'Only tuples of exactly this subject; the default is all.' }),
    ),
    ...PAGE_INPUT,
  }),
  output: Type.Object({
    tuples: Type.Array(
      Type.Object({
        ...Tuple.properties,
        grantedAt: Type.Integer({ description: 'Time of the grant in Unix seconds.' }),
        grantedBy: Type.String({ description: 'Principal that granted it; a person by a pseudonym.' }),
      }),
      { description: 'The tuples of this page.' },
    ),
    ...PAGE_OUTPUT,
  }),
  errors: ['VAL-E001', 'VAL-E004'],
  exec: { command: 'authz_list' },
  async run({ object, subject, ...page }, context) {
    const { limit, offset, order, after } = readPage(page, SCOPE, context.warnings);
    const asked = defined({
      object,
      subject,
      order,
      offset,
      limit,
      after: after?.timeMs,
    });
    const { tuples, total, next } = await context.call('tuples', asked);
    const nextCursor = next === undefined ? null : writeCursor({ timeMs: next, id: '' }, SCOPE, order);
    return { tuples: [...tuples], total, nextCursor };
  },
});
