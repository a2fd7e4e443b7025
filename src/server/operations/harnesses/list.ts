import { listHarnesses } from '../../harness/list.ts';
import { defineOperation } from '../define.ts';
import { PAGE_INPUT, PAGE_OUTPUT, readPage, writeCursor } from '../page.ts';
import { refuseHosted } from '../settings/view.ts';
import { described, Type } from '../type.ts';
import { HarnessOutput, harnessView } from './view.ts';

const SCOPE = 'harnesses';

export const harnessesList = defineOperation({
  name: 'list_harnesses',
  summary: 'List the harnesses of a memory, those first whose goal or settings were changed last.',
  description: 'Where access tuples decide, only those are listed that the caller may use.',
  example: { limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: false,
  paged: true,
  input: Type.Object(PAGE_INPUT),
  output: Type.Object({
    harnesses: Type.Array(described(HarnessOutput, 'A harness.'), { description: 'The harnesses of the page.' }),
    ...PAGE_OUTPUT,
  }),
  errors: ['AUT-E006', 'VAL-E004'],
  http: [{ verb: 'GET', path: 'M/harnesses' }],
  async run(input, context) {
    refuseHosted(context.services, 'a hosted deployment does not manage harnesses');
    const page = readPage(input, SCOPE, context.warnings);
    const after = page.after === undefined ? undefined : { createdAtMs: page.after.timeMs, hash: page.after.id };
    const { harnesses, total, next } = await listHarnesses(context, { ...page, after }, harnessView);
    return {
      harnesses,
      total,
      nextCursor:
        next === undefined ? null : writeCursor({ timeMs: next.createdAtMs, id: next.hash }, SCOPE, page.order),
    };
  },
});
