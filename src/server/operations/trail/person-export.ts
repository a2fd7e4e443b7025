// Exports a memory's data about one person in pieces. HTTP streams them, so the export's size is not limited.

import { steadyMs } from '../../../engine/base/clock.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { TRANSFER_BYTES } from '../../../engine/base/limits.ts';
import { stringifyJson } from '../../../engine/grain/api/json.ts';
import type { Output } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { ConsentRecord, consentRecords } from '../consent/record.ts';
import { GrainOutput, grainOutput } from '../grains/view.ts';
import { COUNT, listOf, objectOf, oneOf, TEXT, TIME, withMembers } from '../json-schema.ts';
import { type Members, nodeOf, outsideSchema, outward, toSnake } from '../names.ts';
import { described } from '../type.ts';

/** Time in milliseconds for each call of an export, which may outlast the request because its reader sets the pace. */
const NOTE_MS = 30_000;
const PORTABLE_FORMAT = 'granary-person/1';

/** The export without its grains, with outside names. Throws VAL-E003 for an empty user id. */
export async function personHead(context: Context, userId: string, portability: boolean): Promise<Members> {
  if (userId === '') throw new EngineError('VAL-E003', 'missing field `user_id`');
  const nowMs = context.services.clock.nowMs();
  const [{ facts }, { restrictions }, records] = await Promise.all([
    context.call('consents', { userId }),
    context.call('restrictions', { userId }),
    context.call('recallRecords', { filter: { userId }, limit: 1, order: 'desc' }),
  ]);
  const [restriction] = restrictions;
  return {
    format: portability ? PORTABLE_FORMAT : undefined,
    user_id: userId,
    exported_at: Math.floor(nowMs / 1000),
    consents: consentRecords(userId, facts, undefined, nowMs).map(outside),
    restriction: restriction && outside(restriction),
    provenance_count: records.total,
  };
}

/** Schema of the whole export, for OpenAPI. */
export const PERSON: Members = objectOf(
  {
    user_id: described(TEXT, 'The user.'),
    exported_at: described(TIME, 'Time of the export in Unix seconds.'),
    consents: described(listOf(outsideSchema(ConsentRecord)), 'Consent record for each purpose of the user.'),
    provenance_count: described(COUNT, 'Number of recalls that left a record about the user.'),
    grains: described(
      listOf(
        withMembers(
          outsideSchema(GrainOutput),
          {},
          { blob_base64: described(TEXT, 'Bytes of the grain in base64; only with portability.') },
        ),
      ),
      "The user's grains, all versions.",
    ),
    count: described(COUNT, 'Number of grains.'),
  },
  {
    format: described(oneOf(PORTABLE_FORMAT), "Name of the export's format; only with portability."),
    restriction: described(
      objectOf({
        user_id: described(TEXT, 'The user.'),
        reason: described(TEXT, 'Why the data is restricted.'),
        restricted_at: described(TIME, 'Time since which it is restricted, in Unix seconds.'),
        restricted_by: described(TEXT, 'Principal that restricted it.'),
      }),
      "The restriction of the user's data; absent where there is none.",
    ),
  },
);

/** Converts the names of a flat object to outside names. */
function outside(value: object): Members {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [toSnake(name), member]));
}

type Held = Output<'personPage'>['grains'][number];

/**
 * Yields the person's grains as answers show them. Records the export in the audit trail at the end, even if the
 * reader stops early.
 */
export async function* personGrains(context: Context, userId: string, portability: boolean): AsyncGenerator<unknown> {
  let count = 0;
  try {
    for (let after = 0; ; ) {
      const page = await context.call(
        'personPage',
        { userId, after, limitBytes: TRANSFER_BYTES },
        { deadlineMs: later(context) },
      );
      for (const held of page.grains) {
        count += 1;
        yield shown(held, portability);
      }
      if (page.done || page.last <= after) return;
      after = page.last;
    }
  } finally {
    const details = { count, portability: portability ? 1 : 0 };
    await context
      .call('note', { event: 'user.data_exported', userId, details }, { deadlineMs: later(context) })
      .catch(toleratingStorage);
  }
}

function later({ services }: Context): number {
  return steadyMs(services.clock) + NOTE_MS;
}

/** A portable export adds the grain's bytes, which any system that supports the format can import. */
function shown({ view, blob }: Held, portability: boolean): unknown {
  const grain = outward(GRAIN, grainOutput(view)) as Members; // of an object
  return portability ? { ...grain, blob_base64: Buffer.from(blob).toString('base64') } : grain;
}

const GRAIN = nodeOf(GrainOutput);

/** Yields the export as pieces of one JSON object. `count` comes last, because only then is it known. */
export async function* personJson(
  context: Context,
  userId: string,
  portability: boolean,
  head: Members,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  let text = `${stringifyJson(head).slice(0, -1)},"grains":[`;
  for await (const grain of personGrains(context, userId, portability)) {
    text += `${count === 0 ? '' : ','}${stringifyJson(grain)}`;
    count += 1;
    if (text.length < TRANSFER_BYTES) continue;
    yield Buffer.from(text, 'utf8');
    text = '';
  }
  yield Buffer.from(`${text}],"count":${count}}`, 'utf8');
}

/** Ignores storage errors: a shard that refuses writes can still export. */
function toleratingStorage(error: unknown): void {
  if (!(error instanceof EngineError && error.code.startsWith('STO-'))) throw error;
}
