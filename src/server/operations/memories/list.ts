import { placeOfMemory } from '../../control/memories.ts';
import { defineOperation } from '../define.ts';
import { PAGE_INPUT, PAGE_OUTPUT, pageOf, readPage } from '../page.ts';
import { Type } from '../type.ts';

const SCOPE = 'memories';

const Entry = Type.Object({
  id: Type.String({ description: 'Id of the memory.' }),
  name: Type.String({ description: 'Name of the memory.' }),
  description: Type.String({ description: 'Description of the memory.' }),
  createdAt: Type.Integer({ description: 'Time at which the memory was made, in Unix seconds.' }),
});

export const memoriesList = defineOperation({
  name: 'list_memories',
  summary: 'List the memories that the key may see, newest first.',
  description: 'A bound key sees its own memory alone.',
  example: { limit: 20 },
  needs: 'read',
  on: 'deployment',
  reach: 'binding',
  mutates: false,
  paged: true,
  input: Type.Object(PAGE_INPUT),
  output: Type.Object({ memories: Type.Array(Entry, { description: 'The memories of the page.' }), ...PAGE_OUTPUT }),
  http: [{ verb: 'GET', path: '/memories' }],
  async run(input, { services, principal, warnings }) {
    const all = services.memories.list();
    const { memoryIds } = principal;
    const seen = memoryIds === undefined ? all : all.filter(({ id }) => memoryIds.includes(id));
    const { items, total, nextCursor } = pageOf(seen, readPage(input, SCOPE, warnings), placeOfMemory, SCOPE);
    return {
      memories: items.map(({ id, name, description, createdAtMs }) => ({
        id,
        name,
        description,
        createdAt: Math.floor(createdAtMs / 1000),
      })),
      total,
      nextCursor,
    };
  },
});
