// Policy, consent, restriction and retention.

import type { WireError } from '../base/errors.ts';
import type { ConsentFact } from '../govern/consent/consent.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import type { GrainView } from './grain.ts';
import type { RowsOf } from './row.ts';

/** A change of a policy, as a caller wishes it. */
export interface PolicyChange {
  readonly addPolicies?: readonly string[];
  readonly removePolicies?: readonly string[];
  /** By path or nested; null takes an override back. */
  readonly overrides?: JsonObject;
  readonly reason?: string;
}

/** What rules mean for what one partition holds. */
export interface PolicyImpact {
  readonly grainsTotal: number;
  /** Grains that are there and whose time is over under the rules. */
  readonly grainsExpiring: number;
  /** Users with grains and without a grant that the rules want; the hash of each, as `users` has them. */
  readonly usersWithoutConsent: Uint8Array;
  /** Grains with personal data that the rules keep out, of those looked at. */
  readonly grainsWithBlockedPii: number;
}

export interface RestrictionView {
  readonly userId: string;
  readonly reason: string;
  /** Seconds. */
  readonly restrictedAt: number;
  readonly restrictedBy: string;
}

/** What a user says of a purpose. */
export interface ConsentItem {
  readonly userId: string;
  readonly purpose: string;
  readonly granted: boolean;
  readonly basis?: string;
  readonly jurisdiction?: string;
  readonly granteeDid?: string;
  readonly reason?: string;
  /** Seconds: a grant is none from then on. */
  readonly expiresAt?: number;
}

export type ConsentOutcome = { readonly fact: ConsentFact } | { readonly error: WireError };

export interface RetentionNamespace {
  readonly namespace: string;
  readonly ttlDays: number | null;
  /** Where that comes from; '' where nothing ends a grain but its own `expires_at`. */
  readonly source: 'namespace' | 'type' | 'default' | '';
  readonly grains: number;
  readonly expired: number;
  readonly held: number;
  readonly nextExpiryMs?: number;
  readonly oldestCreatedMs?: number;
}

/** The calls on policy, consent, restriction and retention. */
export interface GovernCalls {
  /** The policy that holds, or an earlier version of it, as the wire has it; null: there is no such version. */
  policy: { input: { version?: number }; output: { policy: JsonObject | null } };
  /** What a change would come to, as the wire has it, but for its impact. Throws POL-E009, VAL-E001. */
  simulatePolicy: { input: { change: PolicyChange; isAdmin: boolean }; output: { decision: JsonObject } };
  /** What rules would mean for what is stored here; absent: those that hold. */
  policyImpact: { input: { rules?: JsonObject }; output: PolicyImpact };
  /**
   * Seals the next version; what changes nothing is answered with the version that holds. `check`: only decides. `sealed`:
   * a version that another partition decided, taken over as it is. Throws POL-E009, POL-E010, VAL-E001.
   */
  setPolicy: {
    input:
      | { change: PolicyChange; isAdmin: boolean; check?: true }
      | { sealed: JsonObject; change: 'upgraded' | 'downgraded' | 'unchanged' };
    output: { policy: JsonObject; change: 'upgraded' | 'downgraded' | 'unchanged' };
  };
  /** Freezes a user's data, or lifts that. Either may be repeated. `timestamp` in seconds. */
  restrict: {
    input: { userId: string; restricted: boolean; reason?: string };
    output: { restricted: boolean; timestamp: number };
  };
  /** Users whose data is frozen, those first who have been longest. */
  restrictions: { input: { userId?: string }; output: { restrictions: readonly RestrictionView[] } };
  /** Writes a consent grain for each item, and what it says. Items answer one by one. */
  consent: { input: { items: readonly ConsentItem[] }; output: { outcomes: readonly ConsentOutcome[] } };
  /** What consents say whose grains lie in another partition. */
  consentFacts: { input: { facts: readonly ConsentFact[] }; output: Record<never, never> };
  /** The last that users said of purposes, by user, then purpose. */
  consents: { input: { userId?: string; purpose?: string }; output: { facts: readonly ConsentFact[] } };
  /** What the policy's times to live mean for what is here, by namespace in their order. Times in ms. */
  retentionStatus: {
    input: { namespace?: string };
    output: { namespaces: readonly RetentionNamespace[]; defaultTtlDays: number | null; lastEnforcedMs?: number };
  };
  /** Removes what has expired; `dryRun` only counts. POL-E003 never: what a hold keeps is counted as held. */
  enforceRetention: {
    input: { namespace?: string; dryRun: boolean };
    output: {
      expired: number;
      forgotten: number;
      held: number;
      byNamespace: Readonly<Record<string, { expired: number; forgotten: number; held: number }>>;
    };
  };
  /**
   * Grains of a person, every version, in ordinal order: what nothing that governs the memory hides from that person.
   * `after` is the last ordinal of the page before.
   */
  personPage: {
    input: { userId: string; after: number; limitBytes: number };
    output: {
      grains: readonly { readonly view: GrainView; readonly blob: Uint8Array }[];
      last: number;
      done: boolean;
    };
  };
}

export const GOVERN_ROWS = {
  policy: { kind: 'read', trail: 'nothing', refusal: 'each', gather: 'first', governed: { nothing: 'rules' } },
  simulatePolicy: { kind: 'read', trail: 'nothing', refusal: 'each', gather: 'first', governed: { nothing: 'rules' } },
  policyImpact: { kind: 'long', changes: 'nothing', gather: 'merged', governed: { nothing: 'counts' } },
  setPolicy: {
    kind: 'write',
    by: 'plan',
    changes: 'rules',
    retry: 'claimed',
    gather: 'own',
    governed: { nothing: 'rules' },
  },
  restrict: {
    kind: 'write',
    by: 'plan',
    changes: 'rules',
    retry: 'keyed',
    gather: 'own',
    governed: { right: 'restriction' },
  },
  restrictions: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'merged',
    governed: { right: 'restriction' },
  },
  consent: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: { right: 'withdrawing consent; granting is refused' },
  },
  consentFacts: {
    kind: 'write',
    by: 'plan',
    changes: 'rules',
    retry: 'same',
    gather: 'each',
    governed: { nothing: 'what another partition decided' },
  },
  consents: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'merged',
    governed: { right: 'consent status' },
  },
  retentionStatus: { kind: 'long', changes: 'nothing', gather: 'merged', governed: { nothing: 'counts' } },
  enforceRetention: {
    kind: 'long',
    changes: 'grains',
    retry: 'claimed',
    gather: 'own',
    governed: { nothing: 'what has expired is hidden already' },
  },
  personPage: {
    kind: 'long',
    changes: 'nothing',
    gather: 'own',
    governed: { right: 'export of what is held of oneself' },
  },
} as const satisfies RowsOf<GovernCalls>;
