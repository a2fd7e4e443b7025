// What a partition measures of itself for a verdict on compliance: measurements, no verdicts. Each area is gathered by
// itself. An area that fails says so, because silence is no proof.
import type { Rules } from '../govern/policy/rules.ts';
import type { RowsOf } from './row.ts';
import type { RecallRecordView } from './trail.ts';

/** What is measured for a verdict on compliance. */
export interface ComplianceCalls {
  /** What each partition measures of itself for a verdict on its compliance, with canaries named by `runId`. */
  compliance: { input: { runId: string }; output: { partitions: readonly PartitionEvidence[] } };
}

export const COMPLIANCE_ROWS = {
  compliance: { kind: 'long', changes: 'nothing', gather: 'merged', governed: { right: 'verification' } },
} as const satisfies RowsOf<ComplianceCalls>;

/** An area's measurements, or why there are none. */
export type Area<T> = T | { readonly error: string };

/** Grains of a random sample as they lie in the log. */
export interface BlobEvidence {
  readonly sampled: number;
  /** Opened under their own key: what lies in the log is an envelope. */
  readonly envelopes: number;
  /** Could be read as a grain without any key. */
  readonly plaintext: number;
  /** Neither: damaged, or sealed under a key that is not theirs. */
  readonly unreadable: number;
  /** Envelopes with a nonce of 12 bytes and a tag of 16 bytes beyond their text. */
  readonly conforming: number;
  /** Blobs whose SHA-256 is not their address. */
  readonly misaddressed: number;
  /** Envelopes whose nonces were compared, and how many were met twice under one key. */
  readonly nonces: number;
  readonly repeatedNonces: number;
  /** Grains with a user that lie under another key than the user's own. */
  readonly foreignKeys: number;
  readonly withUser: number;
}

/** Keys of the memory and of its users. */
export interface KeyEvidence {
  readonly checked: number;
  /** Keys that do not unwrap, or have not 32 bytes. */
  readonly unwrappable: number;
  /** Keys whose own bytes stand in a file of keys. */
  readonly inClear: number;
  /** Milliseconds: when the key that new blobs without a user are sealed under was made, and the oldest live key of a user. */
  readonly newestMadeMs: number;
  readonly oldestUserKeyMs?: number;
  readonly users: number;
  /** Users with several live keys. */
  readonly usersWithSeveral: number;
  /** The key of tokens is none of the others, and that of indexes neither. */
  readonly tokenKeyIsSeparate: boolean;
  readonly indexKeyIsSeparate: boolean;
}

/** What is left of erased users. */
export interface ErasureEvidence {
  /** Keys of users that were destroyed. */
  readonly erased: number;
  /** Of those, keys that still open. */
  readonly keysLeft: number;
  /** Grains that lie under a destroyed key and are still served. */
  readonly grainsLeft: number;
  /** Rows of the index whose grain is gone with its key. */
  readonly rowsLeft: number;
  /** Derived keys of erased users in the cache of this process. */
  readonly cached: number;
  /** Index blocks wait to be written anew. */
  readonly purgePending: boolean;
  /** Entries `user.erased`, and those without a whole proof or without the key's own tombstone and entry. */
  readonly proofs: number;
  readonly brokenProofs: number;
  readonly withoutKeyEntry: number;
}

