// Consent: grant, withdraw, grant in bulk, and list.
import { EngineError } from '../../../engine/base/errors.ts';
import { CONSENTS_BULK_MAX, PURPOSE_CHARS_MAX, USER_ID_CHARS_MAX } from '../../../engine/base/limits.ts';
import { AnswerRoom, withinRoom } from '../../../engine/grain/api/answer-room.ts';
import type { ConsentedUser, ConsentFact, ConsentItem, ConsentOutcome } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { ConsentRequest, ConsentResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { missing } from '../grains/fields.ts';
import { rpc } from '../grpc-face.ts';
import { renamed } from '../json-schema.ts';
import { outsideSchema } from '../names.ts';
import { PAGE_INPUT, PAGE_OUTPUT, type Page, pageOf, readPage, writeCursor } from '../page.ts';
import { seconds } from '../seconds.ts';
import { described, type Static, Type } from '../type.ts';
import { ConsentRecord, consentRecords } from './record.ts';

const UserId = Type.String({ minLength: 1, maxLength: USER_ID_CHARS_MAX });
const Purpose = Type.String({ minLength: 1, maxLength: PURPOSE_CHARS_MAX });

const Said = Type.Object({
  userId: Type.String({ description: 'The user who consents.' }),
  purpose: Type.String({ description: 'The purpose, or * for every purpose.' }),
  status: Type.Enum(['granted', 'revoked'], { description: 'The recorded decision.' }),
  hash: Type.String({ description: 'Hash of the consent grain that was written.' }),
  timestamp: Type.Integer({ description: 'Time of the record in Unix seconds.' }),
});

const said = ({ userId, purpose, granted, hash, atMs }: ConsentFact): Static<typeof Said> => ({
  userId,
  purpose,
  status: granted ? 'granted' : 'revoked',
  hash,
  timestamp: seconds(atMs),
});

/** HTTP names the grain's hash `blob_hash`. */
const SAID_BY_HTTP = renamed(outsideSchema(Said), 'hash', 'blob_hash');
const toHttp = ({ userId, purpose, status, hash, timestamp }: Static<typeof Said>) => ({
  user_id: userId,
  purpose,
  status,
  blob_hash: hash,
  timestamp,
});

/** Records one consent; throws the item's error. */
async function say(context: Context, item: ConsentItem): Promise<Static<typeof Said>> {
  const { outcomes } = await context.call('consent', { items: [checked(context, item)] });
  return said(factOf(outcomes[0]));
}

function factOf(outcome: ConsentOutcome | undefined): ConsentFact {
  if (outcome !== undefined && 'fact' in outcome) return outcome.fact;
  throw outcome === undefined ? new EngineError('SYS-E001') : EngineError.fromWire(outcome.error);
}

/** Throws VAL-E001 for a consent that has already expired. */
function checked({ services }: Context, item: ConsentItem): ConsentItem {
  if (item.expiresAt !== undefined && item.expiresAt * 1000 <= services.clock.nowMs())
    throw new EngineError('VAL-E001', '`expires_at` is in the past', {
      details: [{ field: 'expires_at', issue: 'in the past' }],
    });
  return item;
}

const face = (name: 'GrantConsent' | 'RevokeConsent') =>
  rpc({
    rpc: name,
    request: ConsentRequest,
    response: ConsentResponse,
    read: ({ userId, purpose }) => {
      if (userId === '') throw missing('user_id');
      if (purpose === '') throw missing('purpose');
      return { userId, purpose };
    },
    write: (output: Static<typeof Said>) => output,
  });

const Details = {
  basis: Type.Optional(
    Type.String({ maxLength: PURPOSE_CHARS_MAX, description: 'Lawful basis of the consent, as free text.' }),
  ),
  jurisdiction: Type.Optional(
    Type.String({
      maxLength: PURPOSE_CHARS_MAX,
      description: 'Jurisdiction that the consent was given in, as free text.',
    }),
  ),
  expiresAt: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 9_999_999_999,
      description: 'Time at which the consent ends, in Unix seconds; the default is never.',
    }),
  ),
  granteeDid: Type.Optional(
    Type.String({ minLength: 1, description: 'DID of the party that the consent is given to.' }),
  ),
};

