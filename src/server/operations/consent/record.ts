// A user's consents for answers. The status is the one that enforcement uses.
import { type ConsentFact, EVERY_PURPOSE, laterOf, statusOf } from '../../../engine/govern/consent/consent.ts';
import { seconds } from '../seconds.ts';
import { type Static, Type } from '../type.ts';

export const ConsentRecord = Type.Object({
  userId: Type.String({ description: 'The user.' }),
  purpose: Type.String({ description: 'The purpose, or * for every purpose.' }),
  status: Type.Enum(['granted', 'revoked', 'none'], { description: 'Status that enforcement decides by.' }),
  decidedBy: Type.Optional(
    Type.String({ description: 'The purpose whose consent decides: this one or *; absent where none was recorded.' }),
  ),
  grantedAt: Type.Optional(Type.Integer({ description: 'Time of the latest grant in Unix seconds.' })),
  revokedAt: Type.Optional(Type.Integer({ description: 'Time of the withdrawal in Unix seconds.' })),
  basis: Type.Optional(Type.String({ description: 'Lawful basis that the grant named.' })),
  jurisdiction: Type.Optional(Type.String({ description: 'Jurisdiction that the grant named.' })),
  expiresAt: Type.Optional(Type.Integer({ description: 'Time at which the consent ends, in Unix seconds.' })),
  hash: Type.Optional(Type.String({ description: 'Hash of the consent grain that decides.' })),
});
type Shown = Static<typeof ConsentRecord>;

/**
 * One record for each purpose of the user, or for `purpose` alone. The later consent of this purpose and of `*` decides
 * (`laterOf`, which writes and reads use too), and the record shows that consent.
 */
export function consentRecords(
  userId: string,
  facts: readonly ConsentFact[],
  purpose: string | undefined,
  nowMs: number,
): Shown[] {
  const byPurpose = new Map(facts.map((fact) => [fact.purpose, fact]));
  const purposes = purpose === undefined ? [...byPurpose.keys()] : [purpose];
  return purposes.map((name) => recordOf(userId, name, byPurpose, nowMs));
}

function recordOf(userId: string, purpose: string, facts: ReadonlyMap<string, ConsentFact>, nowMs: number): Shown {
  const specific = facts.get(purpose);
  const fact = laterOf(specific, facts.get(EVERY_PURPOSE));
  if (fact === undefined) return { userId, purpose, status: 'none' };
  const grantedAtMs = fact.granted ? fact.atMs : (fact.grantedAtMs ?? lastGrant(specific));
  return {
    userId,
    purpose,
    status: statusOf(fact, nowMs),
    decidedBy: fact.purpose,
    grantedAt: grantedAtMs === undefined ? undefined : seconds(grantedAtMs),
    revokedAt: fact.granted ? undefined : seconds(fact.atMs),
    basis: fact.basis,
    jurisdiction: fact.jurisdiction,
    expiresAt: fact.expiresAtMs === undefined ? undefined : seconds(fact.expiresAtMs),
    // Empty for a caller that may not learn which grain it is.
    hash: fact.hash === '' ? undefined : fact.hash,
  };
}

function lastGrant(fact: ConsentFact | undefined): number | undefined {
  return fact?.granted === true ? fact.atMs : fact?.grantedAtMs;
}