/** The audit chain, walked once. Times in seconds. */
export interface TrailEvidence {
  readonly entries: number;
  readonly checked: number;
  /** The first entry whose hash does not follow; absent when all do. */
  readonly firstBadSeq?: number;
  readonly firstSeq: number;
  readonly gaps: number;
  /** The largest step back in time between entries. */
  readonly regressionSeconds: number;
  readonly windowEntries: number;
  readonly withoutActor: number;
  readonly anonymous: number;
  /** Of the window, by event type. */
  readonly windowEvents: Readonly<Record<string, number>>;
  /** Of the whole chain. */
  readonly events: Readonly<Record<string, number>>;
  /** Newest entry of an event type, in seconds. */
  readonly newest: Readonly<Record<string, number>>;
  /** Seconds: when somebody last began to export the whole memory; absent: never. */
  readonly exportedWholeAt?: number;
  /** Actors of agents in the window, at most a hundred. */
  readonly agents: readonly string[];
  /** Versions named by entries about the policy: sealed, and changed up or down. */
  readonly sealedVersions: readonly number[];
  readonly changedVersions: readonly number[];
  /** Downgrades whose entry has no actor or no reason. */
  readonly looseDowngrades: number;
  readonly downgrades: number;
  /** Where the chain ended when a seal last noted it; absent before the first seal. */
  readonly notedSeq?: number;
  /** The entry at the noted end has another hash now: the chain was written anew, at least up to there. */
  readonly rewritten: boolean;
  /** Entries that were committed or noted and are not there: the chain was cut short. */
  readonly cutOff: number;
  /**
   * Doctored copies of the newest entries, and those that a verification took: one edited, one with a gap, one with an entry
   * twice, one cut short, one edited and hashed anew to its end.
   */
  readonly doctored: number;
  readonly doctoredAccepted: number;
  /** Whether the log would take another record in the place of the newest of the chain. */
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
  /** 0 where nobody sealed a policy. */
  readonly sealedAt: number;
  /** Seconds: when the memory was made. */
  readonly madeAt: number;
  /** From the oldest on; versions that are gone are missing. */
  readonly versions: readonly PolicyVersionEvidence[];
  readonly missingVersions: number;
  /** The rules that hold, by path. */
  readonly rules: Rules;
  /** Paths of the rules that the memory's own overrides name. */
  readonly overridden: readonly string[];
  readonly simulationDiffers: number;
  /** Different results of composing the presets in shuffled orders. */
  readonly shuffledResults: number;
}

/** Expiry, over every grain. */
export interface RetentionEvidence {
  readonly hasLimit: boolean;
  readonly expired: number;
  readonly expiredOverDay: number;
  readonly held: number;
}

/** Grains of a random sample, opened. */
export interface DataEvidence {
  /** Grains that are not removed, and those that are no old version. */
  readonly grains: number;
  readonly current: number;
  readonly sampled: number;
  /** With a source that the contract lists, and with none: those count as the user's. */
  readonly listedSource: number;
  readonly unnamedSource: number;
  readonly beliefs: number;
  readonly contradicted: number;
  readonly lowConfidence: number;
  /** Grains of a user, consents left out. */
  readonly personal: number;
  /** Of those: with a grant that held when they were made; with another lawful basis; with neither. */
  readonly granted: number;
  readonly otherBasis: number;
  readonly unfounded: number;
  /** Personal grains made under the consent rule that holds, and those of them that it should have refused. */
  readonly sinceRule: number;
  readonly unfoundedSinceRule: number;
  /** Granted then, withdrawn more than 30 days ago. */
  readonly revokedLongAgo: number;
  /** Personal grains with sensitive categories, and those of them without a grant for `sensitive`. */
  readonly sensitive: number;
  readonly sensitiveUngranted: number;
  readonly assistantEvents: number;
  readonly unflaggedAssistant: number;
  readonly destructiveTools: number;
  readonly destructiveNotClient: number;
  readonly agentAuthors: readonly string[];
  readonly namespaces: readonly string[];
  /** Purposes for which consents hold. */
  readonly purposes: readonly string[];
  /**
   * The export of one user, as a caller gets it: its grains, those that parse as the user's, and how many grains lie under
   * the user's key in the log; absent without users.
   */
  readonly userExport?: { readonly exported: number; readonly parsed: number; readonly stored: number };
}

/** Files of the index, searched for names that stand in grains. */
export interface IndexEvidence {
  readonly bytesSearched: number;
  readonly valuesSearched: number;
  readonly valuesFound: number;
}

/** Records of recalls. */
export interface RecallEvidence {
  /** Of the window, by their own count; absent where this cannot be told. */
  readonly records: number;
  readonly windowRecords: number;
  readonly sampled: number;
  readonly broken: number;
  readonly unresolved: number;
  readonly unblinded: number;
  /** The most that one recall of the window returned. */
  readonly resultsMax: number;
  /** Some of them, to be explained. */
  readonly samples: readonly RecallRecordView[];
}

