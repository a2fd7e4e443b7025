// Measurements that a compliance run takes in each partition; the verdicts are made elsewhere. Each area is measured
// separately. An area that cannot be measured reports an error, so that it never passes for lack of data.
import type { Rules } from '../govern/policy/rules.ts';
import type { RowsOf } from './row.ts';
import type { RecallRecordView } from './trail.ts';

/** The call that takes the measurements of a compliance run. */
export interface ComplianceCalls {
  /** Measures each partition. `runId` names the canaries of the run. */
  compliance: { input: { runId: string }; output: { partitions: readonly PartitionEvidence[] } };
}

export const COMPLIANCE_ROWS = {
  compliance: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: { right: 'verification' },
    access: { memory: ['viewer', 'auditor'] },
  },
} as const satisfies RowsOf<ComplianceCalls>;

/** An area's measurements, or the error that prevented them. */
export type Area<T> = T | { readonly error: string };

/** A random sample of grains, as stored in the log. */
export interface BlobEvidence {
  readonly sampled: number;
  /** Blobs that are envelopes and open under their own key. */
  readonly envelopes: number;
  /** Blobs that can be read as a grain without a key. */
  readonly plaintext: number;
  /** All other blobs: damaged, or sealed under a wrong key. */
  readonly unreadable: number;
  /** Envelopes whose length leaves exactly 12 bytes for the nonce and 16 for the tag. */
  readonly conforming: number;
  /** Blobs whose SHA-256 is not their address. */
  readonly misaddressed: number;
  /** Number of nonces compared, and how many occurred twice under one key. */
  readonly nonces: number;
  readonly repeatedNonces: number;
  /** Grains with a user that are not sealed under that user's key. */
  readonly foreignKeys: number;
  readonly withUser: number;
}

/** The keys of the memory and of its users. */
export interface KeyEvidence {
  readonly checked: number;
  /** Keys that do not unwrap to 32 bytes. */
  readonly unwrappable: number;
  /** Keys whose plaintext bytes occur in a key file. */
  readonly inClear: number;
  /** Creation times in ms: the key for new blobs without a user, and the oldest live user key. */
  readonly newestMadeMs: number;
  readonly oldestUserKeyMs?: number;
  readonly users: number;
  /** Users with more than one live key. */
  readonly usersWithSeveral: number;
  /** True if token key and index key differ from each other and from all other keys. */
  readonly tokenKeyIsSeparate: boolean;
  readonly indexKeyIsSeparate: boolean;
}

/** Remains of erased users. */
export interface ErasureEvidence {
  /** Number of destroyed user keys. */
  readonly erased: number;
  /** Destroyed keys that still open something. */
  readonly keysLeft: number;
  /** Grains under a destroyed key that reads still return. */
  readonly grainsLeft: number;
  /** Index rows of grains whose key was destroyed. */
  readonly rowsLeft: number;
  /** Derived keys of erased users in this process's cache. */
  readonly cached: number;
  /** True if index blocks still have to be purged. */
  readonly purgePending: boolean;
  /** Number of `user.erased` entries, and of those with an incomplete proof or without the key's tombstone and entry. */
  readonly proofs: number;
  readonly brokenProofs: number;
  readonly withoutKeyEntry: number;
}

/** The audit chain, from one pass over it. Times in seconds. */
export interface TrailEvidence {
  readonly entries: number;
  readonly checked: number;
  /** The first entry whose hash does not match its predecessor; absent if all match. */
  readonly firstBadSeq?: number;
  readonly firstSeq: number;
  readonly gaps: number;
  /** The largest step backwards in time between adjacent entries. */
  readonly regressionSeconds: number;
  readonly windowEntries: number;
  readonly withoutActor: number;
  readonly anonymous: number;
  /** Entries in the window, by event type. */
  readonly windowEvents: Readonly<Record<string, number>>;
  /** Entries in the whole chain, by event type. */
  readonly events: Readonly<Record<string, number>>;
  /** Time of the newest entry of each event type, in seconds. */
  readonly newest: Readonly<Record<string, number>>;
  /** When the last export of the whole memory started, in seconds; absent: never. */
  readonly exportedWholeAt?: number;
  /** Agents that act in the window, at most 100. */
  readonly agents: readonly string[];
  /** Members of `agents` without an identity. */
  readonly unregisteredAgents: readonly string[];
  readonly deactivatedAgents: number;
  /** Deactivated agents that wrote or read afterwards, at most 100. */
  readonly lateAgents: readonly string[];
  /** Policy versions that audit entries name: sealed, upgraded or downgraded. */
  readonly sealedVersions: readonly number[];
  readonly changedVersions: readonly number[];
  /** Downgrades whose entry has no actor or no reason. */
  readonly looseDowngrades: number;
  readonly downgrades: number;
  /** Last sequence number of the chain when a seal last recorded it; absent before the first seal. */
  readonly notedSeq?: number;
  /** True if the entry at the recorded end has a different hash now: the chain was rewritten up to there or further. */
  readonly rewritten: boolean;
  /** Entries that were committed or recorded but are missing at the end: the chain was truncated. */
  readonly cutOff: number;
  /**
   * Number of forged copies of the newest entries, and of those that passed verification. The forgeries: an edited
   * entry, a gap, a repeated entry, a truncation, and an edited entry with all later hashes recomputed.
   */
  readonly doctored: number;
  readonly doctoredAccepted: number;
  /** True if the log would accept another record in place of the chain's newest one. */
  readonly replaceable: boolean;
}

