import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import type { RecordFilter } from '../../../shards/protocol.ts';
import { ListProvenanceRequest, ListProvenanceResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { PAGE_INPUT, PAGE_OUTPUT, readPage } from '../page.ts';
import { type Static, Type } from '../type.ts';
import { Summary } from './recall-record.ts';

const Input = Type.Object({
  ...PAGE_INPUT,
  namespace: Type.Optional(Type.String({ description: 'Only recalls of this namespace.' })),
  userId: Type.Optional(Type.String({ description: 'Only recalls about this user.' })),
  since: Type.Optional(Type.Integer({ description: 'Only recalls from this time on, in Unix seconds.' })),
  until: Type.Optional(Type.Integer({ description: 'Only recalls up to this time, in Unix seconds.' })),
});
const Output = Type.Object({
  records: Type.Array(Summary, { description: 'The records of the page.' }),
  ...PAGE_OUTPUT,
});

const SCOPE = 'provenance';

export const provenanceList = defineOperation({
  name: 'list_provenance',
  summary: 'List the records that recalls left, newest first.',
  description: 'A record holds no text and no content of grains.',
  example: { user_id: 'ada', limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  paged: true,
  input: Input,
  output: Output,
  errors: ['VAL-E001', 'VAL-E004'],
  http: [{ verb: 'GET', path: 'M/provenance' }],
  grpc: rpc({
    rpc: 'ListProvenance',
    request: ListProvenanceRequest,
    response: ListProvenanceResponse,
    // proto3 decodes an absent member as 0 or ''.
    read: ({ limit, cursor, namespace, since, until, userId }) =>
      defined({
        limit: limit === 0 ? undefined : limit,
        cursor: cursor === '' ? undefined : cursor,
        namespace: namespace === '' ? undefined : namespace,
        userId: userId === '' ? undefined : userId,
        since: since === undefined ? undefined : Number(since),
        until: until === undefined ? undefined : Number(until),
      }),
    write: ({ records, nextCursor, total }: Static<typeof Output>) => ({
      records,
      nextCursor: nextCursor ?? '',
      total: total ?? 0,
    }),
  }),
  async run(input, context) {
    const { cursors } = context.services;
    const { limit, offset, order, after } = readPage(input, SCOPE, context.warnings, (cursor) =>
      cursors.read(cursor, SCOPE),
    );
    const { records, total, next } = await context.call('recallRecords', {
      filter: filterOf(input),
      limit,
      offset: offset === 0 ? undefined : offset,
      order,
      from: after?.timeMs,
    });
    return {
      records: [...records],
      total,
      // A record's position is a sequence number, so no id is needed.
      nextCursor: next === undefined ? null : cursors.write({ timeMs: next, id: '' }, SCOPE, order),
    };
  },
});

function filterOf({ namespace, userId, since, until }: Static<typeof Input>): RecordFilter {
  checkSpan(since, until);
  return defined({
    namespace,
    userId,
    since,
    until,
  });
}

/** Throws VAL-E001 if `since` is after `until`. */
export function checkSpan(since: number | undefined, until: number | undefined): void {
  if (since !== undefined && until !== undefined && since > until)
    throw new EngineError('VAL-E001', 'since is after until', { details: [{ field: 'since', issue: 'after until' }] });
}