/** What synthetic grains went through in a memory of their own, which is gone again. */
export interface CanaryEvidence {
  /** Texts that a user's, the memory's and a scope's key gave back as they were. */
  readonly roundTrips: number;
  readonly roundTripsWanted: number;
  /** Doctored envelopes, and those that opened. */
  readonly tampered: number;
  readonly tamperedOpened: number;
  /** Envelopes of one user tried with the other's key, and those that opened. */
  readonly crossed: number;
  readonly crossedOpened: number;
  readonly envelopes: number;
  readonly envelopesWanted: number;
  /** Nonces compared in the canaries' memory, and repeats under one key. */
  readonly nonces: number;
  readonly repeatedNonces: number;
  /** Keys tried on what was copied before the erasure, and those that opened it. */
  readonly keysTried: number;
  readonly keysOpened: number;
  /** Ways in to the user's grains; those that gave none before the erasure, and those that gave some after it. */
  readonly readsTried: number;
  readonly silentBefore: readonly string[];
  readonly servedBy: readonly string[];
  readonly proof: boolean;
  readonly proofRepeats: boolean;
  /** The entry that the proof names is one of the trail, about that erasure. */
  readonly proofEntry: boolean;
  readonly keyGone: boolean;
  readonly keyEntry: boolean;
  /** Caches that were asked; those that held nothing of the user before the erasure, and those that held some after it. */
  readonly cachesTried: number;
  readonly cachesEmptyBefore: readonly string[];
  readonly cachesLeft: readonly string[];
  /** Rows of the index that led to the user's grains before the erasure, and after it. */
  readonly rowsBefore: number;
  readonly grainsLeft: number;
  /** Tokens made by another instance, from the same key, are the same. */
  readonly tokenTwice: boolean;
  /** The canary is found by the plain text of its name, in the tail and in a sealed file. */
  readonly foundByValue: boolean;
  readonly foundSealed: boolean;
  /** A name that no grain has finds one. */
  readonly strangerFound: boolean;
  /** The token is what HMAC-SHA256 gives, computed apart from the engine's own code, under a key of 32 bytes. */
  readonly tokenIsHmac: boolean;
  /** Bytes of a token that a row keeps: of a name, of a word. */
  readonly nameTokenBytes: number;
  readonly wordTokenBytes: number;
  readonly tokenDiffersElsewhere: boolean;
  /** Bytes of index files that were searched for the canaries' names, and names found. */
  readonly indexBytes: number;
  readonly indexNamesFound: number;
  /** Events that the canaries' acts left in their chain. */
  readonly audited: readonly string[];
  readonly chainValid: boolean;
  /** Each synthetic act against a rule of the policy, with the codes that may answer it and what did. */
  readonly writeRules: readonly RuleProbe[];
  readonly deletionRules: readonly RuleProbe[];
  readonly phiGate: readonly RuleProbe[];
  readonly optOut: readonly RuleProbe[];
  readonly recallLimit: readonly RuleProbe[];
  readonly robustness: readonly RuleProbe[];
  readonly policyChainIntact: boolean;
  readonly policyAudited: boolean;
  readonly exportRoundTrip: boolean;
  /** Parts of the text score of a recall's first hit that are not 0, and those whose amount its explanation says. */
  readonly scoreParts: readonly string[];
  readonly explainedParts: readonly string[];
  /** The sentence that explains that hit; '' without one. */
  readonly explanation: string;
}

export interface RuleProbe {
  readonly rule: string;
  /** Codes that are right; empty: it is to be accepted. */
  readonly wanted: readonly string[];
  /** The code that came; '' when it was accepted. */
  readonly got: string;
}

export interface PartitionEvidence {
  readonly partition: number;
  readonly nowMs: number;
  /** What the samples were drawn with. */
  readonly seed: number;
  readonly blobs: Area<BlobEvidence>;
  readonly keys: Area<KeyEvidence>;
  readonly erasures: Area<ErasureEvidence>;
  readonly trail: Area<TrailEvidence>;
  readonly policy: Area<PolicyEvidence>;
  readonly retention: Area<RetentionEvidence>;
  readonly data: Area<DataEvidence>;
  readonly index: Area<IndexEvidence>;
  readonly recalls: Area<RecallEvidence>;
  readonly canary: Area<CanaryEvidence>;
}
