import { ANSWER_BYTES_MAX } from '../../../engine/base/limits.ts';
import { stringifyJson } from '../../../engine/grain/api/json.ts';
import { GetHistoryRequest, GetHistoryResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { PAGE_INPUT, readPage, writeCursor } from '../page.ts';
import { described, type Static, Type } from '../type.ts';
import { Fields } from './fields.ts';
import { Hash, Sentence, sentenceOf } from './view.ts';

const Version = Type.Object({
  hash: Type.String({ description: 'Hash of the version.' }),
  grainType: Type.String({ description: 'Type of the grain.' }),
  text: Sentence,
  fields: described(Fields, 'Fields of the version.'),
  createdAt: Type.Integer({ description: 'Time at which the version was created, in Unix seconds.' }),
  relation: Type.Enum(['original', 'superseded', 'supersedes'], {
    description: 'Place in the chain: original is the first version, supersedes the newest, superseded any between.',
  }),
});
const Output = Type.Object({
  versions: Type.Array(Version, { description: 'Versions of the grain, oldest first.' }),
  nextCursor: Type.Optional(
    Type.String({ description: 'Cursor of the next page; absent when these are all versions.' }),
  ),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'The parts that the answer leaves out.' })),
});

const SCOPE = 'history';

export const history = defineOperation({
  name: 'history',
  summary: 'List every version of a grain, oldest first, from the hash of any of them.',
  description: 'A version that was forgotten is not in it.',
  example: { hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  onAnyNode: true,
  mutates: false,
  input: Type.Object({ hash: described(Hash, 'Hash of any version of the grain.'), cursor: PAGE_INPUT.cursor }),
  output: Output,
  errors: ['MEM-E001', 'VAL-E004'],
  exec: { command: 'history' },
  grpc: rpc({
    rpc: 'GetHistory',
    request: GetHistoryRequest,
    response: GetHistoryResponse,
    write: ({ versions }: Static<typeof Output>) => ({
      versions: versions.map(({ fields, ...version }) => ({ ...version, fieldsJson: stringifyJson(fields) })),
    }),
  }),
  async run({ hash, cursor }, context) {
    const after = cursor === undefined ? undefined : readPage({ cursor, order: 'asc' }, SCOPE, []).after?.id;
    const { versions: found, next } = await context.call('history', { hash, after });
    const versions = found.map((version) => ({ ...version, text: sentenceOf(version) }));
    if (next === undefined) return { versions };
    const bytes = `${ANSWER_BYTES_MAX / 1_048_576} MiB`;
    const warning = `the answer ends at ${bytes}: ${versions.length} versions are listed, others follow`;
    return {
      versions,
      nextCursor: writeCursor({ timeMs: 0, id: next }, SCOPE, 'asc'),
      warnings: [warning],
    };
  },
});
