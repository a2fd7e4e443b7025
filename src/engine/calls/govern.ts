// Policy, consent, restriction and retention.

import type { WireError } from '../base/errors.ts';
import type { ConsentedUser, ConsentFact, ConsentPage } from '../govern/consent/consent.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import type { GrainView } from './grain.ts';
import type { RowsOf } from './row.ts';

/** A requested change of a policy. */
export interface PolicyChange {
  readonly addPolicies?: readonly string[] | undefined;
  readonly removePolicies?: readonly string[] | undefined;
  /** By path or nested; null removes an override. */
  readonly overrides?: JsonObject | undefined;
  readonly reason?: string | undefined;
}

/** The effect of rules on the grains of one partition. */
export interface PolicyImpact {
  readonly grainsTotal: number;
  /** Existing grains that have expired under the rules. */
  readonly grainsExpiring: number;
  /** Users with grains but without a grant that the rules require, as hashes in the format of `users`. */
  readonly usersWithoutConsent: Uint8Array;
  /** Sampled grains with personal data that the rules block. */
  readonly grainsWithBlockedPii: number;
}

export interface RestrictionView {
  readonly userId: string;
  readonly reason: string;
  /** Seconds. */
  readonly restrictedAt: number;
  readonly restrictedBy: string;
}

/** A user's consent to a purpose, given or withdrawn. */
export interface ConsentItem {
  readonly userId: string;
  readonly purpose: string;
  readonly granted: boolean;
  readonly basis?: string | undefined;
  readonly jurisdiction?: string | undefined;
  readonly granteeDid?: string | undefined;
  readonly reason?: string | undefined;
  /** When a grant expires, in seconds. */
  readonly expiresAt?: number | undefined;
}

export type ConsentOutcome = { readonly fact: ConsentFact } | { readonly error: WireError };

export interface RetentionNamespace {
  readonly namespace: string;
  readonly ttlDays: number | null;
  /** The rule that sets the time to live; '' if only a grain's own `expires_at` applies. */
  readonly source: 'namespace' | 'type' | 'default' | '';
  readonly grains: number;
  readonly expired: number;
  readonly held: number;
  readonly nextExpiryMs?: number;
  readonly oldestCreatedMs?: number;
}