export interface PolicyVersionEvidence {
  readonly version: number;
  readonly intact: boolean;
  readonly prevSealHash: string | null;
  readonly sealHash: string;
  readonly sealedBy: string;
  readonly reason: string | null;
  readonly sealedAt: number;
}

export interface PolicyEvidence {
  readonly version: number;
  readonly presets: readonly string[];
  readonly sealHash: string;
  readonly intact: boolean;
  /** Time of the seal, in seconds; 0 if no policy was ever sealed. */
  readonly sealedAt: number;
  /** When the memory was created, in seconds. */
  readonly madeAt: number;
  /** Oldest first, without versions that are gone. */
  readonly versions: readonly PolicyVersionEvidence[];
  readonly missingVersions: number;
  /** The rules in force, by path. */
  readonly rules: Rules;
  /** Paths of the rules that the memory's own overrides name. */
  readonly overridden: readonly string[];
  readonly simulationDiffers: number;
  /** Number of distinct results when the presets are composed in shuffled orders. */
  readonly shuffledResults: number;
}

/** Access tuples, as this partition has them. */
export interface AccessEvidence {
  /** Tuples that the state names, those that were read, and those that do not parse or do not fit the relation table. */
  readonly tuples: number;
  readonly read: number;
  readonly malformed: number;
  /** Tuples whose userset or parent no other tuple says anything about, by their objects. */
  readonly dangling: number;
  /** Questions about principals that do not exist, and those of them that were allowed. */
  readonly strangersAsked: number;
  readonly strangersAllowed: readonly string[];
  /** Tuples that give `owner` of the memory, and tuples that give anything else. */
  readonly owners: number;
  readonly others: number;
  /** Subjects that tuples name admin or owner, and auditor, of the memory; at most 1,000 of each. */
  readonly admins: readonly string[];
  readonly auditors: readonly string[];
  /** Persons among both. */
  readonly persons: number;
}

/** Expiry of all grains. */
export interface RetentionEvidence {
  readonly hasLimit: boolean;
  readonly expired: number;
  readonly expiredOverDay: number;
  readonly held: number;
}

/** A random sample of grains, opened. */
export interface DataEvidence {
  /** Number of grains that exist, and of those that are current. */
  readonly grains: number;
  readonly current: number;
  readonly sampled: number;
  /** Grains with a source that the contract lists, and grains without a source, which count as provided by the user. */
  readonly listedSource: number;
  readonly unnamedSource: number;
  readonly beliefs: number;
  readonly contradicted: number;
  readonly lowConfidence: number;
  /** Grains of users, without consent grains. */
  readonly personal: number;
  /** Personal grains with a grant in force at their creation, with another lawful basis, and with neither. */
  readonly granted: number;
  readonly otherBasis: number;
  readonly unfounded: number;
  /** Personal grains created under the current consent rule, and how many of them the rule should have refused. */
  readonly sinceRule: number;
  readonly unfoundedSinceRule: number;
  /** Grains whose grant was withdrawn more than 30 days ago. */
  readonly revokedLongAgo: number;
  /** Personal grains with sensitive categories, and how many of them lack a grant for `sensitive`. */
  readonly sensitive: number;
  readonly sensitiveUngranted: number;
  readonly assistantEvents: number;
  readonly unflaggedAssistant: number;
  readonly destructiveTools: number;
  readonly destructiveNotClient: number;
  readonly agentAuthors: readonly string[];
  /** Members of `agentAuthors` that no identity has as its did. */
  readonly unregisteredAuthors: readonly string[];
  readonly namespaces: readonly string[];
  /** Purposes with a consent in force. */
  readonly purposes: readonly string[];
  /**
   * One user's export, as a caller gets it: number of grains, grains that parse as that user's, and grains under the
   * user's key in the log. Absent if there are no users.
   */
  readonly userExport?: { readonly exported: number; readonly parsed: number; readonly stored: number };
}

/** Index files, searched for names from grains in plain text. */
export interface IndexEvidence {
  readonly bytesSearched: number;
  readonly valuesSearched: number;
  readonly valuesFound: number;
}