export const consentGrant = defineOperation({
  name: 'grant_consent',
  summary: 'Record that a user agrees to a purpose.',
  description: 'It writes a consent grain that names the one before it.',
  example: { user_id: 'ada', purpose: 'marketing', basis: 'Form of 3 May.' },
  needs: 'write',
  on: 'memory',
  reach: ({ userId }) => ({ persons: [userId] }),
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({
    userId: described(UserId, 'The user who consents.'),
    purpose: described(Purpose, 'The purpose, or * for every purpose.'),
    ...Details,
  }),
  output: Said,
  errors: ['POL-E008'],
  grpc: face('GrantConsent'),
  http: [{ verb: 'POST', path: 'M/consent/grant', answer: SAID_BY_HTTP, write: toHttp }],
  run: (input, context) => say(context, { ...input, granted: true }),
});

export const consentRevoke = defineOperation({
  name: 'revoke_consent',
  summary: 'Record that a user no longer agrees to a purpose, or never did.',
  description: 'It writes a consent grain; the grants before it stay readable.',
  example: { user_id: 'ada', purpose: 'marketing' },
  needs: 'write',
  on: 'memory',
  reach: ({ userId }) => ({ persons: [userId] }),
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({
    userId: described(UserId, 'The user who withdraws the consent.'),
    purpose: described(Purpose, 'The purpose, or * for every purpose.'),
    reason: Type.Optional(
      Type.String({ description: 'Why the consent is withdrawn; the default is the x-reason header.' }),
    ),
  }),
  output: Said,
  grpc: face('RevokeConsent'),
  http: [{ verb: 'POST', path: 'M/consent/revoke', answer: SAID_BY_HTTP, write: toHttp }],
  run: ({ reason = undefined, ...input }, context) => {
    const why = reason ?? context.reason;
    return say(context, { ...input, granted: false, reason: why });
  },
});

const Pair = Type.Object({
  userId: described(UserId, 'The user who consents.'),
  purpose: described(Purpose, 'The purpose, or * for every purpose.'),
});

export const consentGrantBulk = defineOperation({
  name: 'grant_consents',
  summary: 'Record that many users agree to a purpose, or each to one of their own.',
  description: 'Consents that are refused are in errors; the others are recorded.',
  example: { user_ids: ['ada', 'bob'], purpose: 'marketing' },
  needs: 'write',
  on: 'memory',
  reach: ({ userIds, consents }) => ({ persons: userIds ?? consents?.map(({ userId }) => userId) ?? [] }),
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({
    userIds: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: CONSENTS_BULK_MAX,
        description: 'Users who all consent to the purpose, at most 1,000.',
      }),
    ),
    purpose: Type.Optional(
      Type.String({ description: 'The purpose that all of user_ids consent to, or * for every purpose.' }),
    ),
    consents: Type.Optional(
      Type.Array(
        Type.Object({
          userId: Type.String({ description: 'The user who consents.' }),
          purpose: Type.String({ description: 'The purpose, or * for every purpose.' }),
        }),
        {
          minItems: 1,
          maxItems: CONSENTS_BULK_MAX,
          description: 'Pairs of user and purpose, in place of user_ids and purpose, at most 1,000.',
        },
      ),
    ),
  }),
  output: Type.Object({
    granted: Type.Array(
      Type.Object({
        userId: Type.String({ description: 'The user who consents.' }),
        purpose: Type.String({ description: 'The purpose, or * for every purpose.' }),
        blobHash: Type.String({ description: 'Hash of the consent grain that was written.' }),
      }),
      { description: 'The consents that were recorded, in order.' },
    ),
    errors: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Position of the consent in the request, from 0.' }),
        userId: Type.String({ description: 'The user of the refused consent.' }),
        code: Type.String({ description: 'Error code.' }),
        error: Type.String({ description: 'Error message.' }),
      }),
      { description: 'The consents that were refused.' },
    ),
    totalGranted: Type.Integer({ description: 'Number of consents that were recorded.' }),
    totalErrors: Type.Integer({ description: 'Number of consents that were refused.' }),
  }),
  http: [{ verb: 'POST', path: 'M/consent/grant-bulk' }],
  async run({ userIds, purpose, consents }, context) {
    if (consents !== undefined && userIds !== undefined)
      throw new EngineError('VAL-E001', 'send consents or user_ids, not both', {
        details: [{ field: 'consents', issue: 'beside user_ids' }],
      });
    const wanted = consents ?? pairsOf(userIds, purpose);
    const good = wanted.flatMap((item, index) => (isPair(item) ? [{ item, index }] : []));
    const { outcomes } =
      good.length === 0
        ? { outcomes: [] }
        : await context.call('consent', { items: good.map(({ item }) => ({ ...item, granted: true })) });
    const refused = wanted.flatMap(({ userId }, index) => {
      const place = good.findIndex((one) => one.index === index);
      if (place === -1) return [{ index, userId, code: 'VAL-E001', error: `VAL-E001: ${PAIR_FORM}` }];
      const outcome = outcomes[place];
      return outcome !== undefined && 'error' in outcome
        ? [{ index, userId, code: outcome.error.code, error: outcome.error.message }]
        : [];
    });
    const granted = outcomes.flatMap((outcome) =>
      'fact' in outcome
        ? [{ userId: outcome.fact.userId, purpose: outcome.fact.purpose, blobHash: outcome.fact.hash }]
        : [],
    );
    return { granted, errors: refused, totalGranted: granted.length, totalErrors: refused.length };
  },
});

