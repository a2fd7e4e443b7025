// Exports a person's data: without a size limit over HTTP, up to one message over gRPC and app/exec.
import { EngineError } from '../../../engine/base/errors.ts';
import { MESSAGE_BYTES_MAX } from '../../../engine/base/limits.ts';
import { parseJson } from '../../../engine/grain/api/json.ts';
import type { Context } from '../../context.ts';
import { ExportRequest, ExportResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { missing } from '../grains/fields.ts';
import { rpc } from '../grpc-face.ts';
import type { Members } from '../names.ts';
import { type Static, Type } from '../type.ts';
import { PERSON, personHead, personJson } from './person-export.ts';

const UserId = Type.String({ minLength: 1, description: 'The user whose data it is.' });
const Whole = Type.Object({ json: Type.String({ description: 'The export as JSON text.' }) });

/** Leaves room in the message for its other members. */
const TEXT_BYTES_MAX = MESSAGE_BYTES_MAX - 1_024;

const face = (name: 'ExportUser' | 'ExportPortability') =>
  rpc({
    rpc: name,
    request: ExportRequest,
    response: ExportResponse,
    read: ({ userId }) => {
      if (userId === '') throw missing('user_id');
      return { userId };
    },
    write: ({ json }: Static<typeof Whole>) => ({ dataJson: json }),
  });

/** The whole export as JSON text. Throws LIM-E003 if it exceeds one message. */
async function whole(context: Context, userId: string, portability: boolean): Promise<string> {
  const head = await personHead(context, userId, portability);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of personJson(context, userId, portability, head)) {
    bytes += piece.length;
    if (bytes > TEXT_BYTES_MAX)
      throw new EngineError('LIM-E003', 'the export exceeds the size of one message: request it over HTTP');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** The members that exports in one message share. */
const IN_ONE_MESSAGE = {
  description: 'An export that is larger than a message is refused: ask for it over HTTP.',
  example: { user_id: 'ada' },
  needs: 'read',
  on: 'memory',
  reach: ({ userId }: { readonly userId: string }) => ({ persons: [userId], namespaced: true as const }),
  mutates: false,
  slow: true,
  input: Type.Object({ userId: UserId }),
  errors: ['AUT-E001', 'LIM-E003'],
} as const;

export const exportUser = defineOperation({
  name: 'export_user',
  summary: 'Export all that a memory holds of a person, as one text.',
  ...IN_ONE_MESSAGE,
  output: Whole,
  grpc: face('ExportUser'),
  run: async ({ userId }, context) => ({ json: await whole(context, userId, false) }),
});

export const exportPortability = defineOperation({
  name: 'export_portability',
  summary: 'Export all that a memory holds of a person, with the bytes of each grain, for another system.',
  ...IN_ONE_MESSAGE,
  output: Whole,
  grpc: face('ExportPortability'),
  run: async ({ userId }, context) => ({ json: await whole(context, userId, true) }),
});

export const exportPortabilityCommand = defineOperation({
  name: 'export_portability_command',
  summary: 'Export all that a memory holds of a person, with the bytes of each grain, as an object.',
  ...IN_ONE_MESSAGE,
  output: Type.Unsafe<Members>({ type: 'object' }),
  exec: { command: 'export_portability' },
  run: async ({ userId }, context) => parseJson(await whole(context, userId, true)) as Members, // what `whole` writes
});

export const exportUserFile = defineOperation({
  name: 'export_user_file',
  summary: 'Export all that a memory holds of a person.',
  description: 'The answer is streamed, so its size is not limited.',
  example: { user_id: 'ada', portability: true },
  needs: 'read',
  on: 'memory',
  reach: ({ userId }) => ({ persons: [userId], namespaced: true }),
  mutates: false,
  slow: true,
  input: Type.Object({
    userId: UserId,
    portability: Type.Optional(
      Type.Boolean({
        description: 'Whether each grain comes with its bytes, for another system; the default is false.',
        default: false,
      }),
    ),
  }),
  output: Type.Object({
    bytes: Type.Unsafe<AsyncIterable<Uint8Array>>({ description: 'The export as JSON, in pieces.' }),
  }),
  errors: ['AUT-E001'],
  http: [
    {
      verb: 'GET',
      path: 'M/export/{user_id}',
      answers: { 'application/json': PERSON },
      reply: ({ bytes }) => ({
        kind: 'stream',
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: bytes,
      }),
    },
  ],
  async run({ userId, portability = false }, context) {
    // Read the head first, so that a refusal comes before the first byte of the answer.
    const head = await personHead(context, userId, portability);
    return { bytes: personJson(context, userId, portability, head) };
  },
});