/** Records of recalls. */
export interface RecallEvidence {
  /** Records in the window, as counted by the records themselves; absent if unknown. */
  readonly records: number;
  readonly windowRecords: number;
  readonly sampled: number;
  readonly broken: number;
  readonly unresolved: number;
  readonly unblinded: number;
  /** The largest number of results of a recall in the window. */
  readonly resultsMax: number;
  /** A sample of records, for the check of explanations. */
  readonly samples: readonly RecallRecordView[];
}

/** Tests with synthetic grains in a temporary memory, which is deleted afterwards. */
export interface CanaryEvidence {
  /** Texts that survived sealing and opening, under a user key, the memory key and a scope key. */
  readonly roundTrips: number;
  readonly roundTripsWanted: number;
  /** Number of tampered envelopes, and of those that opened. */
  readonly tampered: number;
  readonly tamperedOpened: number;
  /** Number of envelopes tried with another user's key, and of those that opened. */
  readonly crossed: number;
  readonly crossedOpened: number;
  readonly envelopes: number;
  readonly envelopesWanted: number;
  /** Number of nonces compared in the canaries' memory, and of repeats under one key. */
  readonly nonces: number;
  readonly repeatedNonces: number;
  /** Number of keys tried on envelopes copied before the erasure, and of those that opened one. */
  readonly keysTried: number;
  readonly keysOpened: number;
  /**
   * Number of reads tried for the user's grains, of those that found none before the erasure, and of those that found
   * any after it.
   */
  readonly readsTried: number;
  readonly silentBefore: readonly string[];
  readonly servedBy: readonly string[];
  readonly proof: boolean;
  readonly proofRepeats: boolean;
  /** True if the audit entry named by the proof exists and is about this erasure. */
  readonly proofEntry: boolean;
  readonly keyGone: boolean;
  readonly keyEntry: boolean;
  /** Number of caches checked, of those empty for the user before the erasure, and of those not empty after it. */
  readonly cachesTried: number;
  readonly cachesEmptyBefore: readonly string[];
  readonly cachesLeft: readonly string[];
  /** Index rows for the user's grains before and after the erasure. */
  readonly rowsBefore: number;
  readonly grainsLeft: number;
  /** The user's chat thread and its messages, as reads return them before and after the erasure. */
  readonly threadsBefore: number;
  readonly threadsLeft: number;
  /** True if another instance derives the same token from the same key. */
  readonly tokenTwice: boolean;
  /** True if the canary is found by its plain name, in the tail and in a sealed file. */
  readonly foundByValue: boolean;
  readonly foundSealed: boolean;
  /** True if a name that no grain has finds a grain. */
  readonly strangerFound: boolean;
  /** True if the token equals an HMAC-SHA256 under a 32-byte key that is computed without the engine's code. */
  readonly tokenIsHmac: boolean;
  /** Bytes of a token stored in an index row: for a name and for a word. */
  readonly nameTokenBytes: number;
  readonly wordTokenBytes: number;
  readonly tokenDiffersElsewhere: boolean;
  /** Bytes of index files searched for the canaries' names, and number of names found. */
  readonly indexBytes: number;
  readonly indexNamesFound: number;
  /** Event types that the canary operations left in the audit chain. */
  readonly audited: readonly string[];
  readonly chainValid: boolean;
  /** Synthetic operations against the policy's rules, each with the accepted codes and the actual one. */
  readonly writeRules: readonly RuleProbe[];
  readonly deletionRules: readonly RuleProbe[];
  readonly phiGate: readonly RuleProbe[];
  readonly optOut: readonly RuleProbe[];
  readonly recallLimit: readonly RuleProbe[];
  readonly robustness: readonly RuleProbe[];
  /** Acts of a principal without a tuple, where tuples decide. */
  readonly accessRules: readonly RuleProbe[];
  readonly policyChainIntact: boolean;
  readonly policyAudited: boolean;
  readonly exportRoundTrip: boolean;
  /** Nonzero terms of the text score of a recall's first hit, and how many of them its explanation quotes. */
  readonly scoreParts: readonly string[];
  readonly explainedParts: readonly string[];
  /** The explanation of that hit; '' for none. */
  readonly explanation: string;
}

export interface RuleProbe {
  readonly rule: string;
  /** Accepted error codes; empty: the operation must succeed. */
  readonly wanted: readonly string[];
  /** The actual error code; '' if the operation succeeded. */
  readonly got: string;
}

export interface PartitionEvidence {
  readonly partition: number;
  readonly nowMs: number;
  /** Random seed of the samples. */
  readonly seed: number;
  readonly blobs: Area<BlobEvidence>;
  readonly keys: Area<KeyEvidence>;
  readonly erasures: Area<ErasureEvidence>;
  readonly trail: Area<TrailEvidence>;
  readonly policy: Area<PolicyEvidence>;
  readonly access: Area<AccessEvidence>;
  readonly retention: Area<RetentionEvidence>;
  readonly data: Area<DataEvidence>;
  readonly index: Area<IndexEvidence>;
  readonly recalls: Area<RecallEvidence>;
  readonly canary: Area<CanaryEvidence>;
}