function pairsOf(userIds: readonly string[] | undefined, purpose: string | undefined): Static<typeof Pair>[] {
  if (userIds === undefined) throw missing('user_ids');
  if (purpose === undefined) throw missing('purpose');
  return userIds.map((userId) => ({ userId, purpose }));
}

const PAIR_FORM = `a user_id has 1 to ${USER_ID_CHARS_MAX} characters, and a purpose 1 to ${PURPOSE_CHARS_MAX}`;

function isPair({ userId, purpose }: Static<typeof Pair>): boolean {
  const fits = (text: string, max: number): boolean => text !== '' && text.length <= max;
  return fits(userId, USER_ID_CHARS_MAX) && fits(purpose, PURPOSE_CHARS_MAX);
}

const User = Type.Object({
  userId: Type.String({ description: 'The user.' }),
  restricted: Type.Boolean({ description: "Whether the processing of the user's data is restricted." }),
  purposes: Type.Array(ConsentRecord, { description: 'Consent record for each purpose of the user.' }),
});

const Users = Type.Object({
  users: Type.Array(User, { description: 'Users with their consents.' }),
  ...PAGE_OUTPUT,
});

const SCOPE = 'consents';

export const consentStatus = defineOperation({
  name: 'consent_status',
  summary: 'List what users have consented to, as enforcement decides it, the latest first.',
  description: 'Without user_id it lists every user who consented or withdrew.',
  example: { user_id: 'ada' },
  needs: 'read',
  on: 'memory',
  reach: ({ userId }) => (userId === undefined ? 'binding' : { persons: [userId], namespaced: true }),
  mutates: false,
  paged: true,
  input: Type.Object({
    userId: Type.Optional(described(UserId, 'Only this user; the default is all.')),
    purpose: Type.Optional(described(Purpose, 'Only this purpose; the default is all.')),
    ...PAGE_INPUT,
  }),
  output: Users,
  http: [{ verb: 'GET', path: 'M/consent/status' }],
  async run({ userId, purpose, ...asked }, context) {
    const page = readPage(asked, SCOPE, context.warnings);
    const name = userId ?? context.userId;
    if (name !== undefined) return oneUser(context, name, { purpose, page });
    const { users, total, more } = await context.call('consentPage', { ...page, purpose });
    const listed = listedUsers(context, users, purpose);
    const shown = withinRoom(listed, new AnswerRoom(), ({ user }) => user);
    const last = shown.at(-1);
    const isLast = last === undefined || (!more && shown.length === listed.length);
    return {
      users: shown.map(({ user }) => user),
      total,
      nextCursor: isLast ? null : writeCursor(placeOf(last), SCOPE, page.order),
    };
  },
});

interface Listed {
  readonly timeMs: number;
  readonly user: Static<typeof User>;
}

const placeOf = ({ timeMs, user }: Listed) => ({ timeMs, id: user.userId });

function listedUsers({ services }: Context, users: readonly ConsentedUser[], purpose: string | undefined): Listed[] {
  const nowMs = services.clock.nowMs();
  return users.map(({ userId, restricted, facts }) => ({
    timeMs: Math.max(0, ...facts.map(({ atMs }) => atMs)),
    user: { userId, restricted, purposes: consentRecords(userId, facts, purpose, nowMs) },
  }));
}

/** The page of a user who is asked for by name. It has the user even without a consent, if there is something to tell. */
async function oneUser(
  context: Context,
  userId: string,
  { purpose, page }: { readonly purpose: string | undefined; readonly page: Page },
): Promise<Static<typeof Users>> {
  const [{ facts }, { restrictions }] = await Promise.all([
    context.call('consents', { userId, purpose }),
    context.call('restrictions', { userId }),
  ]);
  const restricted = restrictions.length > 0;
  const isTold = facts.length > 0 || restricted || purpose !== undefined;
  const users = isTold ? listedUsers(context, [{ userId, restricted, facts }], purpose) : [];
  const { items, total, nextCursor } = pageOf(users, page, placeOf, SCOPE, ({ user }) => user);
  return { users: items.map(({ user }) => user), total, nextCursor };
}