/** The calls on policy, consent, restriction and retention. */
export interface GovernCalls {
  /** The policy in force or an earlier version, in wire form; null for an unknown version. */
  policy: { input: { version?: number | undefined }; output: { policy: JsonObject | null } };
  /** The decision on a change without its impact, in wire form. Throws POL-E009, VAL-E001. */
  simulatePolicy: { input: { change: PolicyChange; isAdmin: boolean }; output: { decision: JsonObject } };
  /** The effect of rules on the stored grains; absent: the rules in force. */
  policyImpact: { input: { rules?: JsonObject | undefined }; output: PolicyImpact };
  /**
   * Seals the next version. A change without effect returns the version in force. `check`: only decides. `sealed`:
   * stores a version that another partition decided, unchanged. Throws POL-E009, POL-E010, VAL-E001.
   */
  setPolicy: {
    input:
      | { change: PolicyChange; isAdmin: boolean; check?: true | undefined }
      | { sealed: JsonObject; change: 'upgraded' | 'downgraded' | 'unchanged' };
    output: { policy: JsonObject; change: 'upgraded' | 'downgraded' | 'unchanged' };
  };
  /** Freezes or unfreezes a user's data. Idempotent. `timestamp` in seconds. */
  restrict: {
    input: { userId: string; restricted: boolean; reason?: string | undefined };
    output: { restricted: boolean; timestamp: number };
  };
  /** Users whose data is frozen, longest-frozen first. */
  restrictions: { input: { userId?: string | undefined }; output: { restrictions: readonly RestrictionView[] } };
  /** Writes a consent grain and a consent fact for each item. Each item has its own outcome. */
  consent: { input: { items: readonly ConsentItem[] }; output: { outcomes: readonly ConsentOutcome[] } };
  /** Stores the facts of consent grains that are in another partition. */
  consentFacts: { input: { facts: readonly ConsentFact[] }; output: Record<never, never> };
  /** The latest consent of a user to each purpose, by purpose. */
  consents: {
    input: { userId: string; purpose?: string | undefined };
    output: { facts: readonly ConsentFact[] };
  };
  /**
   * A page of the users with a consent, by the time of their latest one, ties by name. With a purpose, only consents to it
   * and to every purpose count.
   */
  consentPage: {
    /** `all`: every user, whatever the page says. */
    input: ConsentPage & { purpose?: string | undefined; all?: true | undefined };
    output: {
      users: readonly ConsentedUser[];
      /** Users on all pages. */
      total: number;
      /** True if more users follow. */
      more: boolean;
      /**
       * Equal in two partitions that know the same facts. Absent if the caller sees only some of the users: then a partition
       * with others beside it has no page, only `all`.
       */
      mark?: number;
    };
  };
  /** True if each of the persons has a grant for the purpose now, and none is restricted. */
  granted: {
    input: { userIds: readonly string[]; purpose: string };
    output: { granted: boolean };
  };
  /** The effect of the policy's times to live on each namespace, in namespace order. Times in ms. */
  retentionStatus: {
    input: { namespace?: string | undefined };
    output: { namespaces: readonly RetentionNamespace[]; defaultTtlDays: number | null; lastEnforcedMs?: number };
  };
  /** Removes expired grains; `dryRun` only counts them. Never throws POL-E003: grains under a hold are counted as held. */
  enforceRetention: {
    input: { namespace?: string | undefined; dryRun: boolean };
    output: {
      expired: number;
      forgotten: number;
      held: number;
      /** Goals that failed or were suspended by their expiry_policy; for a dry run, that would be. */
      goals: number;
      byNamespace: Readonly<Record<string, { expired: number; forgotten: number; held: number }>>;
    };
  };
  /**
   * A person's grains that the memory's rules do not hide from that person, in every version, in ordinal order. `after`
   * is the last ordinal of the previous page.
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
  policy: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'first',
    governed: { nothing: 'rules' },
    access: { open: 'reads and writes ask for the rules; its operations ask for viewer' },
  },
  simulatePolicy: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'first',
    governed: { nothing: 'rules' },
    access: { memory: ['viewer'] },
  },
  policyImpact: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: { nothing: 'counts' },
    access: { memory: ['viewer'] },
  },
  setPolicy: {
    kind: 'write',
    by: 'plan',
    changes: 'rules',
    retry: 'claimed',
    gather: 'own',
    governed: { nothing: 'rules' },
    access: { memory: ['admin'] },
  },
  restrict: {
    kind: 'write',
    by: 'plan',
    changes: 'rules',
    retry: 'keyed',
    gather: 'own',
    governed: { right: 'restriction' },
    access: { memory: ['admin'] },
  },
  restrictions: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'merged',
    governed: { right: 'restriction' },
    access: { open: 'of persons with grains that the caller may view' },
  },
  consent: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: { right: 'withdrawing consent; granting is refused' },
    access: 'editor',
  },
  consentFacts: {
    kind: 'write',
    by: 'plan',
    changes: 'rules',
    retry: 'same',
    gather: 'each',
    governed: { nothing: 'what another partition decided' },
    access: { open: 'what another partition decided' },
  },
  consents: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'merged',
    governed: { right: 'consent status' },
    access: { open: 'of persons with grains that the caller may view' },
  },
  consentPage: {
    kind: 'long',
    changes: 'nothing',
    gather: 'own',
    governed: { right: 'consent status' },
    access: { open: 'of persons with grains that the caller may view' },
  },
  granted: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'merged',
    governed: { right: 'consent status' },
    access: { open: 'the server asks before it sends texts that the caller may view' },
  },
  retentionStatus: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: { nothing: 'counts' },
    access: { memory: ['viewer'] },
  },
  enforceRetention: {
    kind: 'long',
    changes: 'grains',
    retry: 'claimed',
    gather: 'own',
    governed: { nothing: 'what has expired is hidden already' },
    access: { memory: ['admin'] },
  },
  personPage: {
    kind: 'long',
    changes: 'nothing',
    gather: 'own',
    governed: { right: 'export of what is held of oneself' },
    access: 'viewer',
  },
} as const satisfies RowsOf<GovernCalls>;
