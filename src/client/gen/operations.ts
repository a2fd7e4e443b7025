// Made by `npm run client` from the operation table. Do not edit.
import type { Json, JsonObject } from '../json.ts';
import type { StreamFrame } from '../sse.ts';

export type GrainType =
  | 'belief'
  | 'event'
  | 'state'
  | 'workflow'
  | 'action'
  | 'observation'
  | 'goal'
  | 'reasoning'
  | 'consensus'
  | 'consent';

/** Names of fields that every grain may have. */
export type CommonField =
  | 'confidence'
  | 'tags'
  | 'structural_tags'
  | 'namespace'
  | 'user_id'
  | 'valid_from'
  | 'valid_to'
  | 'temporal_type'
  | 'related_to'
  | 'source_type'
  | 'importance'
  | 'created_at'
  | 'session_id'
  | 'derived_from'
  | 'embedding_text'
  | 'author_did'
  | 'origin_did'
  | 'origin_namespace'
  | 'verification_status'
  | 'processing_basis'
  | 'invalidation_policy'
  | 'supersession_justification'
  | 'context'
  | 'content_refs'
  | 'embedding_refs'
  | 'provenance_chain'
  | 'consolidation_level'
  | 'success_count'
  | 'failure_count'
  | 'superseded_by'
  | 'expires_at';

/** Names of the fields of each type. */
export interface TypeFields {
  belief: 'subject' | 'relation' | 'object';
  event: 'content' | 'subject' | 'object' | 'role' | 'parent_message_id' | 'content_blocks' | 'model_id' | 'stop_reason' | 'token_usage' | 'run_id';
  state: 'data' | 'context_data';
  workflow: 'nodes' | 'edges' | 'bindings' | 'retries' | 'trigger' | 'name' | 'status';
  action: 'tool_name' | 'input' | 'content' | 'output' | 'is_error' | 'error' | 'duration_ms' | 'parent_task_id' | 'tool_call_id' | 'call_batch_id' | 'output_schema' | 'kind' | 'action_phase' | 'tool_description' | 'input_schema' | 'strict' | 'executor_uri' | 'executor_kind' | 'locked_params' | 'annotations' | 'examples' | 'spec_hash' | 'async_mode' | 'status' | 'correlation_id' | 'expires_at_sec' | 'failure_cause' | 'failure_detail' | 'actor_execution_environment';
  observation: 'content' | 'object' | 'observer_id' | 'observer_type' | 'subject' | 'observer_model' | 'frame_id' | 'sync_group' | 'observation_mode' | 'observation_scope' | 'compression_ratio';
  goal: 'description' | 'object' | 'goal_state' | 'priority' | 'criteria' | 'criteria_structured' | 'parent_goals' | 'state_reason' | 'satisfaction_evidence' | 'progress' | 'delegate_to' | 'delegate_from' | 'expiry_policy' | 'recurrence' | 'evidence_required' | 'rollback_on_failure' | 'allowed_transitions' | 'depends_on' | 'assigned_agent' | 'deadline';
  reasoning: 'premises' | 'conclusion' | 'inference_method' | 'alternatives_considered' | 'thinking_content' | 'thinking_redacted';
  consensus: 'participating_observers' | 'threshold' | 'agreement_count' | 'dissent_count' | 'dissent_grains' | 'agreed_content';
  consent: 'subject_did' | 'grantee_did' | 'scope' | 'is_withdrawal' | 'basis' | 'jurisdiction' | 'prior_consent' | 'witness_dids';
}

/** Objects that several operations have. */
export type Option = {
  /** Whether the first date in the text sets valid_from where that is unset; the default is false. */
  readonly extractEventDate?: boolean | undefined;
  /** Whether up to 5 similar grains of the same user and namespace become related_to; the default is false. */
  readonly autoRelate?: boolean | undefined;
  /** Whether beliefs are extracted from the text; the default is false. */
  readonly extractMemories?: boolean | undefined;
  /** Whether the answer waits until the indexes are sealed; the default is false. */
  readonly sync?: boolean | undefined;
};

export type Result = {
  /** Hash of the grain: SHA-256 of its plaintext blob, 64 hexadecimal digits. */
  readonly hash: string;
  /** The same as hash. */
  readonly blobHash: string;
  /** Type of the grain. */
  readonly grainType: GrainType;
  /** The same as grain_type. */
  readonly type: string;
  /** Score of the hit, which the hits are ordered by. */
  readonly score: number;
  /** Probability that the hit bears on the query, which min_score is compared with; absent for a hit by structure only. */
  readonly relevance?: number | undefined;
  /** The grain as one plain sentence, at most 300 characters; a longer one ends with an ellipsis. */
  readonly text: string;
  /** Every field of the grain, with defaults filled in. */
  readonly fields: JsonObject;
  /** Time at which the grain was created, in Unix seconds. */
  readonly createdAt: Date;
  /** Namespace of the grain. */
  readonly namespace: string;
  /** Namespace that the grain comes from; only with scope_path. */
  readonly sourceNamespace?: string | undefined;
  /** Depth of that namespace in the scope tree, from 0; only with scope_path. */
  readonly scopeDepth?: number | undefined;
  /** The data subject; absent where there is none. */
  readonly userId?: string | undefined;
  /** Hash of the next version; absent for the current one. */
  readonly supersededBy?: string | undefined;
  /** Further sources of the grain, the newest first. */
  readonly sources?: readonly string[] | undefined;
  /** How the score came about; only with score_breakdown. */
  readonly scoreBreakdown?: {
    /** Rank of the grain by words alone, from 1. */
    readonly bm25Rank?: number | undefined;
    /** Raw cosine between the vectors of the query and the grain. */
    readonly vectorScore?: number | undefined;
    /** Base of the score where several rankings were fused; 0 where the eleven text terms add up to the base. */
    readonly rrfScore: number;
    /** Change by detect_contradictions. */
    readonly interferencePenalty?: number | undefined;
    /** Change by recency_weight. */
    readonly recencyDecay?: number | undefined;
    /** Change by session_affinity_boost. */
    readonly sessionAffinity?: number | undefined;
    /** Change by subject_affinity_boost. */
    readonly subjectAffinity?: number | undefined;
    /** Change by target_date_weight. */
    readonly targetDateProximity?: number | undefined;
    /** Change that an old version gets. */
    readonly supersessionDemotion?: number | undefined;
    /** Change by target_date. */
    readonly temporalDecayBoost?: number | undefined;
    /** Base and changes together, which is the hit's score. */
    readonly finalScore: number;
    /** Text term: words that the grain shares with the query. */
    readonly bm25?: number | undefined;
    /** Text term: adjacent pairs of words that the grain shares with the query. */
    readonly phrase?: number | undefined;
    /** Text term: similarity of the vectors of the query and the grain. */
    readonly vector?: number | undefined;
    /** Text term: matches of the turns before and after in the session. */
    readonly near?: number | undefined;
    /** Text term: match of the question that the turn answers. */
    readonly answer?: number | undefined;
    /** Text term: best match in the session. */
    readonly session?: number | undefined;
    /** Text term: words that the whole session of the turn shares with the query; 0 without vectors. */
    readonly pooled?: number | undefined;
    /** Text term: role of the turn. */
    readonly role?: number | undefined;
    /** Text term: the query names the speaker. */
    readonly speaker?: number | undefined;
    /** Text term: the query asks for a time and the turn names one. */
    readonly time?: number | undefined;
    /** Text term: the turn speaks in the first person. */
    readonly self?: number | undefined;
  } | undefined;
  /** The breakdown as a sentence; only with explanation. */
  readonly explanation?: string | undefined;
  /** Age of the grain in words, such as 2 weeks ago; only with annotate_relative_time. */
  readonly relativeTime?: string | undefined;
  /** Whether the hit is current or outdated among contradictions; only with detect_contradictions. */
  readonly conflictStatus?: string | undefined;
  /** Set to superseded for an old version; absent otherwise. */
  readonly supersessionStatus?: string | undefined;
  /** The search that found the hit: primary, expansion or census. */
  readonly recallSource: string;
};

export type Grain = {
  /** Hash of the grain: SHA-256 of its plaintext blob, 64 hexadecimal digits. */
  readonly blobHash: string;
  /** The same as blob_hash. */
  readonly hash: string;
  /** Type of the grain. */
  readonly grainType: GrainType;
  /** The grain as one plain sentence, at most 300 characters; a longer one ends with an ellipsis. */
  readonly text: string;
  /** Every field of the grain, with defaults filled in. */
  readonly fields: JsonObject;
  /** Time at which the grain was created, in Unix seconds. */
  readonly createdAt: Date;
  /** Namespace of the grain. */
  readonly namespace: string;
  /** The data subject; absent where there is none. */
  readonly userId?: string | undefined;
  /** Hash of the next version; absent for the current one. */
  readonly supersededBy?: string | undefined;
  /** Hash of the version before; absent for the first one. */
  readonly supersedes?: string | undefined;
  /** Further sources of the grain, the newest first. */
  readonly sources?: readonly string[] | undefined;
  /** Whether this version is current or superseded. */
  readonly versionStatus: "current" | "superseded";
  /** Size of the blob in bytes. */
  readonly sizeBytes: number;
};

export type ImportDocumentOutputError = {
  /** Position of the chunk in the document, from 0. */
  readonly index: number;
  /** Error code. */
  readonly code: string;
  /** Error message. */
  readonly error: string;
};

export type Job = {
  /** Id of the job. */
  readonly jobId: string;
  /** State of the job. */
  readonly status: "queued" | "running" | "completed" | "failed" | "cancelled";
  /** The current step of a running job; the last step of one that has ended. */
  readonly phase: "parsing" | "chunking" | "storing" | "extracting";
  /** Name of the file as the chunks keep it. */
  readonly fileName: string;
  /** Media type of the content; absent until it is read. */
  readonly mimeType?: string | undefined;
  /** Size of the file in bytes. */
  readonly sizeBytes: number;
  /** Number of chunks; absent until the document is read. */
  readonly totalChunks?: number | undefined;
  /** Number of chunks that were stored, found or refused. */
  readonly processedChunks: number;
  /** Number of chunks that were stored. */
  readonly grainsCreated: number;
  /** Number of chunks that the memory held already. */
  readonly duplicates: number;
  /** Number of beliefs that were extracted; only with extract. */
  readonly extractedCount?: number | undefined;
  /** Hashes of the stored chunks and duplicates, the first 500. */
  readonly hashes: readonly string[];
  /** The chunks that were refused, the first 50. */
  readonly errors: readonly ImportDocumentOutputError[];
  /** The changes that the import made and the parts that it left out. */
  readonly warnings?: readonly string[] | undefined;
  /** Share of the chunks that are processed, 0 to 100. */
  readonly percent: number;
  /** Time of the request, in Unix seconds. */
  readonly createdAt: Date;
  /** Time at which the job first ran, in Unix seconds. */
  readonly startedAt?: Date | undefined;
  /** Time at which it ended, in Unix seconds. */
  readonly finishedAt?: Date | undefined;
  /** Why the job failed. */
  readonly error?: {
    /** Error code. */
    readonly code: string;
    /** Error message. */
    readonly message: string;
  } | undefined;
};

export type ActiveGoal = {
  /** Hash of the current version of the goal. */
  readonly hash: string;
  /** The same as hash. */
  readonly blobHash: string;
  /** The state to be reached, in words. */
  readonly description: string;
  /** State of the goal: active, satisfied, failed or suspended. */
  readonly goalState: string;
  /** Priority of the goal: critical, high, medium or low, or as it was sent. */
  readonly priority: string;
  /** When the goal counts as reached; null where nobody has said. */
  readonly criteria: string | null;
  /** How far the goal has come, from 0 to 1; null where nobody has said. */
  readonly progress: number | null;
  /** Hashes of the goals that this one is a part of. */
  readonly parentGoals: readonly string[];
  /** Agent to which the goal was delegated; null where it was not. */
  readonly delegateTo: string | null;
  /** Why the goal is in its state; null where nobody has said. */
  readonly stateReason: string | null;
  /** Time at which this version was created, in Unix seconds. */
  readonly createdAt: Date;
  /** Time of the last change of the goal, in Unix seconds. */
  readonly updatedAt: Date;
};

export type SessionActionsOutput = {
  /** Id of the session, as it was asked for. */
  readonly sessionId: string;
  /** Actions of the session, newest first, without definitions of tools. */
  readonly actions: readonly Grain[];
  /** Number of items on all pages; null where it is not counted. */
  readonly total: number | null;
  /** Cursor of the next page; null on the last one. */
  readonly nextCursor: string | null;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type SessionGoalsOutput = {
  /** Id of the session, as it was asked for. */
  readonly sessionId: string;
  /** Goals of the session: critical, high, medium, low, then newest first. */
  readonly goals: readonly ActiveGoal[];
  /** Number of items on all pages; null where it is not counted. */
  readonly total: number | null;
  /** Cursor of the next page; null on the last one. */
  readonly nextCursor: string | null;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type GrantConsentOutput = {
  /** The user who consents. */
  readonly userId: string;
  /** The purpose, or * for every purpose. */
  readonly purpose: string;
  /** The recorded decision. */
  readonly status: "granted" | "revoked";
  /** Hash of the consent grain that was written. */
  readonly blobHash: string;
  /** Time of the record in Unix seconds. */
  readonly timestamp: Date;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type Purpose = {
  /** The user. */
  readonly userId: string;
  /** The purpose, or * for every purpose. */
  readonly purpose: string;
  /** Status that enforcement decides by. */
  readonly status: "granted" | "revoked" | "none";
  /** The purpose whose consent decides: this one or *; absent where none was recorded. */
  readonly decidedBy?: string | undefined;
  /** Time of the latest grant in Unix seconds. */
  readonly grantedAt?: Date | undefined;
  /** Time of the withdrawal in Unix seconds. */
  readonly revokedAt?: Date | undefined;
  /** Lawful basis that the grant named. */
  readonly basis?: string | undefined;
  /** Jurisdiction that the grant named. */
  readonly jurisdiction?: string | undefined;
  /** Time at which the consent ends, in Unix seconds. */
  readonly expiresAt?: Date | undefined;
  /** Hash of the consent grain that decides. */
  readonly hash?: string | undefined;
};

export type RestrictProcessingOutput = {
  /** The user whose data it is. */
  readonly userId: string;
  /** Whether the data is restricted now. */
  readonly restricted: boolean;
  /** Time of the change in Unix seconds. */
  readonly timestamp: Date;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type Rule = {
  /** Rules on consent. */
  readonly consent: {
    /** Which writes about a user need consent: none; opt_in, with a grant; opt_out, unless it was revoked. */
    readonly mode: "none" | "opt_out" | "opt_in";
    /** Whether a grain with another lawful basis than consent is accepted without a grant; null where no preset says. */
    readonly acceptOtherBases: boolean | null;
    /** Whether reads leave out grains of users whose consent is gone. */
    readonly onRead: boolean;
    /** Whether sensitive personal data needs a grant for the purpose sensitive. */
    readonly sensitiveSeparate: boolean;
  };
  /** Rules on removing grains. */
  readonly deletion: {
    /** Whether grains may be forgotten. */
    readonly allowed: boolean;
    /** Whether a legal hold refuses every removal. */
    readonly hold: boolean;
    /** Whether forgetting needs a reason. */
    readonly reasonRequired: boolean;
    /** Whether forgetting a grain with a user needs a grant for the purpose deletion. */
    readonly consentRequired: boolean;
    /** Age in days that a grain must have to be forgotten; null for none. */
    readonly minAgeDays: number | null;
  };
  /** Rules on superseding grains. */
  readonly supersede: {
    /** Whether grains may be superseded. */
    readonly allowed: boolean;
    /** Whether superseding needs a reason. */
    readonly reasonRequired: boolean;
    /** Whether superseding a grain with a user needs a grant. */
    readonly consentRequired: boolean;
    /** Grain types that may not be superseded. */
    readonly protectedTypes: readonly GrainType[];
  };
  /** Rules on how long data is kept. */
  readonly retention: {
    /** Days after which a grain expires; null for never. */
    readonly defaultTtlDays: number | null;
    /** Days after which grains of a namespace expire, by its name. */
    readonly byNamespace: { readonly [name: string]: number };
    /** Days after which grains of a type expire, by its name. */
    readonly byType: { readonly [name: string]: number };
    /** Days that audit entries are kept at least; null for no minimum. */
    readonly auditDays: number | null;
    /** Days that provenance records are kept at least; null for no minimum. */
    readonly provenanceDays: number | null;
  };
  /** Rules on encryption. */
  readonly encryption: {
    /** Whether encryption is demanded; it is always on. */
    readonly required: boolean;
    /** Whether a key for each user is demanded; there always is one. */
    readonly perUserKeys: boolean;
    /** Whether blind tokens in the triple index are demanded; they are always used. */
    readonly blindIndex: boolean;
    /** Days after which keys must be rotated; null for never. */
    readonly keyRotationDays: number | null;
  };
  /** Rules on personal data. */
  readonly pii: {
    /** The treatment of a write with personal data. */
    readonly writeAction: "allow" | "flag" | "redact" | "require_consent" | "block";
    /** Categories of personal data that count; * for all. */
    readonly categories: "*" | readonly string[];
    /** The treatment of personal data in texts that go to external models. */
    readonly egressAction: "allow" | "redact" | "block";
  };
  /** Rules on where data lies. */
  readonly residency: {
    /** Regions that data may lie in. */
    readonly regions: readonly string[];
    /** Whether other regions are refused. */
    readonly enforce: boolean;
    /** Whether a grant for the purpose cross_border lets data leave the regions. */
    readonly crossBorderConsent: boolean;
  };
  /** Rules on restricted processing. */
  readonly processing: {
    /** Whether restricted users are frozen, which is always so. */
    readonly restriction: true;
  };
  /** Rules on the audit trail. */
  readonly audit: {
    /** Whether reads are in the audit trail; writes always are. */
    readonly reads: boolean;
  };
  /** Rules on provenance records. */
  readonly provenance: {
    /** Whether every recall leaves a record. */
    readonly record: boolean;
  };
  /** Rules on explanations. */
  readonly explanation: {
    /** Whether provenance records must support explanations. */
    readonly required: boolean;
  };
  /** Rules on writes. */
  readonly write: {
    /** Whether every write needs a user. */
    readonly userIdRequired: boolean;
  };
  /** Rules on access. */
  readonly access: {
    /** Whether authorisation tuples decide in addition to the scopes of keys. */
    readonly authzRequired: boolean;
    /** Largest limit of a recall; null for none. */
    readonly maxRecallLimit: number | null;
    /** Whether a principal may not be both admin and auditor. */
    readonly segregationOfDuties: boolean;
  };
  /** Rules on storage tiers. */
  readonly tiering: {
    /** Whether grains may move to other tiers. */
    readonly allowed: boolean;
    /** Whether moving needs a business associate agreement. */
    readonly baaRequired: boolean;
    /** Whether moving needs a data processing agreement. */
    readonly dpaRequired: boolean;
    /** Whether a business associate agreement is acknowledged. */
    readonly baaAcknowledged: boolean;
    /** Whether a data processing agreement is acknowledged. */
    readonly dpaAcknowledged: boolean;
  };
  /** Rules of the laws on artificial intelligence. */
  readonly ai: {
    /** Risk class of the system that uses the memory. */
    readonly riskClass: "minimal" | "limited" | "high";
    /** Whether human oversight is demanded. */
    readonly oversightRequired: boolean;
    /** Whether answers of models must say that they are. */
    readonly disclosure: boolean;
    /** Whether an impact assessment is demanded. */
    readonly impactRequired: boolean;
    /** Answers of the impact assessment and the time of its review; null without one. */
    readonly impactAssessment: JsonObject | null;
    /** Time of the last review of risks; null without one. */
    readonly riskReview: JsonObject | null;
  };
  /** Rules on texts that are refused. */
  readonly guardrail: {
    /** Texts that no grain may hold. */
    readonly patterns: readonly string[];
    /** How a guardrail pattern matches a text. */
    readonly mode: "exact" | "contains" | "fuzzy";
  };
  /** Entries of the record of processing activities. */
  readonly records: {
    /** The person or body responsible for the processing. */
    readonly controller: string | JsonObject | null;
    /** Purposes of the processing. */
    readonly purposes: readonly string[];
    /** The recipients of the data. */
    readonly recipients: readonly string[];
  };
  /** Rules on breaches. */
  readonly breach: {
    /** Hours within which a breach must be reported; null for none. */
    readonly notifyHours: number | null;
  };
};

export type Tuple = {
  /** The holder of the relation. */
  readonly subject: string;
  /** The relation to the object. */
  readonly relation: string;
  /** The object of the relation. */
  readonly object: string;
};

export type RegisterAgentOutput = {
  /** Id of the agent. */
  readonly agentId: string;
  /** Name for people to read; absent where none was given. */
  readonly name?: string | undefined;
  /** Decentralized identifier, as grains name it in author_did; absent where none was given. */
  readonly did?: string | undefined;
  /** Public key of the agent, as it was given; absent where none was given. */
  readonly publicKey?: string | undefined;
  /** The abilities of the agent, in the words of who registered it. */
  readonly capabilities: readonly string[];
  /** Whether the agent may write (active) or never again (deactivated). */
  readonly status: "active" | "deactivated";
  /** Time of the registration in Unix seconds. */
  readonly createdAt: Date;
  /** Time of the deactivation in Unix seconds; absent for an active agent. */
  readonly deactivatedAt?: Date | undefined;
  /** Why the agent was deactivated; absent where no reason was given. */
  readonly deactivationReason?: string | undefined;
  /** Members that the server stores as they are. */
  readonly metadata: { readonly [name: string]: Json };
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type Identity = {
  /** Id of the agent. */
  readonly agentId: string;
  /** Name for people to read; absent where none was given. */
  readonly name?: string | undefined;
  /** Decentralized identifier, as grains name it in author_did; absent where none was given. */
  readonly did?: string | undefined;
  /** Public key of the agent, as it was given; absent where none was given. */
  readonly publicKey?: string | undefined;
  /** The abilities of the agent, in the words of who registered it. */
  readonly capabilities: readonly string[];
  /** Whether the agent may write (active) or never again (deactivated). */
  readonly status: "active" | "deactivated";
  /** Time of the registration in Unix seconds. */
  readonly createdAt: Date;
  /** Time of the deactivation in Unix seconds; absent for an active agent. */
  readonly deactivatedAt?: Date | undefined;
  /** Why the agent was deactivated; absent where no reason was given. */
  readonly deactivationReason?: string | undefined;
  /** Members that the server stores as they are. */
  readonly metadata: { readonly [name: string]: Json };
};

export type Embedding = {
  /** Name of the embedder; until it is open, the name that it is configured by. */
  readonly backend: string;
  /** Number of dimensions of its vectors; 0 until the embedder is open. */
  readonly dimensions: number;
  /** State of the embedder. */
  readonly state: "none" | "cold" | "opening" | "ready" | "failed";
  /** Why the embedder failed, or which embedder it replaces. */
  readonly reason?: string | undefined;
};

export type HealthOutput = {
  /** Whether the deployment answers and takes writes. */
  readonly status: "ok" | "unavailable";
  /** Version of the server. */
  readonly version: string;
  /** The faults, whether or not they stop the deployment. */
  readonly reasons?: readonly string[] | undefined;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type LlmSettingsOutput = {
  /** Provider of the model; null: none. */
  readonly provider: string | null;
  /** Model that answers in chats; null: none. */
  readonly model: string | null;
  /** Temperature of its answers, from 0 to 2; null: the provider's own. */
  readonly temperature: number | null;
  /** Tokens of an answer at most; null: the provider's own limit. */
  readonly maxTokens: number | null;
  /** Whether a model answers in chats. */
  readonly enabled: boolean;
  /** Whether this cannot be changed in this deployment. */
  readonly readOnly: boolean;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type DeleteProviderOutput = {
  /** Always true. */
  readonly deleted: true;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type ProviderModelsOutput = {
  /** The models of the page. */
  readonly models: readonly {
    /** Name of the model at its provider. */
    readonly id: string;
    /** Id of the provider. */
    readonly provider: string;
    /** The roles of the model, as its name tells; empty for models of images or sound. */
    readonly capabilities: readonly ("chat" | "embedding" | "rerank" | "extraction" | "ner")[];
    /** Tokens that it reads at once, where that is known. */
    readonly contextWindow?: number | undefined;
    /** Length of its vectors, where that is known. */
    readonly dimensions?: number | undefined;
  }[];
  /** Number of items on all pages; null where it is not counted. */
  readonly total: number | null;
  /** Cursor of the next page; null on the last one. */
  readonly nextCursor: string | null;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type ModelAssignmentsOutput = {
  /** Model of each role; null: none. */
  readonly assignments: {
    /** Answers in chats and harnesses, and orders hits for llm_rerank. */
    readonly chat: {
      /** Id of the provider. */
      readonly provider: string;
      /** Name of the model. */
      readonly model: string;
    } | null;
    /** Finds facts in texts; null: the rules do. */
    readonly extraction: {
      /** Id of the provider. */
      readonly provider: string;
      /** Name of the model. */
      readonly model: string;
    } | null;
    /** Makes vectors for memories that name no vector_backend; null: the one of the start options does. */
    readonly embedding: {
      /** Id of the provider. */
      readonly provider: string;
      /** Name of the model. */
      readonly model: string;
    } | null;
    /** Orders the hits of a recall. */
    readonly rerank: {
      /** Id of the provider. */
      readonly provider: string;
      /** Name of the model. */
      readonly model: string;
    } | null;
    /** Imagines an answer, for the vector of a question. */
    readonly hyde: {
      /** Id of the provider. */
      readonly provider: string;
      /** Name of the model. */
      readonly model: string;
    } | null;
    /** Proposes how to merge what rules cannot decide. */
    readonly consolidation: {
      /** Id of the provider. */
      readonly provider: string;
      /** Name of the model. */
      readonly model: string;
    } | null;
  };
  /** Whether assignments cannot be changed in this deployment. */
  readonly readOnly: boolean;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type CreateMemoryOutput = {
  /** Id of the memory. */
  readonly id: string;
  /** Name of the memory. */
  readonly name: string;
  /** Description of the memory. */
  readonly description: string;
  /** Time at which the memory was made, in Unix seconds. */
  readonly createdAt: Date;
  /** Principal that made the memory. */
  readonly owner: string;
  /** Region that the memory lies in; absent where none was given. */
  readonly region?: string | undefined;
  /** Settings of the caller's own. */
  readonly settings: JsonObject;
  /** Number of partitions. */
  readonly partitions: number;
  /** ISO 639-1 code of the language of the text index. */
  readonly language: string;
  /** Names of the policy presets that hold. */
  readonly policies: readonly string[];
  /** How duplicates are recognised: none, exact, fuzzy or upsert. */
  readonly dedup: string;
  /** Similarity of objects from which dedup fuzzy treats grains as duplicates, from 0 to 1. */
  readonly dedupThreshold: number;
  /** Name of the embedder that makes the memory's vectors. */
  readonly vectorBackend: string;
  /** Texts that no grain may hold. */
  readonly guardrailPatterns: readonly string[];
  /** How a guardrail pattern matches a text: exact, contains or fuzzy. */
  readonly guardrailMode: string;
  /** Parts of the request that were ignored or not fulfilled. */
  readonly warnings?: readonly string[] | undefined;
};

export type ScopeTreeOutput = {
  /** Name of the root. */
  readonly name: string;
  /** Scopes below the root, each with its name and its own children. */
  readonly children?: readonly Json[] | undefined;
  /** Time of the last change in Unix seconds. */
  readonly updatedAt: Date;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type Edge = {
  /** Subject of the grain. */
  readonly source: string;
  /** Relation of the grain; its type where it has none. */
  readonly relation: string;
  /** Object of the grain. */
  readonly target: string;
  /** Hash of the grain. */
  readonly hash: string;
  /** Confidence of the grain, 0 to 1. */
  readonly confidence: number;
  /** Time at which the grain was created, in Unix seconds. */
  readonly createdAt: Date;
};

export type CreateThreadOutput = {
  /** Id of the thread. */
  readonly threadId: string;
  /** Title of the thread; null where it has none. */
  readonly title: string | null;
  /** Time at which the thread was made, in Unix seconds. */
  readonly createdAt: Date;
  /** Time of the last message, or of the last change of the thread, in Unix seconds. */
  readonly updatedAt: Date;
  /** Number of messages that the caller may read. */
  readonly messageCount: number;
  /** Whether the thread is archived. */
  readonly archived: boolean;
  /** The data that the caller keeps with the thread. */
  readonly metadata: JsonObject;
  /** Namespace of the thread and, by default, of its messages. */
  readonly namespace: string;
  /** The data subject of the thread; absent where there is none. */
  readonly userId?: string | undefined;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type Tool = {
  /** Name of the tool. */
  readonly toolName: string;
  /** Hash of the grain that defines it. */
  readonly toolHash: string;
  /** Description of the tool for the model. */
  readonly description: string;
  /** The side that runs it: the server or a host of its choice (host), or the caller of the turn (client). */
  readonly executorKind: "host" | "client";
};

export type CreateHarnessOutput = {
  /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
  readonly slug: string;
  /** Name of the harness, for people. */
  readonly name: string;
  /** The purpose of the harness; empty where nobody has stated it. */
  readonly description: string;
  /** Template that it was made from; null without one. */
  readonly template: string | null;
  /** The goal of the agent; null where nobody has stated it, and then it takes no turns. */
  readonly goal: string | null;
  /** Instructions for the model; empty where nobody has stated any. */
  readonly systemPrompt: string;
  /** Query that assembles the context of a turn: a name, or CAL text. */
  readonly assembleQuery: string;
  /** Model that answers; null: the model of the role chat. */
  readonly model: string | null;
  /** Provider of the model; null: the provider of the role chat. */
  readonly provider: string | null;
  /** Calls of the model that one turn may make. */
  readonly maxIterations: number;
  /** Whether the harness was provisioned: it then takes turns. */
  readonly status: "draft" | "provisioned";
  /** Namespace of the grains of the definition. */
  readonly defNamespace: string;
  /** Hash of the goal grain, which holds the members above. */
  readonly goalHash: string;
  /** Hash of the workflow; null without one. */
  readonly workflowHash: string | null;
  /** Tools of the harness, by name. */
  readonly tools: readonly Tool[];
  /** Time at which the harness was made, in Unix seconds. */
  readonly createdAt: Date;
  /** Time of the newest change of its definition, in Unix seconds. */
  readonly updatedAt: Date;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type Annotation = {
  /** Whether the tool changes nothing; the default is false. */
  readonly readOnly?: boolean | undefined;
  /** Whether the tool removes something; the default is false, and a read_only tool does not. */
  readonly destructive?: boolean | undefined;
  /** Whether a call may be repeated after a restart: the second has no effect; the default is false. */
  readonly idempotent?: boolean | undefined;
};

export type ProvisionHarnessTool = {
  /** Name of the tool: 1 to 64 letters, digits, _, . and -; models know a dot as two underscores. */
  readonly toolName: string;
  /** Description for the model: the tool, and when to call it; at most 8,192 characters. */
  readonly description: string;
  /** JSON Schema of the arguments: an object at the root, and a part of the keywords. */
  readonly inputSchema: JsonObject;
  /** JSON Schema of the result, of the same kind; no default. */
  readonly outputSchema?: JsonObject | undefined;
  /** Where the tool runs: client://NAME, builtin:// with recall, add, supersede, forget or goals, an http(s) URL, or executor://NAME; required. */
  readonly location?: string | undefined;
  /** Another name for location. */
  readonly executorUri?: string | undefined;
  /** Arguments that take the place of those of the model, which is not told of them; no default. */
  readonly lockedParams?: JsonObject | undefined;
  /** Whether members that the schema does not name are refused; the default is false. */
  readonly strict?: boolean | undefined;
  /** Arguments of sample calls, which must fit the input_schema; the default is none. */
  readonly examples?: readonly JsonObject[] | undefined;
  /** The effects of a call; the default is none of them. */
  readonly annotations?: Annotation | undefined;
  /** Whether the tool answers later than its call; the default is false. */
  readonly asyncMode?: boolean | undefined;
};

export type PendingToolCall = {
  /** Id of the call, which its output names. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly toolName: string;
  /** Arguments of the call. */
  readonly arguments: JsonObject;
  /** Location of the tool, which begins with client://. */
  readonly executorUri: string;
  /** Time by which the caller must resume, in Unix seconds. */
  readonly expiresAt: Date;
};

export type HarnessChatOutput = {
  /** How the turn stands: completed, requires_action where the caller is to resume it, or cancelled; for a repeated request also what became of it since. */
  readonly status: "completed" | "requires_action" | "running" | "cancelled" | "failed" | "expired";
  /** The model's answer; empty unless the turn is completed. */
  readonly text: string;
  /** Id of the turn, as the answer to its message named it. */
  readonly sessionId: string;
  /** Id of the conversation, chosen by the caller: the session_id of its grains. The same id continues it. */
  readonly conversationId: string;
  /** Calls of tools that the caller is to run, each of which a resume answers. */
  readonly pendingToolCalls: readonly PendingToolCall[];
  /** Calls of tools that the server ran in this turn, in the order in which the model asked for them. */
  readonly inlineToolResults: readonly {
    /** Id of the call. */
    readonly toolCallId: string;
    /** Name of the tool. */
    readonly toolName: string;
    /** The answer of the tool, or the error; null without either. */
    readonly output: Json;
    /** Whether the call failed. */
    readonly isError: boolean;
    /** Hash of the action that records the call. */
    readonly actionHash: string;
  }[];
  /** Hashes of the actions of this turn. */
  readonly actionHashes: readonly string[];
  /** Hash of the event with the message. */
  readonly userEventHash: string;
  /** Hash of the event with the answer; null unless the turn is completed. */
  readonly assistantEventHash: string | null;
  /** Id of the provenance record that names every grain that the model was shown. */
  readonly recallId?: string | undefined;
  /** Parts of the request that were not fulfilled. */
  readonly warnings?: readonly string[] | undefined;
};

export type DeadLetter = {
  /** Cursor of the event; `since` one less reads it again while events are kept. */
  readonly cursor: string;
  /** Kind of the event. */
  readonly eventType: string;
  /** Time at which it was given up, in Unix seconds. */
  readonly timestamp: Date;
  /** Number of tries. */
  readonly attempts: number;
  /** Why the last try failed. */
  readonly reason: string;
};

export type Check = {
  /** Id of the check. */
  readonly id: string;
  /** Group of the check. */
  readonly group: string;
  /** Articles that the check serves. */
  readonly regulations: readonly {
    /** Code of the regulation, such as gdpr. */
    readonly regulation: string;
    /** Article or section of the regulation. */
    readonly article: string;
  }[];
  /** Severity of the check: critical, high, medium or low. */
  readonly severity: string;
  /** The property that the check verifies. */
  readonly description: string;
  /** Outcome of the check: pass, fail, warn or skip. */
  readonly status: string;
  /** The measurement of the check, in words. */
  readonly detail: string;
};

export type VerifyComplianceOutput = {
  /** Number of checks in the run. */
  readonly total: number;
  /** Number of checks that passed. */
  readonly pass: number;
  /** Number of checks that failed. */
  readonly fail: number;
  /** Number of checks that ended with a warning. */
  readonly warn: number;
  /** Number of checks that did not apply. */
  readonly skip: number;
  /** Share of the checks that were not skipped and passed, from 0 to 1. */
  readonly passRate: number;
  /** Id of the run. */
  readonly runId: string;
  /** The regulation whose checks ran; null for all checks. */
  readonly regulation: string | null;
  /** Time at which the run began, in Unix seconds. */
  readonly startedAt: Date;
  /** Time at which the run ended, in Unix seconds. */
  readonly finishedAt: Date;
  /** Every check of the run with its outcome. */
  readonly checks: readonly Check[];
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type ByGroup = {
  /** Number of checks. */
  readonly total: number;
  /** Number of checks that passed. */
  readonly pass: number;
  /** Number of checks that failed. */
  readonly fail: number;
  /** Number of checks that ended with a warning. */
  readonly warn: number;
  /** Number of checks that did not apply. */
  readonly skip: number;
};

export type Assessment = {
  /** The law: eu_ai_act or colorado_ai_act. */
  readonly framework: string;
  /** The article that demands the assessment. */
  readonly reference: string;
  /** State of the assessment; a risk class that needs none gives not_required. */
  readonly status: "complete" | "incomplete" | "overdue" | "not_required";
  /** Risk class that the policy states: minimal, limited or high. */
  readonly riskClass: string;
  /** Answers that the policy holds, by the name of the question. */
  readonly answers: JsonObject;
  /** Names of the questions that have no answer. */
  readonly gaps: readonly string[];
  /** Time of the last review in Unix seconds; null without one. */
  readonly lastReviewedAt: Date | null;
  /** Time at which the next review is due in Unix seconds, a year after the last; null without one. */
  readonly nextReviewAt: Date | null;
};

export type Extension = {
  /** Days that were added. */
  readonly days: number;
  /** Why; absent once the request names nobody. */
  readonly reason?: string | undefined;
  /** Time of the extension in Unix seconds. */
  readonly extendedAt: Date;
  /** Principal that extended it. */
  readonly extendedBy: string;
};

export type Held = {
  /** Time of the count in Unix seconds. */
  readonly asOf: Date;
  /** Number of grains, all versions. */
  readonly count: number;
  /** Grains by type. */
  readonly byType: readonly {
    /** Grain type. */
    readonly grainType: GrainType;
    /** Number of grains of the type. */
    readonly count: number;
    /** Creation time of the oldest one, in Unix seconds. */
    readonly oldestCreatedAt: Date;
    /** Creation time of the newest one, in Unix seconds. */
    readonly newestCreatedAt: Date;
  }[];
  /** Grains by month of creation, oldest first. */
  readonly byMonth: readonly {
    /** Month of creation in UTC, such as 2026-11. */
    readonly month: string;
    /** Number of grains of the month. */
    readonly count: number;
  }[];
  /** Number of consents on record. */
  readonly consents: number;
  /** Number of recalls about the person that left a record; null where they were not counted. */
  readonly recalls: number | null;
  /** Whether the data was restricted. */
  readonly restricted: boolean;
};

export type Erasure = {
  /** Time of the erasure in Unix seconds. */
  readonly erasedAt: Date;
  /** Number of grains that were erased. */
  readonly count: number;
  /** Fingerprint of the destroyed key; empty where nothing was held. */
  readonly keyFingerprint: string;
  /** The data held before, as counts and times. */
  readonly held?: Held | undefined;
};

export type Closed = {
  /** Time at which it was closed, in Unix seconds. */
  readonly closedAt: Date;
  /** Principal that closed it. */
  readonly closedBy: string;
  /** How the request ended. */
  readonly outcome: "fulfilled" | "partly_fulfilled" | "refused" | "withdrawn";
  /** Why, or what remains; absent once the request names nobody. */
  readonly note?: string | undefined;
};

export type OpenSubjectRequestOutput = {
  /** Id of the request. */
  readonly requestId: string;
  /** Whether the request is still to be answered. */
  readonly status: "open" | "closed";
  /** The act that the person asks for (GDPR): access (Art. 15), portability (20), erasure (17), rectification (16), restriction (18) or objection (21). */
  readonly kind: "access" | "portability" | "erasure" | "rectification" | "restriction" | "objection";
  /** The person; absent once the request was closed and the person erased, as are all free texts. */
  readonly userId?: string | undefined;
  /** Requester, in the operator's words. */
  readonly requester?: string | undefined;
  /** The operator's note. */
  readonly note?: string | undefined;
  /** Time at which the request reached the operator, in Unix seconds. */
  readonly receivedAt: Date;
  /** Time at which it was recorded here, in Unix seconds. */
  readonly openedAt: Date;
  /** Principal that recorded it. */
  readonly openedBy: string;
  /** Time by which it must be answered, in Unix seconds. */
  readonly dueAt: Date;
  /** Days that the law allows, with the extension. */
  readonly daysAllowed: number;
  /** Whole days that have passed, up to its end. */
  readonly daysUsed: number;
  /** Whole days that are left; 0 once it is due. */
  readonly daysLeft: number;
  /** Whether it is, or was closed, past the time by which it was due. */
  readonly overdue: boolean;
  /** The extension; absent without one. */
  readonly extension?: Extension | undefined;
  /** The erasure by this request; absent without one. */
  readonly erasure?: Erasure | undefined;
  /** The end of the request; absent while it is open. */
  readonly closed?: Closed | undefined;
  /** Members of the request that were ignored, and other notes. */
  readonly warnings?: readonly string[] | undefined;
};

export type Request = {
  /** Id of the request. */
  readonly requestId: string;
  /** Whether the request is still to be answered. */
  readonly status: "open" | "closed";
  /** The act that the person asks for (GDPR): access (Art. 15), portability (20), erasure (17), rectification (16), restriction (18) or objection (21). */
  readonly kind: "access" | "portability" | "erasure" | "rectification" | "restriction" | "objection";
  /** The person; absent once the request was closed and the person erased, as are all free texts. */
  readonly userId?: string | undefined;
  /** Requester, in the operator's words. */
  readonly requester?: string | undefined;
  /** The operator's note. */
  readonly note?: string | undefined;
  /** Time at which the request reached the operator, in Unix seconds. */
  readonly receivedAt: Date;
  /** Time at which it was recorded here, in Unix seconds. */
  readonly openedAt: Date;
  /** Principal that recorded it. */
  readonly openedBy: string;
  /** Time by which it must be answered, in Unix seconds. */
  readonly dueAt: Date;
  /** Days that the law allows, with the extension. */
  readonly daysAllowed: number;
  /** Whole days that have passed, up to its end. */
  readonly daysUsed: number;
  /** Whole days that are left; 0 once it is due. */
  readonly daysLeft: number;
  /** Whether it is, or was closed, past the time by which it was due. */
  readonly overdue: boolean;
  /** The extension; absent without one. */
  readonly extension?: Extension | undefined;
  /** The erasure by this request; absent without one. */
  readonly erasure?: Erasure | undefined;
  /** The end of the request; absent while it is open. */
  readonly closed?: Closed | undefined;
};

/** Input and output of each operation. */
export interface Operations {
  /** Add a grain. A flat body is a belief; a body with fields is a grain of any type. A grain that the memory holds already is not stored again. */
  add: {
    input: {
      /** Subject of a flat belief. */
      readonly subject?: string | undefined;
      /** Relation of a flat belief. */
      readonly relation?: string | undefined;
      /** Object of a flat belief. */
      readonly object?: string | undefined;
      /** Confidence from 0 to 1; the default is 1. */
      readonly confidence?: number | undefined;
      /** Namespace of the grain; the default is default. */
      readonly namespace?: string | undefined;
      /** Tags of the grain; the default is none. */
      readonly tags?: readonly string[] | undefined;
      /** Type of the grain; the default is belief. */
      readonly grainType?: GrainType | undefined;
      /** Fields of the grain in the nested shape; another type than belief needs it. */
      readonly fields?: JsonObject | undefined;
      /** Further steps besides storing the grain. */
      readonly options?: Option | undefined;
      /** Purpose of the processing, which consent is checked for; the default is storage. */
      readonly purpose?: string | undefined;
      readonly [other: string]: unknown;
    };
    output: {
      /** Hash of the stored grain, or of the grain that it duplicates. */
      readonly blobHash: string;
      /** Always added, for a duplicate too. */
      readonly status: "added";
      /** True when the memory held the grain already; absent otherwise. */
      readonly duplicate?: true | undefined;
      /** Number of beliefs that were extracted; only with extract_memories. */
      readonly extractedCount?: number | undefined;
      /** Parts of the request that were ignored or not fulfilled. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Add up to 1,000 grains of any type; each one succeeds or fails alone. Refused grains are listed in errors, and grains that the memory held already in duplicates. */
  batchAdd: {
    input: {
      /** The grains to add, at most 1,000; common fields may be outside fields, where they take precedence. */
      readonly grains: readonly {
        /** Type of the grain. */
        readonly grainType: GrainType;
        /** Fields of the grain: those of its type, common fields, and any others, which are kept. */
        readonly fields: JsonObject;
        readonly [other: string]: unknown;
      }[];
      /** Namespace of the grains that name none; the default is default. */
      readonly namespace?: string | undefined;
      /** Tags that every grain gets in addition to its own. */
      readonly tags?: readonly string[] | undefined;
      /** Further steps besides storing the grains. */
      readonly options?: Option | undefined;
      /** Purpose of the processing, which consent is checked for; the default is storage. */
      readonly purpose?: string | undefined;
    };
    output: {
      /** The grains that were stored, in order. */
      readonly added: readonly {
        /** Position of the grain in the request, from 0. */
        readonly index: number;
        /** Hash of the stored grain. */
        readonly blobHash: string;
        /** Type of the grain. */
        readonly grainType: GrainType;
      }[];
      /** The grains that were refused; the others are stored. */
      readonly errors: readonly {
        /** Position of the grain in the request, from 0. */
        readonly index: number;
        /** Type of the grain as it was sent, known or not. */
        readonly grainType: string;
        /** Error code. */
        readonly code: string;
        /** Error message. */
        readonly error: string;
      }[];
      /** The grains that the memory held already. */
      readonly duplicates: readonly {
        /** Position of the grain in the request, from 0. */
        readonly index: number;
        /** Hash of the grain that the memory held already. */
        readonly blobHash: string;
      }[];
      /** Number of grains that were stored. */
      readonly totalAdded: number;
      /** Number of grains that were refused. */
      readonly totalErrors: number;
      /** Number of grains that the memory held already. */
      readonly totalDuplicates: number;
      /** Number of beliefs that were extracted; only with extract_memories. */
      readonly extractedCount?: number | undefined;
      /** Parts of the request that were ignored or not fulfilled. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Find grains by words, by structure, or by both. Sixty fields say what is looked for, how it is ranked and what the answer holds; every one is optional. */
  recall: {
    input: {
      /** Free text to search for. The operators "a phrase", +word, -word and field:term move hits up and down; see query_mode. */
      readonly query?: string | undefined;
      /** Only grains with exactly this subject. */
      readonly subject?: string | undefined;
      /** Only grains with exactly this relation. */
      readonly relation?: string | undefined;
      /** Only grains with exactly this object. */
      readonly object?: string | undefined;
      /** Only grains of exactly this namespace. */
      readonly namespace?: string | undefined;
      /** Only grains of this data subject. */
      readonly userId?: string | undefined;
      /** Only grains of this type. */
      readonly grainType?: GrainType | undefined;
      /** Only grains from this time on, in Unix seconds, by the time of temporal_field. */
      readonly timeStart?: Date | undefined;
      /** Only grains up to the end of this second, in Unix seconds, by the time of temporal_field. */
      readonly timeEnd?: Date | undefined;
      /** Only grains of at least this confidence; a grain without one has 1. */
      readonly confidenceThreshold?: number | undefined;
      /** Only grains of at least this importance; a grain without one is dropped. */
      readonly importanceThreshold?: number | undefined;
      /** Number of hits at most; 0 is the default of 20, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Phrase of time in UTC, such as "last month" or "2024-05", which narrows time_start and time_end further. */
      readonly temporalExpr?: string | undefined;
      /** Only grains that have all of these tags. */
      readonly tags?: readonly string[] | undefined;
      /** Only grains that have none of these tags. */
      readonly excludeTags?: readonly string[] | undefined;
      /** Marks hits of one user, subject and relation with different objects: the newest as current, the others as outdated, which lose 0.20. */
      readonly detectContradictions?: boolean | undefined;
      /** Only grains whose namespace is this path, lies above it (acme of acme/prod) or lies below it. */
      readonly scopePath?: string | undefined;
      /** With scope_path: also grains of the namespaces that have the same parent. */
      readonly includeSiblings?: boolean | undefined;
      /** Keeps one of several hits with the same subject and relation and similar objects: that of the highest confidence, then the newest. */
      readonly deduplicate?: boolean | undefined;
      /** With deduplicate: similarity of objects, from 0 to 1, from which they are the same; 1 − edit distance / length of the longer. */
      readonly deduplicateThreshold?: number | undefined;
      /** Only grains whose subject contains this text, in any case. */
      readonly subjectContains?: string | undefined;
      /** Only grains whose object contains this text, in any case. */
      readonly objectContains?: string | undefined;
      /** Leaves old versions out; false finds them too, marked superseded and 0.15 lower. */
      readonly excludeSuperseded?: boolean | undefined;
      /** Keeps hits that are outdated by detect_contradictions or retracted; false drops them. */
      readonly includeContradicted?: boolean | undefined;
      /** Vector of the query, in place of the server's own; it needs the dimensions of the memory's vectors. */
      readonly embedding?: readonly number[] | undefined;
      /** Hits of each leg before fusion; 0 or absent is the larger of 100 and 5 × limit, and above 2,500 is treated as 2,500. */
      readonly candidateLimit?: number | undefined;
      /** Drops hits of a relevance below this: the probability, from 0 to 1, that a hit bears on the query. */
      readonly minScore?: number | undefined;
      /** Fills score_breakdown: how each score came about. */
      readonly scoreBreakdown?: boolean | undefined;
      /** Fills explanation, the breakdown as a sentence, and over HTTP excluded. */
      readonly explanation?: boolean | undefined;
      /** Weight w of recency, from 0 to 1: (1 − w) × score + w / (1 + age in hours), except for grains of temporal_type state. */
      readonly recencyWeight?: number | undefined;
      /** Keeps the newest object alone for each user, subject and relation. */
      readonly conflictResolution?: boolean | undefined;
      /** Whether the recall leaves a record; the default is what the policy says, and true leaves one anyway. */
      readonly recordProvenance?: boolean | undefined;
      /** Only grains with this value as subject or object, in place of subject, relation and object. */
      readonly entity?: string | undefined;
      /** Puts the best 30 hits (50 with a model that the server runs itself) in the order of the model of the role rerank. */
      readonly rerank?: boolean | undefined;
      /** Chooses the hits by maximal marginal relevance among the best 400: 1 is relevance alone, 0 difference alone. */
      readonly diversityLambda?: number | undefined;
      /** Also searches for other forms of the words, for synonyms and for similar spellings. */
      readonly queryExpansion?: boolean | undefined;
      /** Also searches for what an answer imagined by the model of the role hyde is like. */
      readonly hyde?: boolean | undefined;
      /** Puts the best 20 hits in the order of a language model, after rerank. */
      readonly llmRerank?: boolean | undefined;
      /** Time that the fields of time mean: created_at, event_date (valid_from of the grain) or both. */
      readonly temporalField?: "created_at" | "event_date" | "both" | undefined;
      /** Adds the grains that the hits were derived from, as sources. */
      readonly includeSources?: boolean | undefined;
      /** Fills relative_time, such as "2 weeks ago". */
      readonly annotateRelativeTime?: boolean | undefined;
      /** Time that temporal_expr and relative_time take for now, in Unix seconds; the default is now. */
      readonly referenceDate?: Date | undefined;
      /** Share of the score that hits of the most frequent namespace of the top ten gain. */
      readonly sessionAffinityBoost?: number | undefined;
      /** Share of the score that hits of the most frequent subject of the top ten gain. */
      readonly subjectAffinityBoost?: number | undefined;
      /** Number of hops over entities from the top ten; each is a ranking that is fused. */
      readonly multiHop?: number | undefined;
      /** Time that hits should be near, in Unix seconds: it adds 0.15, falling to 0.05 a week and to 0 thirty days away. */
      readonly targetDate?: Date | undefined;
      /** With target_date: weight w of nearness, from 0 to 1: (1 − w) × score + w / (1 + hours away). */
      readonly targetDateWeight?: number | undefined;
      /** Also asks two to four parts of the question, and fuses the rankings. */
      readonly queryDecompose?: boolean | undefined;
      /** With conflict_resolution: drops only objects that are at least this similar to the newest, from 0 to 1. */
      readonly conflictSimilarityThreshold?: number | undefined;
      /** Fills entities, the different subjects of the answer, and entity_count. */
      readonly countEntities?: boolean | undefined;
      /** Places kept for each namespace that was found; 0 keeps none. */
      readonly minPerNamespace?: number | undefined;
      /** Number of namespaces to keep, those with the best mean score; 0 keeps all. */
      readonly maxNamespaces?: number | undefined;
      /** Starts from ten times the candidates, then follows the entities of what it finds, round by round. */
      readonly exhaustive?: boolean | undefined;
      /** With exhaustive: number of rounds at most; 0 is the default of 3. */
      readonly exhaustiveMaxRounds?: number | undefined;
      /** Also asks sessions (namespaces) that the answer lacks. */
      readonly sessionCensus?: boolean | undefined;
      /** With session_census: number of hits of each session; 0 is the default of 2. */
      readonly sessionCensusMinPerSession?: number | undefined;
      /** With session_census: what its hits must match at least, from 0 to 1. */
      readonly sessionCensusMinScore?: number | undefined;
      /** With session_census: number of sessions to ask; 0 is the default of 10. */
      readonly sessionCensusMaxQueries?: number | undefined;
      /** Finds old versions too, with the same scores as the others. */
      readonly aggregationIntent?: boolean | undefined;
      /** Adds what was said near the preferences among the top ten; the default is to do so when the query asks what somebody likes. */
      readonly preferenceEnrichment?: boolean | undefined;
      /** Whether the operators of the query are conditions (operators) or only move hits up and down (natural); the default is x-query-mode, else natural. */
      readonly queryMode?: "natural" | "operators" | undefined;
      /** Milliseconds to wait until the indexes cover every acknowledged write; the default is x-wait-for-index-ms, else 0. */
      readonly waitForIndexMs?: number | undefined;
    };
    output: {
      /** Number of results. */
      readonly count: number;
      /** The hits, best first. */
      readonly results: readonly Result[];
      /** Grains that the hits were derived from; only with include_sources. */
      readonly sources?: readonly Result[] | undefined;
      /** True when the results end before the limit because they are too large together. */
      readonly truncated?: true | undefined;
      /** Number of grains that were found before the limit; a lower bound where a warning says so. */
      readonly totalCandidates: number;
      /** How well the hits cover the words of the query: none, partial or full; null without a query. */
      readonly topicCoverage: string | null;
      /** Id of the provenance record; absent where neither the policy nor the caller wants one. */
      readonly recallId?: string | undefined;
      /** Parts of the request that were ignored or not fulfilled, and limits that were reached. */
      readonly warnings: readonly string[];
      /** Number of entities; only with count_entities. */
      readonly entityCount?: number | undefined;
      /** Different subjects of the results; only with count_entities. */
      readonly entities?: readonly string[] | undefined;
      /** Figures of the exhaustive recall; only with exhaustive. */
      readonly exhaustiveMetadata?: {
        /** Number of rounds that ran. */
        readonly roundsExecuted: number;
        /** Requested entities, in order. */
        readonly entitiesFound: readonly string[];
        /** Number of different grains before the first round. */
        readonly initialUniqueCount: number;
        /** Number of different grains after the last round. */
        readonly finalUniqueCount: number;
        /** Figures of each round. */
        readonly roundStats: readonly {
          /** Number of the round, from 1. */
          readonly round: number;
          /** Number of queries of the round. */
          readonly queriesIssued: number;
          /** Number of grains that the round added. */
          readonly newHashes: number;
          /** Number of grains that matched too little. */
          readonly filteredByMinScore: number;
          /** Number of grains that the limit of a round left out. */
          readonly budgetCapped: number;
        }[];
        /** Whether the rounds ended because nothing new was found. */
        readonly converged: boolean;
        /** Number of grains that matched too little, in all rounds. */
        readonly expansionGrainsFiltered: number;
        /** Number of grains that the limit of a round left out, in all rounds. */
        readonly expansionGrainsBudgetCapped: number;
        /** Score that added grains stay at or below; absent when there was no hit before. */
        readonly expansionScoreCap?: number | undefined;
      } | undefined;
      /** Figures of the census of sessions; only with session_census. */
      readonly sessionCensusMetadata?: {
        /** Number of sessions that the recall could find grains in. */
        readonly totalSessions: number;
        /** Number of sessions in the answer, with those that the census added. */
        readonly representedSessions: number;
        /** Number of sessions that were searched. */
        readonly censusQueriesIssued: number;
        /** Number of grains that the census added. */
        readonly grainsAdded: number;
        /** Figures of each session that was searched. */
        readonly sessionStats: readonly {
          /** Namespace of the session. */
          readonly namespace: string;
          /** Number of grains that were found. */
          readonly grainsFound: number;
          /** Number of grains that matched well enough to be added. */
          readonly grainsMerged: number;
          /** Best score in the session. */
          readonly topScore: number;
        }[];
      } | undefined;
      /** Share of the sessions that the answer represents, from 0 to 1; only with session_census. */
      readonly sessionCoverageRatio?: number | undefined;
      /** Number of candidates that are not among the results, by reason; only with explanation over HTTP. */
      readonly excluded?: { readonly [name: string]: number } | undefined;
    };
  };
  /** Split a question, recall each part, and use what one part finds in the next. Several questions, comparisons, lists and joined clauses are asked side by side; possessives and relative clauses are hops. The rankings are fused. */
  recallChain: {
    input: {
      /** The question to take apart. */
      readonly question: string;
      /** Number of parts at most, from 2 to 8; 0 or absent is 4. */
      readonly maxSubQueries?: number | 0 | undefined;
      /** Fields of each recall, without its query. */
      readonly params?: {
        /** Free text to search for. The operators "a phrase", +word, -word and field:term move hits up and down; see query_mode. */
        readonly query?: string | undefined;
        /** Only grains with exactly this subject. */
        readonly subject?: string | undefined;
        /** Only grains with exactly this relation. */
        readonly relation?: string | undefined;
        /** Only grains with exactly this object. */
        readonly object?: string | undefined;
        /** Only grains of exactly this namespace. */
        readonly namespace?: string | undefined;
        /** Only grains of this data subject. */
        readonly userId?: string | undefined;
        /** Only grains of this type. */
        readonly grainType?: GrainType | undefined;
        /** Only grains from this time on, in Unix seconds, by the time of temporal_field. */
        readonly timeStart?: Date | undefined;
        /** Only grains up to the end of this second, in Unix seconds, by the time of temporal_field. */
        readonly timeEnd?: Date | undefined;
        /** Only grains of at least this confidence; a grain without one has 1. */
        readonly confidenceThreshold?: number | undefined;
        /** Only grains of at least this importance; a grain without one is dropped. */
        readonly importanceThreshold?: number | undefined;
        /** Number of hits at most; 0 is the default of 20, and above 500 is treated as 500. */
        readonly limit?: number | undefined;
        /** Phrase of time in UTC, such as "last month" or "2024-05", which narrows time_start and time_end further. */
        readonly temporalExpr?: string | undefined;
        /** Only grains that have all of these tags. */
        readonly tags?: readonly string[] | undefined;
        /** Only grains that have none of these tags. */
        readonly excludeTags?: readonly string[] | undefined;
        /** Marks hits of one user, subject and relation with different objects: the newest as current, the others as outdated, which lose 0.20. */
        readonly detectContradictions?: boolean | undefined;
        /** Only grains whose namespace is this path, lies above it (acme of acme/prod) or lies below it. */
        readonly scopePath?: string | undefined;
        /** With scope_path: also grains of the namespaces that have the same parent. */
        readonly includeSiblings?: boolean | undefined;
        /** Keeps one of several hits with the same subject and relation and similar objects: that of the highest confidence, then the newest. */
        readonly deduplicate?: boolean | undefined;
        /** With deduplicate: similarity of objects, from 0 to 1, from which they are the same; 1 − edit distance / length of the longer. */
        readonly deduplicateThreshold?: number | undefined;
        /** Only grains whose subject contains this text, in any case. */
        readonly subjectContains?: string | undefined;
        /** Only grains whose object contains this text, in any case. */
        readonly objectContains?: string | undefined;
        /** Leaves old versions out; false finds them too, marked superseded and 0.15 lower. */
        readonly excludeSuperseded?: boolean | undefined;
        /** Keeps hits that are outdated by detect_contradictions or retracted; false drops them. */
        readonly includeContradicted?: boolean | undefined;
        /** Vector of the query, in place of the server's own; it needs the dimensions of the memory's vectors. */
        readonly embedding?: readonly number[] | undefined;
        /** Hits of each leg before fusion; 0 or absent is the larger of 100 and 5 × limit, and above 2,500 is treated as 2,500. */
        readonly candidateLimit?: number | undefined;
        /** Drops hits of a relevance below this: the probability, from 0 to 1, that a hit bears on the query. */
        readonly minScore?: number | undefined;
        /** Fills score_breakdown: how each score came about. */
        readonly scoreBreakdown?: boolean | undefined;
        /** Fills explanation, the breakdown as a sentence, and over HTTP excluded. */
        readonly explanation?: boolean | undefined;
        /** Weight w of recency, from 0 to 1: (1 − w) × score + w / (1 + age in hours), except for grains of temporal_type state. */
        readonly recencyWeight?: number | undefined;
        /** Keeps the newest object alone for each user, subject and relation. */
        readonly conflictResolution?: boolean | undefined;
        /** Whether the recall leaves a record; the default is what the policy says, and true leaves one anyway. */
        readonly recordProvenance?: boolean | undefined;
        /** Only grains with this value as subject or object, in place of subject, relation and object. */
        readonly entity?: string | undefined;
        /** Puts the best 30 hits (50 with a model that the server runs itself) in the order of the model of the role rerank. */
        readonly rerank?: boolean | undefined;
        /** Chooses the hits by maximal marginal relevance among the best 400: 1 is relevance alone, 0 difference alone. */
        readonly diversityLambda?: number | undefined;
        /** Also searches for other forms of the words, for synonyms and for similar spellings. */
        readonly queryExpansion?: boolean | undefined;
        /** Also searches for what an answer imagined by the model of the role hyde is like. */
        readonly hyde?: boolean | undefined;
        /** Puts the best 20 hits in the order of a language model, after rerank. */
        readonly llmRerank?: boolean | undefined;
        /** Time that the fields of time mean: created_at, event_date (valid_from of the grain) or both. */
        readonly temporalField?: "created_at" | "event_date" | "both" | undefined;
        /** Adds the grains that the hits were derived from, as sources. */
        readonly includeSources?: boolean | undefined;
        /** Fills relative_time, such as "2 weeks ago". */
        readonly annotateRelativeTime?: boolean | undefined;
        /** Time that temporal_expr and relative_time take for now, in Unix seconds; the default is now. */
        readonly referenceDate?: Date | undefined;
        /** Share of the score that hits of the most frequent namespace of the top ten gain. */
        readonly sessionAffinityBoost?: number | undefined;
        /** Share of the score that hits of the most frequent subject of the top ten gain. */
        readonly subjectAffinityBoost?: number | undefined;
        /** Number of hops over entities from the top ten; each is a ranking that is fused. */
        readonly multiHop?: number | undefined;
        /** Time that hits should be near, in Unix seconds: it adds 0.15, falling to 0.05 a week and to 0 thirty days away. */
        readonly targetDate?: Date | undefined;
        /** With target_date: weight w of nearness, from 0 to 1: (1 − w) × score + w / (1 + hours away). */
        readonly targetDateWeight?: number | undefined;
        /** Also asks two to four parts of the question, and fuses the rankings. */
        readonly queryDecompose?: boolean | undefined;
        /** With conflict_resolution: drops only objects that are at least this similar to the newest, from 0 to 1. */
        readonly conflictSimilarityThreshold?: number | undefined;
        /** Fills entities, the different subjects of the answer, and entity_count. */
        readonly countEntities?: boolean | undefined;
        /** Places kept for each namespace that was found; 0 keeps none. */
        readonly minPerNamespace?: number | undefined;
        /** Number of namespaces to keep, those with the best mean score; 0 keeps all. */
        readonly maxNamespaces?: number | undefined;
        /** Starts from ten times the candidates, then follows the entities of what it finds, round by round. */
        readonly exhaustive?: boolean | undefined;
        /** With exhaustive: number of rounds at most; 0 is the default of 3. */
        readonly exhaustiveMaxRounds?: number | undefined;
        /** Also asks sessions (namespaces) that the answer lacks. */
        readonly sessionCensus?: boolean | undefined;
        /** With session_census: number of hits of each session; 0 is the default of 2. */
        readonly sessionCensusMinPerSession?: number | undefined;
        /** With session_census: what its hits must match at least, from 0 to 1. */
        readonly sessionCensusMinScore?: number | undefined;
        /** With session_census: number of sessions to ask; 0 is the default of 10. */
        readonly sessionCensusMaxQueries?: number | undefined;
        /** Finds old versions too, with the same scores as the others. */
        readonly aggregationIntent?: boolean | undefined;
        /** Adds what was said near the preferences among the top ten; the default is to do so when the query asks what somebody likes. */
        readonly preferenceEnrichment?: boolean | undefined;
      } | undefined;
      /** Whether the operators of the query are conditions (operators) or only move hits up and down (natural); the default is x-query-mode, else natural. */
      readonly queryMode?: "natural" | "operators" | undefined;
      /** Milliseconds to wait until the indexes cover every acknowledged write; the default is x-wait-for-index-ms, else 0. */
      readonly waitForIndexMs?: number | undefined;
    };
    output: {
      /** The parts of the question, in the order of their recalls. */
      readonly subQueries: readonly string[];
      /** Hits of each part. */
      readonly subResults: readonly {
        /** The part of the question. */
        readonly query: string;
        /** Number of hits of the part. */
        readonly count: number;
        /** Hits of the part, best first. */
        readonly results: readonly Result[];
      }[];
      /** Hits of all parts, fused, best first. */
      readonly results: readonly Result[];
      /** Number of fused hits. */
      readonly count: number;
      /** How the question was read. */
      readonly reasoning: string;
      /** Parts of the request that were ignored or not fulfilled. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Find grains by words alone (BM25). The order is that of BM25 alone: no vectors and no stages of a recall. */
  search: {
    input: {
      /** Words to search for; "a phrase", +must, -not and field:term are operators. */
      readonly query: string;
      /** Number of hits at most; 0 or absent is 20, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Only grains of this namespace; the default is all. */
      readonly namespace?: string | undefined;
      /** Only grains of this type; the default is all. */
      readonly grainType?: GrainType | undefined;
      /** Only grains of this data subject. */
      readonly userId?: string | undefined;
    };
    output: {
      /** Number of results. */
      readonly count: number;
      /** The hits, best first. */
      readonly results: readonly Result[];
      /** True when the results end before the limit because they are too large together. */
      readonly truncated?: true | undefined;
      /** Which bounds were met. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the grains of a memory, newest first. Conditions narrow the list; without any, it contains every current grain. */
  listGrains: {
    input: {
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
      /** Only grains of these types; the default is all. */
      readonly grainType?: readonly GrainType[] | undefined;
      /** Only grains of this namespace; the default is all. */
      readonly namespace?: string | undefined;
      /** Only grains of this data subject. */
      readonly userId?: string | undefined;
      /** Only grains with exactly this subject. */
      readonly subject?: string | undefined;
      /** Only grains with exactly this relation. */
      readonly relation?: string | undefined;
      /** Only grains that have all of these tags. */
      readonly tag?: readonly string[] | undefined;
      /** Only grains of this session. */
      readonly sessionId?: string | undefined;
      /** Only grains created at this time or later, in Unix seconds. */
      readonly createdAfter?: Date | undefined;
      /** Only grains created at this time or earlier, in Unix seconds. */
      readonly createdBefore?: Date | undefined;
      /** Whether old versions are listed; the default is false. */
      readonly includeSuperseded?: boolean | undefined;
      /** Only grains whose hash begins with these 8 to 64 hexadecimal digits. */
      readonly hashPrefix?: string | undefined;
    };
    output: {
      /** The grains of the page. */
      readonly grains: readonly Grain[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show a grain by its hash, in any version. An old version names its successor in superseded_by. */
  get: {
    input: {
      /** Hash of the grain, in any version. */
      readonly hash: string;
    };
    output: {
      /** Hash of the grain: SHA-256 of its plaintext blob, 64 hexadecimal digits. */
      readonly blobHash: string;
      /** The same as blob_hash. */
      readonly hash: string;
      /** Type of the grain. */
      readonly grainType: GrainType;
      /** The grain as one plain sentence, at most 300 characters; a longer one ends with an ellipsis. */
      readonly text: string;
      /** Every field of the grain, with defaults filled in. */
      readonly fields: JsonObject;
      /** Time at which the grain was created, in Unix seconds. */
      readonly createdAt: Date;
      /** Namespace of the grain. */
      readonly namespace: string;
      /** The data subject; absent where there is none. */
      readonly userId?: string | undefined;
      /** Hash of the next version; absent for the current one. */
      readonly supersededBy?: string | undefined;
      /** Hash of the version before; absent for the first one. */
      readonly supersedes?: string | undefined;
      /** Further sources of the grain, the newest first. */
      readonly sources?: readonly string[] | undefined;
      /** Whether this version is current or superseded. */
      readonly versionStatus: "current" | "superseded";
      /** Size of the blob in bytes. */
      readonly sizeBytes: number;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Download the plaintext .mg blob of a grain, whose SHA-256 is the hash. The answer has the hash as its ETag. */
  getRaw: {
    input: {
      /** Hash of the grain, in any version. */
      readonly hash: string;
    };
    output: Uint8Array;
  };
  /** Store a text as an event, and what it says as beliefs. The text can be recalled at once; beliefs are extracted after the answer, or before it with extract_mode sync. */
  remember: {
    input: {
      /** The text to remember, at most 256 KiB. */
      readonly text?: string | undefined;
      /** The messages in order, in place of a text; at most 1,000. */
      readonly messages?: readonly {
        /** The speaker: user, assistant, system or tool. */
        readonly role: string;
        /** The text of the message. */
        readonly content: string;
        /** Time of the message in Unix seconds; the default is a second after the message before. */
        readonly time?: Date | undefined;
      }[] | undefined;
      /** The data subject. */
      readonly userId?: string | undefined;
      /** Namespace of the grains; the default is default. */
      readonly namespace?: string | undefined;
      /** Tags of the source event; the default is none. */
      readonly tags?: readonly string[] | undefined;
      /** Whether beliefs are extracted after the answer (async) or before it (sync); the default is async. */
      readonly extractMode?: "async" | "sync" | undefined;
      /** Whether the source is kept after the extraction; the default is true. */
      readonly keepSource?: boolean | undefined;
      /** Kind of the source; the default is user. */
      readonly sourceType?: string | undefined;
      /** Time of the text in Unix seconds; the default is now. */
      readonly createdAt?: Date | undefined;
      /** Confidence of the source event, from 0 to 1; the default is 1. */
      readonly confidence?: number | undefined;
      /** Session that the text belongs to; messages without one get a new session. */
      readonly sessionId?: string | undefined;
      /** Whether the first date in the text sets valid_from where that is unset; the default is false. */
      readonly extractEventDate?: boolean | undefined;
      /** Whether up to 5 similar grains of the same user and namespace become related_to; the default is false. */
      readonly autoRelate?: boolean | undefined;
      /** Purpose of the processing, which consent is checked for; the default is storage. */
      readonly purpose?: string | undefined;
      /** Another name of text. */
      readonly content?: string | undefined;
    };
    output: {
      /** Hash of the source event; the first one of messages. */
      readonly sourceHash: string;
      /** Hashes of the events of messages that were stored, in order. */
      readonly sourceHashes?: readonly string[] | undefined;
      /** The messages that were refused. */
      readonly errors?: readonly {
        /** Position of the message in the request, from 0. */
        readonly index: number;
        /** Error code. */
        readonly code: string;
        /** Error message. */
        readonly error: string;
      }[] | undefined;
      /** Session of the messages. */
      readonly sessionId?: string | undefined;
      /** Whether the extraction runs after the answer (async) or ran before it (sync). */
      readonly mode: "async" | "sync";
      /** Hashes of the beliefs that were extracted; empty while the extraction is pending. */
      readonly extractedHashes: readonly string[];
      /** Number of beliefs that were extracted. */
      readonly extractedCount: number;
      /** Hashes of extracted beliefs that the memory held already. */
      readonly duplicates: readonly string[];
      /** Parts of the request that were ignored or not fulfilled. */
      readonly warnings: readonly string[];
      /** Whether the source was forgotten after the extraction. */
      readonly sourceForgotten: boolean;
      /** State of the extraction. */
      readonly markerStatus: "pending" | "done" | "failed";
      /** The same as source_hash. */
      readonly blobHash: string;
      /** Always remembered. */
      readonly status: "remembered";
    };
  };
  /** Replace a grain by a new version. Fields that are not sent carry forward; the old version stays readable by its hash. */
  supersede: {
    input: {
      /** Hash of the version to supersede, which must be current. */
      readonly blobHash: string;
      /** New values of fields in the nested shape; what is not sent carries forward, and null drops a field. */
      readonly fields?: JsonObject | undefined;
      /** Type of the grain, which must be that of the old version; the default is that type. */
      readonly grainType?: GrainType | undefined;
      /** Why the grain is superseded, which a policy may demand; the default is the x-reason header. */
      readonly reason?: string | undefined;
      readonly [other: string]: unknown;
    };
    output: {
      /** Hash of the new version. */
      readonly blobHash: string;
      /** Hash of the new version. */
      readonly newHash: string;
      /** Hash of the version that was superseded. */
      readonly superseded: string;
      /** Always superseded. */
      readonly status: "superseded";
      /** Parts of the request that were ignored or not fulfilled. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Add to the numbers of a grain, which makes a new version of it. The newest version is changed, whichever version is named; concurrent calls all count. */
  accumulate: {
    input: {
      /** Hash of the grain in any of its versions; the newest version is changed. */
      readonly blobHash?: string | undefined;
      /** Namespace to look for subject and relation in; the default is the whole memory. */
      readonly namespace?: string | undefined;
      /** With relation, in place of a hash: the newest current grain with this subject. */
      readonly subject?: string | undefined;
      /** With subject, in place of a hash: the newest current grain with this relation. */
      readonly relation?: string | undefined;
      /** Numbers to add, by field; a field that is missing starts at 0. */
      readonly deltas: { readonly [name: string]: number };
      /** Fields to set to these values in the new version. */
      readonly set?: JsonObject | undefined;
      /** Why the grain is changed; the default is the x-reason header. */
      readonly reason?: string | undefined;
    };
    output: {
      /** Hash of the version that was current before. */
      readonly oldHash: string;
      /** Hash of the new version. */
      readonly newHash: string;
      /** The amounts that were added, field by field. */
      readonly applied: readonly {
        /** Name of the field. */
        readonly field: string;
        /** Value before. */
        readonly old: Json;
        /** Value after. */
        readonly new: Json;
      }[];
      /** All fields of the new version. */
      readonly fields: JsonObject;
      /** Hash of the new version. */
      readonly blobHash: string;
      /** Always accumulated. */
      readonly status: "accumulated";
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Forget grains by hash or subject, or erase a user. Blob and index entries are removed at once. A user_id alone erases the user, which needs a key of an admin. */
  forget: {
    input: {
      /** Hash of the grain to forget. */
      readonly hash?: string | undefined;
      /** Hashes of the grains to forget, at most 1,000. */
      readonly hashes?: readonly string[] | undefined;
      /** Forgets every grain with exactly this subject, all versions. */
      readonly subject?: string | undefined;
      /** Alone: the user to erase; with hashes or a subject: only grains of this user. */
      readonly userId?: string | undefined;
      /** Why the grains are forgotten, which a policy may demand; the default is the x-reason header. */
      readonly reason?: string | undefined;
      /** Whether only to tell what would be removed; the default is the x-dry-run header, else false. */
      readonly dryRun?: boolean | undefined;
    };
    output: {
      /** Number of grains that were forgotten. */
      readonly deleted: number;
      /** Hashes of the grains that were forgotten. */
      readonly hashes: readonly string[];
      /** Requested hashes that the memory does not hold. */
      readonly notFound: readonly string[];
      /** Always forgotten. */
      readonly status: "forgotten";
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    } | {
      /** The user who was erased. */
      readonly userId: string;
      /** Number of grains that were deleted, all versions; 0 when the user was erased before. */
      readonly count: number;
      /** First 16 hexadecimal digits of the SHA-256 of the destroyed key; empty for an unknown user. */
      readonly keyFingerprint: string;
      /** Time of the erasure in Unix seconds; a repeated call gives the time of the first one. */
      readonly timestamp: Date;
      /** Hash of the audit entry of the erasure. */
      readonly auditEntryHash?: string | undefined;
      /** Always erased. */
      readonly status: "erased";
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    } | {
      /** True for a dry run: nothing was removed. */
      readonly dryRun: true;
      /** Number of grains that would be removed. */
      readonly count: number;
      /** Number of grains that would be removed, by grain type. */
      readonly byType: { readonly [name: string]: number };
      /** Creation time of the oldest of these grains in Unix seconds; absent where there is none. */
      readonly oldestCreatedAt?: Date | undefined;
      /** Creation time of the newest of these grains in Unix seconds; absent where there is none. */
      readonly newestCreatedAt?: Date | undefined;
      /** Hashes of the grains that would be removed. */
      readonly hashes?: readonly string[] | undefined;
      /** Requested hashes that the memory does not hold. */
      readonly notFound?: readonly string[] | undefined;
      /** The user who would be erased. */
      readonly userId?: string | undefined;
      /** The scope that would be erased. */
      readonly scopePath?: string | undefined;
      /** Number of grains in each scope that would be erased. */
      readonly scopes?: readonly {
        /** Path of the scope. */
        readonly scopePath: string;
        /** Number of grains in the scope. */
        readonly count: number;
      }[] | undefined;
      /** Id of the memory that would be deleted. */
      readonly id?: string | undefined;
      /** Always dry_run. */
      readonly status: "dry_run";
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Erase a user: the key is destroyed before the answer, which is the proof. Copies and backups of the user's grains cannot be read without the key. A repeated call answers with the first proof. */
  forgetUser: {
    input: {
      /** The user to erase. */
      readonly userId: string;
      /** Why the user is erased; the default is the x-reason header, else data_subject_request. */
      readonly reason?: string | undefined;
      /** Whether only to tell what would be removed; the default is the x-dry-run header, else false. */
      readonly dryRun?: boolean | undefined;
    };
    output: {
      /** The user who was erased. */
      readonly userId: string;
      /** Number of grains that were deleted, all versions; 0 when the user was erased before. */
      readonly count: number;
      /** First 16 hexadecimal digits of the SHA-256 of the destroyed key; empty for an unknown user. */
      readonly keyFingerprint?: string | undefined;
      /** Time of the erasure in Unix seconds; a repeated call gives the time of the first one. */
      readonly timestamp?: Date | undefined;
      /** Hash of the audit entry of the erasure. */
      readonly auditEntryHash?: string | undefined;
      /** True for a dry run: nothing was removed. */
      readonly dryRun?: true | undefined;
      /** Number of grains that would be removed, by grain type. */
      readonly byType?: { readonly [name: string]: number } | undefined;
      /** Creation time of the oldest of these grains in Unix seconds; absent where there is none. */
      readonly oldestCreatedAt?: Date | undefined;
      /** Creation time of the newest of these grains in Unix seconds; absent where there is none. */
      readonly newestCreatedAt?: Date | undefined;
      /** Number of grains in each scope that would be erased. */
      readonly scopes?: readonly {
        /** Path of the scope. */
        readonly scopePath: string;
        /** Number of grains in the scope. */
        readonly count: number;
      }[] | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Wait until everything written is on disk and in sealed indexes. Acknowledged writes are durable without it. */
  flush: {
    input: {
      /** Whether to wait for vectors too, up to 30 seconds; the default is false. */
      readonly vectors?: boolean | undefined;
      /** Milliseconds to wait until the indexes cover every acknowledged write; the default is x-wait-for-index-ms, else 0. */
      readonly waitForIndexMs?: number | undefined;
    };
    output: {
      /** Number of grains that this call put into sealed indexes. */
      readonly flushed: number;
      /** Number of grains that are not in sealed indexes yet. */
      readonly pending: number;
      /** Always flushed. */
      readonly status: "flushed";
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List every version of a grain, oldest first, from the hash of any of them. A version that was forgotten is not in it. */
  history: {
    input: {
      /** Hash of any version of the grain. */
      readonly hash: string;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
    };
    output: {
      /** Versions of the grain, oldest first. */
      readonly versions: readonly {
        /** Hash of the version. */
        readonly hash: string;
        /** Type of the grain. */
        readonly grainType: GrainType;
        /** The grain as one plain sentence, at most 300 characters; a longer one ends with an ellipsis. */
        readonly text: string;
        /** Fields of the version. */
        readonly fields: JsonObject;
        /** Time at which the version was created, in Unix seconds. */
        readonly createdAt: Date;
        /** Place in the chain: original is the first version, supersedes the newest, superseded any between. */
        readonly relation: "original" | "superseded" | "supersedes";
      }[];
      /** Cursor of the next page; absent when these are all versions. */
      readonly nextCursor?: string | undefined;
      /** The parts that the answer leaves out. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Store the grains of a .mg file under the hashes that they have. The body is a multipart form with one part named file, of up to 50 MiB. */
  importFile: {
    input: { readonly file: Blob; readonly fileName?: string | undefined };
    output: {
      /** Number of grains that were stored. */
      readonly imported: number;
      /** Number of grains that the memory held already. */
      readonly duplicates: number;
      /** The grains that were refused; the others are stored. */
      readonly errors: readonly {
        /** Position of the grain in the file, from 0. */
        readonly index: number;
        /** Error code. */
        readonly code: string;
        /** Error message. */
        readonly error: string;
      }[];
      /** Hashes of grains in the file that the memory holds now; only the first ones of a large file. */
      readonly hashes: readonly string[];
      /** The changes that the import made and the parts that it left out. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Read the text of a document, without storing anything. The body is a multipart form with one part named file, of up to 50 MiB: PDF, DOCX, PPTX, XLSX, HTML, Markdown, CSV, JSON, e-mail or plain text. */
  extractDocument: {
    input: { readonly file: Blob; readonly fileName?: string | undefined };
    output: {
      /** Name of the file as it was sent. */
      readonly fileName: string;
      /** Media type that the content was found to have. */
      readonly mimeType: string;
      /** Number of pages, slides or sheets, where the format has them. */
      readonly pages?: number | undefined;
      /** Number of characters of the text. */
      readonly characters: number;
      /** The whole text. */
      readonly text: string;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Store the text of a document as events, one for each chunk. The body is a multipart form with one part named file, of up to 50 MiB, as for extract-document; the query has the options. A chunk that the memory holds already is not stored again. */
  importDocument: {
    input: {
      /** Namespace of the chunks; the default is default. */
      readonly namespace?: string | undefined;
      /** Tags of the chunks, separated by commas or in several parameters; the default is none. */
      readonly tags?: readonly string[] | undefined;
      /** Most characters of a chunk; the default is 1,000. */
      readonly chunkSize?: number | undefined;
      /** Characters that a chunk repeats of the one before, less than chunk_size; the default is 100. */
      readonly chunkOverlap?: number | undefined;
      /** Confidence of the chunks, from 0 to 1; the default is 0.8. */
      readonly confidence?: number | undefined;
      /** The data subject of the chunks. */
      readonly userId?: string | undefined;
      /** Whether beliefs are extracted from each chunk; the default is false. */
      readonly extract?: boolean | undefined;
    } & { readonly file: Blob; readonly fileName?: string | undefined };
    output: {
      /** Always imported. */
      readonly status: "imported";
      /** Name of the file as the chunks keep it. */
      readonly fileName: string;
      /** Media type that the content was found to have. */
      readonly mimeType: string;
      /** Number of pages, slides or sheets, where the format has them. */
      readonly pages?: number | undefined;
      /** Number of chunks of the document. */
      readonly chunks: number;
      /** Number of chunks that were stored. */
      readonly grainsCreated: number;
      /** Number of chunks that the memory held already. */
      readonly duplicates: number;
      /** Hashes of the chunks that the memory holds now, in order; only the first ones of a large document. */
      readonly hashes: readonly string[];
      /** The chunks that were refused; the others are stored. */
      readonly errors: readonly ImportDocumentOutputError[];
      /** Number of beliefs that were extracted; only with extract. */
      readonly extractedCount?: number | undefined;
      /** The changes that the import made and the parts that it left out. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Import a document as a job that goes on after the answer. The body is a multipart form with one part named file, of up to 50 MiB; the query has the options of import-document. Job and file are on disk before the answer. A fault of every chunk refuses the request. */
  createImport: {
    input: {
      /** Namespace of the chunks; the default is default. */
      readonly namespace?: string | undefined;
      /** Tags of the chunks, separated by commas or in several parameters; the default is none. */
      readonly tags?: readonly string[] | undefined;
      /** Most characters of a chunk; the default is 1,000. */
      readonly chunkSize?: number | undefined;
      /** Characters that a chunk repeats of the one before, less than chunk_size; the default is 100. */
      readonly chunkOverlap?: number | undefined;
      /** Confidence of the chunks, from 0 to 1; the default is 0.8. */
      readonly confidence?: number | undefined;
      /** The data subject of the chunks. */
      readonly userId?: string | undefined;
      /** Whether beliefs are extracted from each chunk; the default is false. */
      readonly extract?: boolean | undefined;
    } & { readonly file: Blob; readonly fileName?: string | undefined };
    output: {
      /** Id of the job. */
      readonly jobId: string;
      /** Always queued. */
      readonly status: "queued";
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the import jobs of a memory, newest first. Jobs that ended are listed for seven days. */
  listImports: {
    input: {
      /** Only jobs in this state; the default is all. */
      readonly status?: "queued" | "running" | "completed" | "failed" | "cancelled" | undefined;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The jobs of the page. */
      readonly jobs: readonly Job[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show an import job. A job that ended is kept for seven days. */
  getImport: {
    input: {
      /** Id of the job. */
      readonly jobId: string;
    };
    output: Job;
  };
  /** Stream the progress of an import job as server-sent events. Events named progress until the job ends; then one named completed, failed or cancelled with the job. A job that has ended has its last event at once. */
  streamImport: {
    input: {
      /** Id of the job. */
      readonly jobId: string;
    };
    output: AsyncGenerator<StreamFrame, void, undefined>;
  };
  /** Cancel an import job that is queued or running. The job stops at its next chunk; chunks that it has stored stay. */
  cancelImport: {
    input: {
      /** Id of the job. */
      readonly jobId: string;
    };
    output: Job;
  };
  /** Export the grains of a memory as one .mg file. The file comes in pieces, in the format of the Open Memory Specification. */
  exportFile: {
    input: {
      /** Only grains of this namespace; the default is all. */
      readonly namespace?: string | undefined;
      /** Only grains of these types; the default is all. */
      readonly grainType?: readonly GrainType[] | undefined;
      /** Whether old versions are in the file; the default is true. */
      readonly includeSuperseded?: boolean | undefined;
    };
    output: Uint8Array;
  };
  /** Show what an agent needs to continue a session: state, active goals, last actions. The current state, the active goals by priority and the last actions. A session that has no grains is empty, not an error. */
  sessionBootstrap: {
    input: {
      /** Id of the session: the session_id of its grains, or the namespace that they are in. */
      readonly sid: string;
      /** Number of actions at most; the default is 20, and above 500 is treated as 500. */
      readonly actionsLimit?: number | undefined;
    };
    output: {
      /** Id of the session, as it was asked for. */
      readonly sessionId: string;
      /** Creation time of the first grain of the session in Unix seconds; null where it has none. */
      readonly firstSeen: Date | null;
      /** Creation time of the last grain of the session in Unix seconds; null where it has none. */
      readonly lastSeen: Date | null;
      /** The newest current state of the session; null where it has none. */
      readonly state: Grain | null;
      /** Active goals: critical, high, medium, low, then newest first; at most 100. */
      readonly activeGoals: readonly ActiveGoal[];
      /** Number of active goals, beyond those that are shown. */
      readonly activeGoalsTotal: number;
      /** Actions of the session, newest first, without definitions of tools. */
      readonly recentActions: readonly Grain[];
      /** Number of actions of the session, beyond those that are shown. */
      readonly recentActionsTotal: number;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show the current state of a session. Of several current states, the newest; null where the session has none. */
  sessionState: {
    input: {
      /** Id of the session: the session_id of its grains, or the namespace that they are in. */
      readonly sid: string;
    };
    output: {
      /** Id of the session, as it was asked for. */
      readonly sessionId: string;
      /** The newest current state of the session; null where it has none. */
      readonly state: Grain | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the actions of a session, newest first. Definitions of tools are not among them. */
  sessionActions: {
    input: {
      /** Id of the session: the session_id of its grains, or the namespace that they are in. */
      readonly sid: string;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
      /** Only calls of this tool; the default is all. */
      readonly toolName?: string | undefined;
    };
    output: SessionActionsOutput;
  };
  /** Count the actions of a session by tool and by error. Calls that have not ended yet count as calls, not as successes or failures. */
  sessionActionsSummary: {
    input: {
      /** Id of the session: the session_id of its grains, or the namespace that they are in. */
      readonly sid: string;
    };
    output: {
      /** Id of the session, as it was asked for. */
      readonly sessionId: string;
      /** Number of calls. */
      readonly totalCalls: number;
      /** Number of calls that ended without an error. */
      readonly successful: number;
      /** Number of calls that failed. */
      readonly failed: number;
      /** Sum of the durations of all calls, in milliseconds. */
      readonly totalDurationMs: number;
      /** The counts of each tool by its name; of more than 200 tools, those with the most calls. */
      readonly byTool: { readonly [name: string]: {
        /** Number of calls of the tool. */
        readonly calls: number;
        /** Number of calls that failed. */
        readonly failures: number;
        /** Number of calls that ended without an error. */
        readonly successes: number;
        /** Sum of the durations of the calls, in milliseconds. */
        readonly totalDurationMs: number;
      } };
      /** Errors by how often they occurred; of more than 50, the most frequent. */
      readonly errorPatterns: readonly {
        /** Text of the error, its first 200 characters. */
        readonly error: string;
        /** Number of calls that failed with it. */
        readonly count: number;
      }[];
      /** True when there are more tools or errors than are shown. */
      readonly truncated?: true | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the actions of a task, oldest first. An action belongs to a task if its parent_task_id names it. A hash or a tool_call_id names an action: its chain is what it hangs on and what hangs on it. */
  sessionActionsChain: {
    input: {
      /** Id of the session: the session_id of its grains, or the namespace that they are in. */
      readonly sid: string;
      /** A task, or the hash or tool_call_id of an action. */
      readonly task: string;
    };
    output: {
      /** Id of the session, as it was asked for. */
      readonly sessionId: string;
      /** The task, as it was asked for. */
      readonly task: string;
      /** Actions of the chain, oldest first; at most 500. */
      readonly actions: readonly Grain[];
      /** Sum of the durations of these actions, in milliseconds. */
      readonly totalDurationMs: number;
      /** Number of these actions that failed. */
      readonly failed: number;
      /** True when the chain has more actions than are shown. */
      readonly truncated?: true | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the failed actions of a session, newest first. An action has failed if its is_error is true. */
  sessionFailedActions: {
    input: {
      /** Id of the session: the session_id of its grains, or the namespace that they are in. */
      readonly sid: string;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: SessionActionsOutput;
  };
  /** Compile what a prompt needs to know of a session into a budget of tokens. The state comes first with at most 30 % of the budget, then active goals by priority, then actions and beliefs by value; a token is four characters. */
  sessionContext: {
    input: {
      /** Id of the session: the session_id of its grains, or the namespace that they are in. */
      readonly sid: string;
      /** Tokens that the context may have, from 1 to 200,000; the default is 4,000. */
      readonly tokenBudget?: number | undefined;
      /** Question that the context is for: what matches it is worth more. No default. */
      readonly query?: string | undefined;
      /** Grains with the fields that matter (json), or a page for a prompt (text); the default is json. */
      readonly format?: "json" | "text" | undefined;
    };
    output: {
      /** Id of the session, as it was asked for. */
      readonly sessionId: string;
      /** Tokens that the context may have. */
      readonly tokenBudget: number;
      /** Tokens of the context: the characters of text, or of state, goals, actions and beliefs, by four. */
      readonly estimatedTokens: number;
      /** True when something was left out. */
      readonly truncated: boolean;
      /** The current state, without its largest keys where they do not fit; only with the format json. */
      readonly state?: JsonObject | null | undefined;
      /** Active goals by priority; only with the format json. */
      readonly goals?: readonly JsonObject[] | undefined;
      /** Actions, the most valuable first; only with the format json. */
      readonly actions?: readonly JsonObject[] | undefined;
      /** Beliefs, the most valuable first; only with the format json. */
      readonly beliefs?: readonly JsonObject[] | undefined;
      /** The context as a page; only with the format text. */
      readonly text?: string | undefined;
      /** The parts that were left out because they do not fit. */
      readonly dropped: {
        /** Number of states that were left out. */
        readonly states: number;
        /** Number of keys of the state that were left out. */
        readonly stateKeys: number;
        /** Number of active goals that were left out. */
        readonly goals: number;
        /** Number of actions that were left out. */
        readonly actions: number;
        /** Number of beliefs that were left out. */
        readonly beliefs: number;
      };
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Merge what a session says more than once. Statements of the same type, namespace, user and subject whose wording is similar become one: the most trusted, then the newest. Actions, states and goals are left alone. */
  sessionConsolidate: {
    input: {
      /** Id of the session: the session_id of its grains, or the namespace that they are in. */
      readonly sid: string;
      /** Normalised Levenshtein similarity from which grains are duplicates; the default is 0.85. */
      readonly threshold?: number | undefined;
      /** Whether to report only and merge nothing; the default is false. */
      readonly dryRun?: boolean | undefined;
      /** Whether the model of the role consolidation decides about pairs that are a little less similar than the threshold; the default is false. */
      readonly useModel?: boolean | undefined;
      /** Why, which a policy may demand; the default is the x-reason header. */
      readonly reason?: string | undefined;
    };
    output: {
      /** Id of the session, as it was asked for. */
      readonly sessionId: string;
      /** Number of grains that were compared. */
      readonly totalAnalyzed: number;
      /** Similarity from which grains count as duplicates. */
      readonly threshold: number;
      /** Groups that were merged; in a dry run, that would be. */
      readonly groups: readonly {
        /** Hash of the grain that stays: of its new version after the merge, of the grain itself in a dry run. */
        readonly canonicalHash: string;
        /** Hashes of the grains that it replaces. */
        readonly duplicateHashes: readonly string[];
        /** Similarity of the least similar of them, from 0 to 1. */
        readonly similarity: number;
        /** Number of grains that say it, the canonical one included. */
        readonly confirmationCount: number;
        /** True when the model decided that the statements say the same. */
        readonly byModel?: true | undefined;
      }[];
      /** Number of grains that were replaced; in a dry run, that would be. */
      readonly merged: number;
      /** Groups that a policy, a lock or a change in the meantime keeps from being merged. */
      readonly refused: readonly {
        /** Hash of the grain that stays: of its new version after the merge, of the grain itself in a dry run. */
        readonly canonicalHash: string;
        /** Hashes of the grains that it replaces. */
        readonly duplicateHashes: readonly string[];
        /** Code of the error. */
        readonly code: string;
        /** Why the group is not merged. */
        readonly message: string;
      }[];
      /** True when a bound was met: another run would find more. */
      readonly truncated?: true | undefined;
      /** Whether it was a dry run. */
      readonly dryRun: boolean;
      /** Set if grains of the session lie where they were not compared, or if the model decided nothing. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Create a goal of a session. The goal is active. A goal that the memory holds already is not stored again. */
  createGoal: {
    input: {
      /** Id of the session: the session_id of its grains, or the namespace that they are in. */
      readonly sid: string;
      /** The state to be reached, in words. */
      readonly description: string;
      /** Priority of the goal: critical, high, medium or low; another word counts as medium, which is the default. */
      readonly priority?: string | undefined;
      /** When the goal counts as reached; no default. */
      readonly criteria?: string | undefined;
      /** Hashes of the goals that this one is a part of, in any version; the default is none. */
      readonly parentGoals?: readonly string[] | undefined;
      /** Time by which the goal should be reached, in Unix seconds; no default. */
      readonly deadline?: Date | undefined;
      /** The effect of a passed deadline: {deadline, mode}, where hard fails the goal and soft suspends it; no default. */
      readonly expiryPolicy?: JsonObject | undefined;
      /** Pieces of evidence that a satisfied goal needs, or true for one; the default is none. */
      readonly evidenceRequired?: boolean | number | undefined;
      /** States to which the goal may be moved; the default, an empty list, allows all. */
      readonly allowedTransitions?: readonly ("active" | "satisfied" | "failed" | "suspended")[] | undefined;
      /** Agent that works on the goal; no default. */
      readonly assignedAgent?: string | undefined;
      /** The data subject; the default is none. */
      readonly userId?: string | undefined;
      /** Namespace of the goal; the default is default. */
      readonly namespace?: string | undefined;
      /** Time of the goal in Unix seconds; the default is now. */
      readonly createdAt?: Date | undefined;
      /** Tags of the goal; the default is none. */
      readonly tags?: readonly string[] | undefined;
    };
    output: {
      /** Hash of the current version of the goal. */
      readonly hash: string;
      /** The same as hash. */
      readonly blobHash: string;
      /** The state to be reached, in words. */
      readonly description: string;
      /** State of the goal: active, satisfied, failed or suspended. */
      readonly goalState: string;
      /** Priority of the goal: critical, high, medium or low, or as it was sent. */
      readonly priority: string;
      /** When the goal counts as reached; null where nobody has said. */
      readonly criteria: string | null;
      /** How far the goal has come, from 0 to 1; null where nobody has said. */
      readonly progress: number | null;
      /** Hashes of the goals that this one is a part of. */
      readonly parentGoals: readonly string[];
      /** Agent to which the goal was delegated; null where it was not. */
      readonly delegateTo: string | null;
      /** Why the goal is in its state; null where nobody has said. */
      readonly stateReason: string | null;
      /** Time at which this version was created, in Unix seconds. */
      readonly createdAt: Date;
      /** Time of the last change of the goal, in Unix seconds. */
      readonly updatedAt: Date;
      /** Always created, for a duplicate too. */
      readonly status: "created";
      /** True when the memory held the goal already. */
      readonly duplicate?: true | undefined;
      /** Parts of the request that were ignored or not fulfilled. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the goals of a session by priority. Only current versions are listed. A goal whose expiry_policy is due is in the state that this gives it. */
  sessionGoals: {
    input: {
      /** Id of the session: the session_id of its grains, or the namespace that they are in. */
      readonly sid: string;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Only goals in this state, or all; the default is active. */
      readonly state?: "active" | "satisfied" | "failed" | "suspended" | "all" | undefined;
    };
    output: SessionGoalsOutput;
  };
  /** List the blocked goals of a session by priority. A goal is blocked if it is suspended. */
  sessionBlockedGoals: {
    input: {
      /** Id of the session: the session_id of its grains, or the namespace that they are in. */
      readonly sid: string;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
    };
    output: SessionGoalsOutput;
  };
  /** Show the goals of a session as a tree. A goal stands below the first of its parent goals that is in the session, and is a root without one. The tree is cut at its deepest goals. */
  sessionGoalTree: {
    input: {
      /** Id of the session: the session_id of its grains, or the namespace that they are in. */
      readonly sid: string;
      /** Number of goals in the tree; the default is 500, and above 1,000 is treated as 1,000. */
      readonly limit?: number | undefined;
    };
    output: {
      /** Id of the session, as it was asked for. */
      readonly sessionId: string;
      /** Goals without a parent in the session, by priority, then newest first; each has hash, goal, children, which are such nodes, and children_total. */
      readonly roots: readonly JsonObject[];
      /** Number of goals of the session, in every state. */
      readonly totalGoals: number;
      /** Number of goals in this tree. */
      readonly shownGoals: number;
      /** Whether goals of the session are missing from the tree. */
      readonly truncated: boolean;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Move a goal to another state. It makes a new version. The goal may narrow its moves by allowed_transitions, and ask for evidence before it is satisfied. */
  moveGoal: {
    input: {
      /** The new state: active, satisfied, failed or suspended, which blocks the goal. */
      readonly state: "active" | "satisfied" | "failed" | "suspended";
      /** Why the goal moves, which becomes its state_reason; the default is the x-reason header. */
      readonly reason?: string | undefined;
      /** Hashes that are added to the evidence of the goal; the default is none. */
      readonly evidence?: readonly string[] | undefined;
      /** How far the goal has come; a satisfied goal has 1; the default is as before. */
      readonly progress?: number | undefined;
      /** Hash of the goal in any of its versions; the newest version is changed. */
      readonly hash: string;
    };
    output: {
      /** Hash of the current version of the goal. */
      readonly hash: string;
      /** The same as hash. */
      readonly blobHash: string;
      /** The state to be reached, in words. */
      readonly description: string;
      /** State of the goal: active, satisfied, failed or suspended. */
      readonly goalState: string;
      /** Priority of the goal: critical, high, medium or low, or as it was sent. */
      readonly priority: string;
      /** When the goal counts as reached; null where nobody has said. */
      readonly criteria: string | null;
      /** How far the goal has come, from 0 to 1; null where nobody has said. */
      readonly progress: number | null;
      /** Hashes of the goals that this one is a part of. */
      readonly parentGoals: readonly string[];
      /** Agent to which the goal was delegated; null where it was not. */
      readonly delegateTo: string | null;
      /** Why the goal is in its state; null where nobody has said. */
      readonly stateReason: string | null;
      /** Time at which this version was created, in Unix seconds. */
      readonly createdAt: Date;
      /** Time of the last change of the goal, in Unix seconds. */
      readonly updatedAt: Date;
      /** Hash of the version before; the same as hash when nothing changed. */
      readonly previousHash: string;
      /** State of the goal before. */
      readonly previousState: "active" | "satisfied" | "failed" | "suspended";
      /** False when the goal was so already: there is no new version. */
      readonly changed: boolean;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Delegate a goal to another agent. It makes a new version, which names the agent and the one before. */
  delegateGoal: {
    input: {
      /** Agent that takes the goal. */
      readonly targetAgent: string;
      /** Why the goal is delegated, which becomes its state_reason; the default is the x-reason header. */
      readonly reason?: string | undefined;
      /** Hash of the goal in any of its versions; the newest version is changed. */
      readonly hash: string;
    };
    output: {
      /** Hash of the current version of the goal. */
      readonly hash: string;
      /** The same as hash. */
      readonly blobHash: string;
      /** The state to be reached, in words. */
      readonly description: string;
      /** State of the goal: active, satisfied, failed or suspended. */
      readonly goalState: string;
      /** Priority of the goal: critical, high, medium or low, or as it was sent. */
      readonly priority: string;
      /** When the goal counts as reached; null where nobody has said. */
      readonly criteria: string | null;
      /** How far the goal has come, from 0 to 1; null where nobody has said. */
      readonly progress: number | null;
      /** Hashes of the goals that this one is a part of. */
      readonly parentGoals: readonly string[];
      /** Agent to which the goal was delegated; null where it was not. */
      readonly delegateTo: string | null;
      /** Why the goal is in its state; null where nobody has said. */
      readonly stateReason: string | null;
      /** Time at which this version was created, in Unix seconds. */
      readonly createdAt: Date;
      /** Time of the last change of the goal, in Unix seconds. */
      readonly updatedAt: Date;
      /** Agent that had the goal before; null where none is known. */
      readonly delegateFrom: string | null;
      /** Hash of the version before; the same as hash when nothing changed. */
      readonly previousHash: string;
      /** State of the goal before. */
      readonly previousState: "active" | "satisfied" | "failed" | "suspended";
      /** False when the goal was so already: there is no new version. */
      readonly changed: boolean;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Compare the data of two states. Nested data is compared by path, such as plan.steps[0]; each entry stands at the highest path for which it is true. */
  statesDiff: {
    input: {
      /** Hash of the state to compare from, in any version; from is an alias. */
      readonly oldHash: string;
      /** Hash of the state to compare with, in any version; to is an alias. */
      readonly newHash: string;
    };
    output: {
      /** Hash of the state that was compared from. */
      readonly oldHash: string;
      /** Hash of the state that it was compared with. */
      readonly newHash: string;
      /** Paths that only the new state has. */
      readonly added: readonly string[];
      /** Paths that only the old state has. */
      readonly removed: readonly string[];
      /** Paths with different values. */
      readonly changed: readonly {
        /** Path of the value. */
        readonly key: string;
        /** The value in the old state. */
        readonly old: Json;
        /** The value in the new state. */
        readonly new: Json;
      }[];
      /** Paths with equal values. */
      readonly unchanged: readonly string[];
      /** True when there are more than 10,000 entries; the others are left out. */
      readonly truncated?: true | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Record that a user agrees to a purpose. It writes a consent grain that names the one before it. */
  grantConsent: {
    input: {
      /** The user who consents. */
      readonly userId: string;
      /** The purpose, or * for every purpose. */
      readonly purpose: string;
      /** Lawful basis of the consent, as free text. */
      readonly basis?: string | undefined;
      /** Jurisdiction that the consent was given in, as free text. */
      readonly jurisdiction?: string | undefined;
      /** Time at which the consent ends, in Unix seconds; the default is never. */
      readonly expiresAt?: Date | undefined;
      /** DID of the party that the consent is given to. */
      readonly granteeDid?: string | undefined;
    };
    output: GrantConsentOutput;
  };
  /** Record that a user no longer agrees to a purpose, or never did. It writes a consent grain; the grants before it stay readable. */
  revokeConsent: {
    input: {
      /** The user who withdraws the consent. */
      readonly userId: string;
      /** The purpose, or * for every purpose. */
      readonly purpose: string;
      /** Why the consent is withdrawn; the default is the x-reason header. */
      readonly reason?: string | undefined;
    };
    output: GrantConsentOutput;
  };
  /** Record that many users agree to a purpose, or each to one of their own. Consents that are refused are in errors; the others are recorded. */
  grantConsents: {
    input: {
      /** Users who all consent to the purpose, at most 1,000. */
      readonly userIds?: readonly string[] | undefined;
      /** The purpose that all of user_ids consent to, or * for every purpose. */
      readonly purpose?: string | undefined;
      /** Pairs of user and purpose, in place of user_ids and purpose, at most 1,000. */
      readonly consents?: readonly {
        /** The user who consents. */
        readonly userId: string;
        /** The purpose, or * for every purpose. */
        readonly purpose: string;
      }[] | undefined;
    };
    output: {
      /** The consents that were recorded, in order. */
      readonly granted: readonly {
        /** The user who consents. */
        readonly userId: string;
        /** The purpose, or * for every purpose. */
        readonly purpose: string;
        /** Hash of the consent grain that was written. */
        readonly blobHash: string;
      }[];
      /** The consents that were refused. */
      readonly errors: readonly {
        /** Position of the consent in the request, from 0. */
        readonly index: number;
        /** The user of the refused consent. */
        readonly userId: string;
        /** Error code. */
        readonly code: string;
        /** Error message. */
        readonly error: string;
      }[];
      /** Number of consents that were recorded. */
      readonly totalGranted: number;
      /** Number of consents that were refused. */
      readonly totalErrors: number;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List what users have consented to, as enforcement decides it, the latest first. Without user_id it lists every user who consented or withdrew. */
  consentStatus: {
    input: {
      /** Only this user; the default is all. */
      readonly userId?: string | undefined;
      /** Only this purpose; the default is all. */
      readonly purpose?: string | undefined;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** Users with their consents. */
      readonly users: readonly {
        /** The user. */
        readonly userId: string;
        /** Whether the processing of the user's data is restricted. */
        readonly restricted: boolean;
        /** Consent record for each purpose of the user. */
        readonly purposes: readonly Purpose[];
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Freeze a user's data: it is kept, and neither read nor changed. Erasure, export and the withdrawal of consent stay possible (GDPR, Art. 18). */
  restrictProcessing: {
    input: {
      /** The user whose data it is. */
      readonly userId: string;
      /** Why the restriction is put or lifted. */
      readonly reason?: string | undefined;
    };
    output: RestrictProcessingOutput;
  };
  /** Lift the freeze of a user's data. It changes nothing for a user who is not restricted. */
  liftRestriction: {
    input: {
      /** The user whose data it is. */
      readonly userId: string;
      /** Why the restriction is put or lifted. */
      readonly reason?: string | undefined;
    };
    output: RestrictProcessingOutput;
  };
  /** List the users whose data is restricted, the latest first. It lists every user unless user_id names one. */
  restrictions: {
    input: {
      /** Only this user; the default is all. */
      readonly userId?: string | undefined;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The restrictions that hold. */
      readonly restrictions: readonly {
        /** The user whose data is restricted. */
        readonly userId: string;
        /** Why it is restricted; empty where no reason was given. */
        readonly reason: string;
        /** Time since which it is restricted, in Unix seconds. */
        readonly restrictedAt: Date;
        /** Principal that restricted it. */
        readonly restrictedBy: string;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show the policy of a memory, or an earlier version of it. A bound key sees the rules for its part of the memory. */
  policy: {
    input: {
      /** Version of the policy to show; the default is the one in force. */
      readonly version?: number | undefined;
    };
    output: {
      /** Version of the policy. */
      readonly version: number;
      /** Always true: a policy is sealed and never edited. */
      readonly sealed: boolean;
      /** Names of the policy presets. */
      readonly presets: readonly string[];
      /** Every rule in force, by group. */
      readonly rules: Rule;
      /** Rules that were set on top of the presets, by group. */
      readonly overrides: JsonObject;
      /** Time at which the version was sealed, in Unix seconds. */
      readonly sealedAt: Date;
      /** SHA-256 that seals the policy. */
      readonly sealHash?: string | undefined;
      /** Seal of the version before; null for the first one. */
      readonly prevSealHash?: string | null | undefined;
      /** Principal that sealed the version. */
      readonly sealedBy?: string | undefined;
      /** Why the policy was changed; null where no reason was given. */
      readonly reason?: string | null | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Seal the next version of the policy of a memory. A policy is never edited: each change makes a new version. Loosening needs a reason. */
  setPolicy: {
    input: {
      /** Names of the policy presets to add. */
      readonly addPolicies?: readonly string[] | undefined;
      /** Names of the policy presets to remove. */
      readonly removePolicies?: readonly string[] | undefined;
      /** Rules to set on top of the presets, by group and name or by dotted path; null takes one back. */
      readonly overrides?: JsonObject | undefined;
      /** Why the policy changes, which loosening needs; the default is the x-reason header. */
      readonly reason?: string | undefined;
    };
    output: {
      /** Version of the policy. */
      readonly version: number;
      /** Always true: a policy is sealed and never edited. */
      readonly sealed: boolean;
      /** Names of the policy presets. */
      readonly presets: readonly string[];
      /** Every rule in force, by group. */
      readonly rules: Rule;
      /** Rules that were set on top of the presets, by group. */
      readonly overrides: JsonObject;
      /** Time at which the version was sealed, in Unix seconds. */
      readonly sealedAt: Date;
      /** SHA-256 that seals the policy. */
      readonly sealHash: string;
      /** Seal of the version before; null for the first one. */
      readonly prevSealHash: string | null;
      /** Principal that sealed the version. */
      readonly sealedBy: string;
      /** Why the policy was changed; null where no reason was given. */
      readonly reason: string | null;
      /** Whether the change tightened the policy (upgraded), loosened it (downgraded) or left it. */
      readonly change: "upgraded" | "downgraded" | "unchanged";
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show what a change of the policy would mean; nothing is changed. The answer says whether the change is allowed, which rules would differ, and what they would mean for the grains. */
  simulatePolicy: {
    input: {
      /** Names of the policy presets to add. */
      readonly addPolicies?: readonly string[] | undefined;
      /** Names of the policy presets to remove. */
      readonly removePolicies?: readonly string[] | undefined;
      /** Rules to set on top of the presets, by group and name or by dotted path; null takes one back. */
      readonly overrides?: JsonObject | undefined;
      /** Why the policy changes, which loosening needs; the default is the x-reason header. */
      readonly reason?: string | undefined;
    };
    output: {
      /** The policy that holds now. */
      readonly current: {
        /** Names of the policy presets. */
        readonly presets: readonly string[];
        /** Hash that seals the policy. */
        readonly sealHash: string;
      };
      /** The policy that the change would give. */
      readonly proposed: {
        /** Names of the policy presets. */
        readonly presets: readonly string[];
        /** Every rule that would hold, by group. */
        readonly rules: Rule;
        /** Hash that would seal the policy. */
        readonly sealHash: string;
      };
      /** The rules that would differ. */
      readonly diff: readonly {
        /** Path of the rule, such as deletion.hold. */
        readonly path: string;
        /** Value in force. */
        readonly from: Json;
        /** Value that would hold. */
        readonly to: Json;
        /** Whether the new value is stricter or looser. */
        readonly direction: "same" | "tighter" | "looser" | "mixed" | "neutral";
      }[];
      /** Whether the change would tighten the policy (upgraded), loosen it (downgraded) or leave it. */
      readonly change: "upgraded" | "downgraded" | "unchanged";
      /** Whether the caller may make the change. */
      readonly allowed: boolean;
      /** Why the change would be refused. */
      readonly errors: readonly {
        /** Error code. */
        readonly code: string;
        /** Error message. */
        readonly message?: string | undefined;
        /** Path of the rule that the error is about. */
        readonly path?: string | undefined;
        /** Member of the request that the error is about. */
        readonly field?: string | undefined;
        /** The fault of the member. */
        readonly issue?: string | undefined;
      }[];
      /** The effect of the change on the grains that the memory holds. */
      readonly impact: {
        /** Number of grains. */
        readonly grainsTotal: number;
        /** Number of grains that would expire. */
        readonly grainsExpiring: number;
        /** Number of users whose grains would lack a consent. */
        readonly usersWithoutConsent: number;
        /** Number of grains with personal data that would be refused. */
        readonly grainsWithBlockedPii: number;
        /** Number of grains that are not encrypted, which is always 0. */
        readonly grainsUnencrypted: number;
        /** Number of principals of live keys that tuples would let view nothing, if the change made tuples decide. */
        readonly principalsLosingAccess: number;
      };
      /** Ids of the compliance checks that the change affects. */
      readonly affectedChecks: readonly string[];
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show the rules that hold in a memory, with the presets and the seal that they come from. Over HTTP, GET of the policy answers the same. */
  policyResolved: {
    input: { readonly [none: string]: never };
    output: {
      /** The policy, with its rules. */
      readonly policy: JsonObject;
      /** Names of the policy presets. */
      readonly presets: readonly string[];
      /** Hash that seals the policy; empty for a caller who is bound to a part of the memory. */
      readonly sealHash: string;
      /** Version of the policy. */
      readonly version: number;
      /** Time at which the version was sealed, in Unix seconds. */
      readonly sealedAt: Date;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show how long grains are kept and how many have expired, by namespace. Times to live come from the policy and from the expires_at of grains. */
  retentionStatus: {
    input: {
      /** Only this namespace; the default is all. */
      readonly namespace?: string | undefined;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
    };
    output: {
      /** Retention of each namespace, by name. */
      readonly namespaces: readonly {
        /** Name of the namespace. */
        readonly namespace: string;
        /** Days that grains of the namespace are kept; null for ever. */
        readonly ttlDays: number | null;
        /** Rule that this comes from: namespace, type or default; null where no rule ends a grain. */
        readonly source: string | null;
        /** Number of grains. */
        readonly grains: number;
        /** Number of grains that have expired. */
        readonly expired: number;
        /** Time at which the next grain expires, in Unix seconds; null where none does. */
        readonly nextExpiryAt: Date | null;
        /** Creation time of the oldest grain in Unix seconds; null where there is none. */
        readonly oldestCreatedAt: Date | null;
        /** Number of expired grains that a legal hold or a restriction keeps. */
        readonly held: number;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Days that grains are kept by default; null for ever. */
      readonly defaultTtlDays: number | null;
      /** Time of the last enforcement in all namespaces in Unix seconds; null before the first. */
      readonly lastEnforcedAt: Date | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Remove the grains that have expired. Expired grains are hidden at once; this removes them. Grains that a legal hold or a restriction keeps are counted as held. */
  enforceRetention: {
    input: {
      /** Only this namespace; the default is all. */
      readonly namespace?: string | undefined;
      /** Whether to count only and remove nothing; the default is false. */
      readonly dryRun?: boolean | undefined;
    };
    output: {
      /** Number of grains that have expired. */
      readonly expired: number;
      /** Number of grains that were removed; for a dry run, that would be. */
      readonly forgotten: number;
      /** Number of expired grains that a legal hold or a restriction keeps. */
      readonly held: number;
      /** Number of goals that failed or were suspended by their expiry_policy; for a dry run, that would be. */
      readonly goals: number;
      /** Whether it was a dry run. */
      readonly dryRun: boolean;
      /** The three numbers for each namespace with expired grains, the most first; at most 1,000 namespaces are shown. */
      readonly byNamespace: JsonObject;
      /** Number of namespaces with expired grains, beyond those shown. */
      readonly namespacesTotal: number;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Give a subject a relation to an object. Tuples decide where the policy sets access.authz_required. Granting a tuple again changes nothing and is not an error. */
  grantAccess: {
    input: {
      /** The holder of the relation: TYPE:ID such as user:alice, the members of a relation such as group:eng#member, or everyone of a type such as agent:*. */
      readonly subject?: string | undefined;
      /** The relation to the object, such as viewer or editor. */
      readonly relation?: string | undefined;
      /** The object: memory:ID, namespace:PATH, group:ID or harness:SLUG. */
      readonly object?: string | undefined;
      /** Another name for subject. */
      readonly user?: string | undefined;
      /** Another name for relation. */
      readonly permission?: string | undefined;
      /** Another name for object. */
      readonly resource?: string | undefined;
    };
    output: {
      /** The tuple is there. */
      readonly granted: true;
      /** Whether this call added it; false if it was there before. */
      readonly created: boolean;
      /** The tuple, with its texts in Unicode NFC. */
      readonly tuple: Tuple;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Remove the relation of a subject to an object. The subject may keep the relation through another tuple. Revoking a tuple that is not there is not an error. */
  revokeAccess: {
    input: {
      /** The holder of the relation: TYPE:ID such as user:alice, the members of a relation such as group:eng#member, or everyone of a type such as agent:*. */
      readonly subject?: string | undefined;
      /** The relation to the object, such as viewer or editor. */
      readonly relation?: string | undefined;
      /** The object: memory:ID, namespace:PATH, group:ID or harness:SLUG. */
      readonly object?: string | undefined;
      /** Another name for subject. */
      readonly user?: string | undefined;
      /** Another name for relation. */
      readonly permission?: string | undefined;
      /** Another name for object. */
      readonly resource?: string | undefined;
    };
    output: {
      /** The tuple is not there. */
      readonly revoked: true;
      /** Whether this call removed it; false if it was not there before. */
      readonly existed: boolean;
      /** The tuple, with its texts in Unicode NFC. */
      readonly tuple: Tuple;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Tell whether a subject has a relation to an object, and by which tuples. It follows included relations, usersets and parents. Where tuples decide, only an admin of the memory asks about others. */
  checkAccess: {
    input: {
      /** The holder of the relation: TYPE:ID such as user:alice, the members of a relation such as group:eng#member, or everyone of a type such as agent:*. */
      readonly subject?: string | undefined;
      /** The relation to the object, such as viewer or editor. */
      readonly relation?: string | undefined;
      /** The object: memory:ID, namespace:PATH, group:ID or harness:SLUG. */
      readonly object?: string | undefined;
      /** Another name for subject. */
      readonly user?: string | undefined;
      /** Another name for relation. */
      readonly permission?: string | undefined;
      /** Another name for object. */
      readonly resource?: string | undefined;
    };
    output: {
      /** Whether the subject has the relation. */
      readonly allowed: boolean;
      /** The tuples that give the relation, from the object to the subject. It holds depth_exceeded alone if the search ended at its bound of 25 steps. */
      readonly path: readonly (Tuple | "depth_exceeded")[];
      /** The tuple, with its texts in Unicode NFC. */
      readonly tuple: Tuple;
      /** Time of the check in Unix seconds. */
      readonly checkedAt: Date;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List access tuples, the newest first. It lists all tuples of the memory, those of an object, those of a subject, or those of both. */
  listAccess: {
    input: {
      /** Only tuples of this object; the default is all. */
      readonly object?: string | undefined;
      /** Only tuples of exactly this subject; the default is all. */
      readonly subject?: string | undefined;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The tuples of this page. */
      readonly tuples: readonly {
        /** The holder of the relation. */
        readonly subject: string;
        /** The relation to the object. */
        readonly relation: string;
        /** The object of the relation. */
        readonly object: string;
        /** Time of the grant in Unix seconds. */
        readonly grantedAt: Date;
        /** Principal that granted it; a person by a pseudonym. */
        readonly grantedBy: string;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Stream the events of a memory, or wait for some. Answers with server-sent events. With `Accept: application/json` it waits for events and answers with a list. A caller gets only events about data that it may read. */
  events: {
    input: {
      /** Kinds of events, joined by commas; the default is all. */
      readonly types?: string | undefined;
      /** Cursor after which events are wanted: the id of an event, or 0 for all that are kept; the default is events from now on. */
      readonly since?: string | undefined;
      /** The same as `since`, and stronger; clients send it as the header Last-Event-ID. */
      readonly lastEventId?: string | undefined;
      /** Only events that this hook selects. */
      readonly hookId?: string | undefined;
      /** Seconds until the stream ends; the default is 300, and 30 for a long-poll. */
      readonly timeoutS?: number | undefined;
    };
    output: AsyncGenerator<StreamFrame, void, undefined>;
  };
  /** Register an agent of the memory. The agent acts where a key has the principal agent:ID, where a token names it in agent_id, and as author of grains with its did. */
  registerAgent: {
    input: {
      /** Id of the agent, of at most 256 characters; by default the server makes one. */
      readonly agentId?: string | undefined;
      /** Name for people to read, of at most 256 characters. */
      readonly name?: string | undefined;
      /** Decentralized identifier, of at most 512 characters; one agent of the memory has it. */
      readonly did?: string | undefined;
      /** Public key in any text form, of at most 4,096 characters; the server only stores it. */
      readonly publicKey?: string | undefined;
      /** The abilities of the agent: at most 64 texts of at most 128 characters; the default is none. */
      readonly capabilities?: readonly string[] | undefined;
      /** Members to be stored as they are, of at most 16 KiB as JSON; the default is none. */
      readonly metadata?: { readonly [name: string]: Json } | undefined;
    };
    output: RegisterAgentOutput;
  };
  /** Deactivate an agent permanently: its writes are refused from then on. Its grains and its identity stay, and it may read until its key is revoked. Deactivating it again changes nothing. */
  deactivateAgent: {
    input: {
      /** Id of the agent. */
      readonly agentId: string;
      /** Why it is deactivated, of at most 1,024 characters; x-reason says the same. */
      readonly reason?: string | undefined;
    };
    output: RegisterAgentOutput;
  };
  /** List the identities of agents, the newest first. It lists registered agents. The list of agents has their trust, and those that act without an identity. */
  agentIdentities: {
    input: {
      /** Only this status; the default is all. */
      readonly status?: "active" | "deactivated" | undefined;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The identities of this page. */
      readonly identities: readonly Identity[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show the identity of an agent. It shows a deactivated agent too, with the time and the reason. */
  agentIdentity: {
    input: {
      /** Id of the agent. */
      readonly agentId: string;
    };
    output: RegisterAgentOutput;
  };
  /** List the agents of a memory with their trust, the newest first. It lists agents with an identity, and agents that acted without one. The time of an agent is that of its registration or first act. */
  agents: {
    input: {
      /** Only this status; the default is all. */
      readonly status?: "active" | "deactivated" | "unregistered" | undefined;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The agents of this page. */
      readonly agents: readonly {
        /** Id of the agent. */
        readonly agentId: string;
        /** Status of the identity, or unregistered for an agent that acts without one. */
        readonly status: "active" | "deactivated" | "unregistered";
        /** Trust in the agent between 0 and 1; 0.5 where nothing is known. */
        readonly trustScore: number;
        /** Number of grains that the agent wrote, new versions included. */
        readonly grainsWritten: number;
        /** Time of its last counted act in Unix seconds; absent for an agent that did nothing yet. */
        readonly lastSeenAt?: Date | undefined;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show an agent with its identity, its trust and the history of its trust. Trust is (1 + successful actions) / (2 + successful actions + failed actions + 2 for each refusal by the policy). */
  agent: {
    input: {
      /** Id of the agent. */
      readonly agentId: string;
      /** Number of points of the history; the default is 100. */
      readonly limit?: number | undefined;
    };
    output: {
      /** Id of the agent. */
      readonly agentId: string;
      /** Status of the identity, or unregistered for an agent that acts without one. */
      readonly status: "active" | "deactivated" | "unregistered";
      /** Trust in the agent between 0 and 1; 0.5 where nothing is known. */
      readonly trustScore: number;
      /** Number of grains that the agent wrote, new versions included. */
      readonly grainsWritten: number;
      /** Time of its last counted act in Unix seconds; absent for an agent that did nothing yet. */
      readonly lastSeenAt?: Date | undefined;
      /** Time of its first counted act in Unix seconds; absent if it did nothing yet. */
      readonly firstSeenAt?: Date | undefined;
      /** Number of its actions that succeeded. */
      readonly successfulActions: number;
      /** Number of its actions that failed. */
      readonly failedActions: number;
      /** Number of its requests that the policy refused. */
      readonly policyRefusals: number;
      /** Its identity; absent for an agent that acts without one. */
      readonly identity?: Identity | undefined;
      /** Changes of its trust, the newest first; the last 1,000 are kept. */
      readonly trustHistory: readonly {
        /** Time of the change in Unix seconds. */
        readonly timestamp: Date;
        /** Trust after the change. */
        readonly score: number;
        /** The change of the trust. */
        readonly delta: number;
        /** The act that changed the trust. */
        readonly reason: "action_succeeded" | "action_failed" | "policy_refusal";
        /** Hash of the action; absent for a refusal, and for an action that may not be shown. */
        readonly actionHash?: string | undefined;
      }[];
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Find the kinds of personal data in a text. Nothing is stored, and the text stays in the process. */
  detectPii: {
    input: {
      /** The text to search, at most 256 KiB. */
      readonly text: string;
      /** Another name of text. */
      readonly content?: string | undefined;
      /** Whether the answer gives each match in place of the categories; the default is false. */
      readonly detailed?: boolean | undefined;
    };
    output: {
      /** Categories of personal data in the text, each one once. */
      readonly detections: readonly string[];
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    } | {
      /** The matches, in order of the text. */
      readonly matches: readonly {
        /** Category of personal data. */
        readonly category: string;
        /** The part of the text that matched. */
        readonly matchedText: string;
        /** First byte of the match in the UTF-8 text, from 0. */
        readonly start: number;
        /** Byte after the match in the UTF-8 text. */
        readonly end: number;
        /** Confidence in the match from 0 to 1. */
        readonly confidence: number;
        /** The method that found the match: regex, checksum, dictionary or ner. */
        readonly source: string;
      }[];
      /** Number of matches. */
      readonly count: number;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show whether the model that finds names of persons is available. The model is loaded to answer this. */
  nerStatus: {
    input: { readonly [none: string]: never };
    output: {
      /** Whether the model can be used. */
      readonly available: boolean;
      /** Name of the model. */
      readonly model: string;
      /** Where the model runs: in-process is a thread of the server, without a network. */
      readonly backend: string;
      /** Categories that the model finds; rules and lists find every other one. */
      readonly categories: readonly string[];
      /** Time at which the model was loaded, in Unix seconds; null where it is not loaded. */
      readonly loadedAt: Date | null;
      /** Why the model is not available. */
      readonly reason?: string | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Run a query of the context assembly language. Statements that change something need a key that may write. */
  cal: {
    input: {
      /** The CAL text to run. */
      readonly query: string;
      /** Milliseconds to wait until the indexes cover every acknowledged write; the default is x-wait-for-index-ms, else 0. */
      readonly waitForIndexMs?: number | undefined;
    };
    output: {
      /** The query as it was sent. */
      readonly query: string;
      /** SHA-256 of the trimmed query, 64 hexadecimal digits. */
      readonly queryHash: string;
      /** The result of the statement, as docs/cal-output.md describes it. */
      readonly result: JsonObject;
      /** Problems that did not stop the query. */
      readonly warnings: readonly string[];
      /** Kind of the statement that ran. */
      readonly statementType: string;
      /** Time that the query took, in milliseconds. */
      readonly executionTimeMs: number;
      /** Number of items in the result. */
      readonly resultCount: number;
    };
  };
  /** Turn CAL, or its statements that change something, on or off while the server runs. Without arguments it changes nothing. */
  calSwitch: {
    input: {
      /** Turns CAL on or off; absent leaves it as it is. */
      readonly enabled?: boolean | undefined;
      /** Turns the CAL statements that change something on or off; absent leaves them as they are. */
      readonly tier1Enabled?: boolean | undefined;
    };
    output: {
      /** Whether CAL is on. */
      readonly enabled: boolean;
      /** Whether the CAL statements that change something are on. */
      readonly tier1Enabled: boolean;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show the features and limits of this deployment. A client reads here how to authenticate and what a request may hold. */
  config: {
    input: { readonly [none: string]: never };
    output: {
      /** Authentication mode: none, api-key, oidc or composite. */
      readonly authMode: string;
      /** Tokens that are accepted; absent where none are. */
      readonly oidc?: {
        /** Issuer whose tokens are accepted. */
        readonly issuer: string;
        /** Audiences, of which a token must name one. */
        readonly audience: readonly string[];
        /** Whether people may sign in to the console at the issuer. */
        readonly signsIn: boolean;
      } | undefined;
      /** Version of the server. */
      readonly version: string;
      /** Name of the deployment. */
      readonly deployment: string;
      /** Features of this deployment: whether each is available, or its value. */
      readonly features: JsonObject;
      /** Limits of this deployment, by name; members end in their unit. */
      readonly limits: JsonObject;
      /** Embedder of the memories that name no other. */
      readonly embedding: Embedding;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show whether the deployment is healthy; 503 with the reasons when it is not. A deployment that refuses writes, for example on a full disk, is unavailable. */
  health: {
    input: { readonly [none: string]: never };
    output: HealthOutput;
  };
  /** Show whether the process answers; it waits for nothing. It is meant for a supervisor that restarts the process. */
  healthLive: {
    input: { readonly [none: string]: never };
    output: {
      /** Always ok: the process answers. */
      readonly status: "ok";
      /** Version of the server. */
      readonly version: string;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show whether the deployment takes requests; 503 with the reasons when it does not. It is meant for a load balancer. */
  healthReady: {
    input: { readonly [none: string]: never };
    output: HealthOutput;
  };
  /** Show the model of chats, and how it is asked. The model is that of the role chat. */
  llmSettings: {
    input: { readonly [none: string]: never };
    output: LlmSettingsOutput;
  };
  /** Set the model of chats, and how it is asked. It assigns the role chat. Members that are absent keep their values. */
  setLlmSettings: {
    input: {
      /** Id of the provider. */
      readonly provider: string;
      /** Model that answers in chats. */
      readonly model: string;
      /** Temperature of its answers; the default is the present one. */
      readonly temperature?: number | undefined;
      /** Tokens of an answer at most; the default is the present limit. */
      readonly maxTokens?: number | undefined;
      /** Whether a model answers in chats; the default is the present value. */
      readonly enabled?: boolean | undefined;
    };
    output: LlmSettingsOutput;
  };
  /** List the providers of models, those of the start options first. Their keys are not shown. */
  listProviders: {
    input: {
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The providers of the page. */
      readonly providers: readonly {
        /** Id of the provider. */
        readonly id: string;
        /** Interface of the provider. */
        readonly kind: "openai" | "anthropic" | "ollama" | "openai_compatible" | "mock";
        /** Address of its interface; empty for a mock. */
        readonly baseUrl: string;
        /** Region where it processes what it is sent. */
        readonly region?: string | undefined;
        /** Whether the server has a key for it. */
        readonly apiKeySet: boolean;
        /** Last four characters of that key; absent for a key that is short. */
        readonly apiKeyLast4?: string | undefined;
        /** Whether it may be called. */
        readonly enabled: boolean;
        /** Time at which it last listed its models, in Unix seconds; null when no such list is kept. */
        readonly modelsCachedAt: Date | null;
        /** Whether it comes from the options of the start, and cannot be changed. */
        readonly readOnly: boolean;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Make a provider, or replace its settings. The key is sealed and never shown again. Without `api_key` the key stays, if kind and host stay; members that are absent keep their values. */
  setProvider: {
    input: {
      /** Id of the provider. */
      readonly id: string;
      /** Interface of the provider: openai, anthropic, ollama, openai_compatible, or mock for tests. */
      readonly kind: "openai" | "anthropic" | "ollama" | "openai_compatible" | "mock";
      /** Key that the server proves itself with; blank or absent: the key that it has stays. */
      readonly apiKey?: string | undefined;
      /** Address of the interface, http or https, with its version (`/v1`); the default is the one that it has, or the kind's usual one. */
      readonly baseUrl?: string | undefined;
      /** Region where it processes what it is sent, as policies name regions; the default is the one that it has, or none. */
      readonly region?: string | undefined;
      /** Whether it may be called; the default is the value that it has, or true. */
      readonly enabled?: boolean | undefined;
    };
    output: {
      /** Id of the provider. */
      readonly id: string;
      /** Interface of the provider. */
      readonly kind: "openai" | "anthropic" | "ollama" | "openai_compatible" | "mock";
      /** Address of its interface; empty for a mock. */
      readonly baseUrl: string;
      /** Region where it processes what it is sent. */
      readonly region?: string | undefined;
      /** Whether the server has a key for it. */
      readonly apiKeySet: boolean;
      /** Last four characters of that key; absent for a key that is short. */
      readonly apiKeyLast4?: string | undefined;
      /** Whether it may be called. */
      readonly enabled: boolean;
      /** Time at which it last listed its models, in Unix seconds; null when no such list is kept. */
      readonly modelsCachedAt: Date | null;
      /** Whether it comes from the options of the start, and cannot be changed. */
      readonly readOnly: boolean;
      /** Whether the provider is new. */
      readonly created: boolean;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Delete a provider with its key. A provider whose model has a role cannot be deleted. */
  deleteProvider: {
    input: {
      /** Id of the provider. */
      readonly id: string;
    };
    output: DeleteProviderOutput;
  };
  /** Ask a provider for its models, or a model for a word or a vector. The question is made by the server; no text of a memory is sent. */
  testProvider: {
    input: {
      /** Id of the provider. */
      readonly id: string;
      /** Model to ask; the default asks the provider for its models. */
      readonly model?: string | undefined;
    };
    output: {
      /** Whether the provider answered as it should. */
      readonly ok: boolean;
      /** Time until the answer, in milliseconds. */
      readonly latencyMs: number;
      /** The failure, in words. */
      readonly error?: string | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the models of a provider, by name. The provider is asked, and its answer kept for ten minutes. Of one that does not answer, models of its kind are listed. */
  providerModels: {
    input: {
      /** Id of the provider. */
      readonly id: string;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: ProviderModelsOutput;
  };
  /** List the models of all providers that are switched on, by provider and name. Each provider is asked as for its own list. */
  listModels: {
    input: {
      /** Only models for this: chat, embedding, rerank, extraction, ner. */
      readonly capability?: string | undefined;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: ProviderModelsOutput;
  };
  /** Show the model of each role. A role that was not set has the model that the start options name. */
  modelAssignments: {
    input: { readonly [none: string]: never };
    output: ModelAssignmentsOutput;
  };
  /** Set the models of some roles; null: the role has none. It wins over the start options. A new embedding model gives a vector first; then memories are embedded again in the background, and old vectors answer until then. */
  setModelAssignments: {
    input: {
      /** The roles to set; the others keep their models. */
      readonly assignments: {
        /** Model of chats and harnesses. */
        readonly chat?: {
          /** Id of the provider. */
          readonly provider: string;
          /** Name of the model. */
          readonly model: string;
        } | null | undefined;
        /** Model that finds facts in texts. */
        readonly extraction?: {
          /** Id of the provider. */
          readonly provider: string;
          /** Name of the model. */
          readonly model: string;
        } | null | undefined;
        /** Model that makes vectors; the provider `onnx` stands for the models of this server. */
        readonly embedding?: {
          /** Id of the provider. */
          readonly provider: string;
          /** Name of the model. */
          readonly model: string;
        } | null | undefined;
        /** Model that orders the hits of a recall; as for vectors, `onnx` stands for the models of this server. */
        readonly rerank?: {
          /** Id of the provider. */
          readonly provider: string;
          /** Name of the model. */
          readonly model: string;
        } | null | undefined;
        /** Model that imagines an answer. */
        readonly hyde?: {
          /** Id of the provider. */
          readonly provider: string;
          /** Name of the model. */
          readonly model: string;
        } | null | undefined;
        /** Model that proposes what to merge. */
        readonly consolidation?: {
          /** Id of the provider. */
          readonly provider: string;
          /** Name of the model. */
          readonly model: string;
        } | null | undefined;
      };
    };
    output: ModelAssignmentsOutput;
  };
  /** List API keys, newest first, without their secrets. A bound key sees keys that are bound at least as narrowly. */
  listKeys: {
    input: {
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The keys of the page. */
      readonly keys: readonly {
        /** Id of the key. */
        readonly keyId: string;
        /** Name of the key. */
        readonly name: string;
        /** Principal that calls with the key act as. */
        readonly principal: string;
        /** Scopes of the key. */
        readonly scopes: readonly ("read" | "write" | "admin" | "metrics")[];
        /** First 10 characters of the secret key. */
        readonly prefix: string;
        /** Time at which the key was made, in Unix seconds. */
        readonly createdAt: Date;
        /** Memory that the key is bound to; absent for all memories. */
        readonly memoryId?: string | undefined;
        /** Namespace that the key is bound to; absent for all namespaces. */
        readonly namespace?: string | undefined;
        /** Data subject that the key is bound to; absent for all. */
        readonly userId?: string | undefined;
        /** Time at which the key expires, in Unix seconds; absent for never. */
        readonly expiresAt?: Date | undefined;
        /** Time of the last use in Unix seconds; absent for a key that was never used. */
        readonly lastUsedAt?: Date | undefined;
        /** Time at which the key was revoked, in Unix seconds; absent for a valid key. */
        readonly revokedAt?: Date | undefined;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Make an API key. raw_key is shown here once. A key has at most the scopes of its maker and is bound at least as narrowly. */
  createKey: {
    input: {
      /** Name of the key; the default is key. */
      readonly name?: string | undefined;
      /** Principal that calls with the key act as; the default is key: and the key's id. */
      readonly principal?: string | undefined;
      /** Scopes of the key; the default is the caller's own. */
      readonly scopes?: readonly ("read" | "write" | "admin" | "metrics")[] | undefined;
      /** Memory that the key is bound to; the default is the caller's binding, or none. */
      readonly memoryId?: string | undefined;
      /** Namespace that the key is bound to; the default is the caller's binding, or none. */
      readonly namespace?: string | undefined;
      /** Data subject that the key is bound to; the default is the caller's binding, or none. */
      readonly userId?: string | undefined;
      /** Time at which the key expires, in Unix seconds; the default is never. */
      readonly expiresAt?: Date | undefined;
    };
    output: {
      /** Id of the key. */
      readonly keyId: string;
      /** Name of the key. */
      readonly name: string;
      /** Principal that calls with the key act as. */
      readonly principal: string;
      /** Scopes of the key. */
      readonly scopes: readonly ("read" | "write" | "admin" | "metrics")[];
      /** First 10 characters of the secret key. */
      readonly prefix: string;
      /** Time at which the key was made, in Unix seconds. */
      readonly createdAt: Date;
      /** Memory that the key is bound to; absent for all memories. */
      readonly memoryId?: string | undefined;
      /** Namespace that the key is bound to; absent for all namespaces. */
      readonly namespace?: string | undefined;
      /** Data subject that the key is bound to; absent for all. */
      readonly userId?: string | undefined;
      /** Time at which the key expires, in Unix seconds; absent for never. */
      readonly expiresAt?: Date | undefined;
      /** Time of the last use in Unix seconds; absent for a key that was never used. */
      readonly lastUsedAt?: Date | undefined;
      /** Time at which the key was revoked, in Unix seconds; absent for a valid key. */
      readonly revokedAt?: Date | undefined;
      /** The secret key, which is shown this once. It is not stored, so the answer to a repeat with the same Idempotency-Key lacks it. */
      readonly rawKey?: string | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Revoke an API key: the next call with it fails. A revoked key stays in the list. */
  revokeKey: {
    input: {
      /** Id of the key to revoke. */
      readonly keyId: string;
    };
    output: {
      /** Always true. */
      readonly revoked: true;
      /** Id of the revoked key. */
      readonly keyId: string;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the memories that the key may see, newest first. A bound key sees its own memory alone. */
  listMemories: {
    input: {
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The memories of the page. */
      readonly memories: readonly {
        /** Id of the memory. */
        readonly id: string;
        /** Name of the memory. */
        readonly name: string;
        /** Description of the memory. */
        readonly description: string;
        /** Time at which the memory was made, in Unix seconds. */
        readonly createdAt: Date;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Make a memory. Partitions and language are fixed from then on. */
  createMemory: {
    input: {
      /** Id of the memory; the default is made from the name, with a suffix where it is taken. */
      readonly id?: string | undefined;
      /** Name of the memory; the default is its id. */
      readonly name?: string | undefined;
      /** Description of the memory; the default is empty. */
      readonly description?: string | undefined;
      /** Region that the memory lies in, which a policy's regions are compared with. */
      readonly region?: string | undefined;
      /** Settings of the caller's own, which are kept and shown. */
      readonly settings?: JsonObject | undefined;
      /** Names of the policy presets that hold from the first grain on; the default is none. */
      readonly policies?: readonly string[] | undefined;
      /** Number of partitions, from 1 to the number of shards; the default is 1. */
      readonly partitions?: number | undefined;
      /** ISO 639-1 code of the language of the text index, fixed at creation; the default is en. */
      readonly language?: string | undefined;
      /** How duplicates are recognised; the default is exact. */
      readonly dedup?: "none" | "exact" | "fuzzy" | "upsert" | undefined;
      /** Similarity of objects from which dedup fuzzy treats grains as duplicates, from 0 to 1; the default is 0.85. */
      readonly dedupThreshold?: number | undefined;
      /** Texts that no grain may hold; the default is none. */
      readonly guardrailPatterns?: readonly string[] | undefined;
      /** How a guardrail pattern matches a text; the default is contains. */
      readonly guardrailMode?: "exact" | "contains" | "fuzzy" | undefined;
      /** Name of the embedder that makes the memory's vectors, such as use-lite-int8, ngram or onnx:NAME; the default is the deployment's. */
      readonly vectorBackend?: string | undefined;
    };
    output: CreateMemoryOutput;
  };
  /** Show a memory. It shows the options that the memory was made with and the policy presets that hold. */
  getMemory: {
    input: { readonly [none: string]: never };
    output: CreateMemoryOutput;
  };
  /** Delete a memory: its keys are destroyed, so no copy of it can be read. Keys that are bound to the memory are revoked. A legal hold refuses it. */
  deleteMemory: {
    input: {
      /** Has no effect: the memory is deleted with or without it. */
      readonly confirm?: boolean | undefined;
      /** Whether only to tell what would be removed; the default is the x-dry-run header, else false. */
      readonly dryRun?: boolean | undefined;
    };
    output: {
      /** Whether the memory was deleted; false for a dry run. */
      readonly deleted: boolean;
      /** Id of the memory. */
      readonly id: string;
      /** First 16 hexadecimal digits of the SHA-256 of the destroyed key; absent for a dry run. */
      readonly keyFingerprint?: string | undefined;
      /** The signed proof of the deletion, a JSON object to be kept as it is; absent for a dry run. */
      readonly signedProof?: JsonObject | undefined;
      /** Number of grains that would be removed; absent unless it is a dry run. */
      readonly count?: number | undefined;
      /** True for a dry run: nothing was removed. */
      readonly dryRun?: true | undefined;
      /** Number of grains that would be removed, by grain type. */
      readonly byType?: { readonly [name: string]: number } | undefined;
      /** Creation time of the oldest of these grains in Unix seconds; absent where there is none. */
      readonly oldestCreatedAt?: Date | undefined;
      /** Creation time of the newest of these grains in Unix seconds; absent where there is none. */
      readonly newestCreatedAt?: Date | undefined;
      /** Number of grains in each scope that would be erased. */
      readonly scopes?: readonly {
        /** Path of the scope. */
        readonly scopePath: string;
        /** Number of grains in the scope. */
        readonly count: number;
      }[] | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show the tree of scopes of a memory. A path is made of the names below the root, joined by slashes. */
  scopeTree: {
    input: { readonly [none: string]: never };
    output: ScopeTreeOutput;
  };
  /** Set or replace the tree of scopes of a memory. From then on a grain under a known top-level name must lie in a scope of the tree. */
  setScopeTree: {
    input: {
      /** Name of the root, 1 to 64 characters without a slash. */
      readonly name: string;
      /** Scopes below the root, each with its name and its own children. */
      readonly children?: readonly Json[] | undefined;
    };
    output: ScopeTreeOutput;
  };
  /** Remove the tree of scopes of a memory; the grains in them stay. Namespaces are then free again. */
  deleteScopeTree: {
    input: { readonly [none: string]: never };
    output: DeleteProviderOutput;
  };
  /** Erase a scope and those below it: their keys are destroyed before the answer, which is the proof. Without a tree it erases the namespace of that path and those below it. */
  scopeErase: {
    input: {
      /** Path of the scope to erase, with all below it. */
      readonly scopePath: string;
      /** Why the scope is erased; the default is the x-reason header, else data_subject_request. */
      readonly reason?: string | undefined;
      /** Whether only to tell what would be removed; the default is the x-dry-run header, else false. */
      readonly dryRun?: boolean | undefined;
    };
    output: {
      /** Path of the erased scope. */
      readonly scopePath: string;
      /** Number of scopes that were erased by this call. */
      readonly scopesErased?: number | undefined;
      /** Number of grains that were erased; for a dry run, that would be. */
      readonly count: number;
      /** Fingerprints of the destroyed keys. */
      readonly keyFingerprints?: readonly string[] | undefined;
      /** Proof of erasure for each scope. */
      readonly proofs?: readonly {
        /** Path of the erased scope. */
        readonly scopePath: string;
        /** Number of grains that were erased. */
        readonly count: number;
        /** First 16 hexadecimal digits of the SHA-256 of the destroyed key. */
        readonly keyFingerprint: string;
      }[] | undefined;
      /** Time of the erasure in Unix seconds. */
      readonly timestamp?: Date | undefined;
      /** The signed proof, a JSON object to be kept as it is; absent for a dry run. */
      readonly signedProof?: JsonObject | undefined;
      /** True for a dry run: nothing was removed. */
      readonly dryRun?: true | undefined;
      /** Number of grains that would be removed, by grain type. */
      readonly byType?: { readonly [name: string]: number } | undefined;
      /** Creation time of the oldest of these grains in Unix seconds; absent where there is none. */
      readonly oldestCreatedAt?: Date | undefined;
      /** Creation time of the newest of these grains in Unix seconds; absent where there is none. */
      readonly newestCreatedAt?: Date | undefined;
      /** Number of grains in each scope that would be erased. */
      readonly scopes?: readonly {
        /** Path of the scope. */
        readonly scopePath: string;
        /** Number of grains in the scope. */
        readonly count: number;
      }[] | undefined;
      /** Whether the scope was erased or this was a dry run. */
      readonly status: "erased" | "dry_run";
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show the graph of subjects and objects around one of them. A breadth-first search over current grains with a subject and an object. Grains that the caller may not see make no edges. */
  graph: {
    input: {
      /** Subject or object at which the search starts. */
      readonly start: string;
      /** Number of edges to follow from the start, at most; the default is 2. */
      readonly depth?: number | undefined;
      /** Number of nodes in the answer, at most; the default is 100. */
      readonly limit?: number | undefined;
      /** Only edges of this relation; the default is all. */
      readonly relation?: string | undefined;
      /** Edges to follow: out from subject to object, in from object to subject, or both; the default is out. */
      readonly direction?: "out" | "in" | "both" | undefined;
    };
    output: {
      /** The start, trimmed and in Unicode NFC, as its node has it. */
      readonly start: string;
      /** Nodes, the start first, then by depth and by the age of their edges. */
      readonly nodes: readonly {
        /** The subject or object that the node stands for. */
        readonly id: string;
        /** Number of edges from the start. */
        readonly depth: number;
        /** Number of edges of this answer at the node. */
        readonly degree: number;
      }[];
      /** Edges between these nodes, newest first at each depth. */
      readonly edges: readonly Edge[];
      /** Depth of the farthest node. */
      readonly depthReached: number;
      /** Whether nodes or edges were left out for lack of room or time. */
      readonly truncated: boolean;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the edges of the graph of a memory, newest first. Each current grain with a subject and an object is an edge. A page can have fewer edges than its limit before the last one. */
  listEdges: {
    input: {
      /** Only edges of this relation; the default is all. */
      readonly relation?: string | undefined;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
    };
    output: {
      /** The edges of the page. */
      readonly edges: readonly Edge[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Ask a model that reads and writes the memory, and stream its answer. Streams server-sent events: progress, text, tool_call and tool_result, then done or error. A thread shows its last messages to the model and keeps the new ones. The model stops when the client leaves. */
  chatStream: {
    input: {
      /** The messages in order; the last one is the user’s. With a thread only the new ones, together at most 262,144 characters. */
      readonly messages: readonly {
        /** The speaker; system adds to what the model is told and is not kept. */
        readonly role: "system" | "user" | "assistant";
        /** Text of the message. */
        readonly content: string;
      }[];
      /** Thread that the messages and the answer belong to; without one nothing of them is kept. */
      readonly threadId?: string | undefined;
      /** Model; the default is that of the role chat. */
      readonly model?: string | undefined;
      /** Provider of the model; the default is that of the role chat. */
      readonly provider?: string | undefined;
      /** Messages of the thread before these that the model is shown; the default is 10. */
      readonly contextLimit?: number | undefined;
      /** The person whom the chat is with: the model is shown what is about that person or about nobody; the default is the person of the thread. */
      readonly userId?: string | undefined;
      /** Namespace that the model is shown and writes to; the default is that of the thread, unless that is default: then the model is shown all. */
      readonly namespace?: string | undefined;
      /** Whether the model may call tools: recall, add, supersede, forget and goals; the default is true. */
      readonly toolsEnabled?: boolean | undefined;
      /** Temperature of the model; the default is that of the settings. */
      readonly temperature?: number | undefined;
      /** Tokens of each answer of the model at most; the default is that of the settings. */
      readonly maxTokens?: number | undefined;
    };
    output: AsyncGenerator<StreamFrame, void, undefined>;
  };
  /** List the threads of chats, newest first. A thread stays in its place when it gets messages. */
  listThreads: {
    input: {
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
      /** Only archived threads (true) or only others (false); the default is all. */
      readonly archived?: boolean | undefined;
    };
    output: {
      /** The threads of the page. */
      readonly threads: readonly {
        /** Id of the thread. */
        readonly threadId: string;
        /** Title of the thread; null where it has none. */
        readonly title: string | null;
        /** Time at which the thread was made, in Unix seconds. */
        readonly createdAt: Date;
        /** Time of the last message, or of the last change of the thread, in Unix seconds. */
        readonly updatedAt: Date;
        /** Number of messages that the caller may read. */
        readonly messageCount: number;
        /** Whether the thread is archived. */
        readonly archived: boolean;
        /** The data that the caller keeps with the thread. */
        readonly metadata: JsonObject;
        /** Namespace of the thread and, by default, of its messages. */
        readonly namespace: string;
        /** The data subject of the thread; absent where there is none. */
        readonly userId?: string | undefined;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Make a thread for a chat. Its messages are events whose session_id is the id of the thread. */
  createThread: {
    input: {
      /** Title of the thread, at most 256 characters; no default. */
      readonly title?: string | undefined;
      /** The data that the caller keeps with the thread, at most 16,384 characters of JSON; the default is empty. */
      readonly metadata?: JsonObject | undefined;
      /** The data subject of the thread and, by default, of its messages; the default is none. */
      readonly userId?: string | undefined;
      /** Namespace of the thread and, by default, of its messages; the default is default. */
      readonly namespace?: string | undefined;
    };
    output: CreateThreadOutput;
  };
  /** Show a thread of a chat. Its messages have a list of their own. */
  getThread: {
    input: {
      /** Id of the thread. */
      readonly threadId: string;
    };
    output: CreateThreadOutput;
  };
  /** Change the title of a thread, archive it, or replace its metadata. Members that are not sent stay as they are. The earlier version stays in the history of the thread’s state. */
  changeThread: {
    input: {
      /** Id of the thread. */
      readonly threadId: string;
      /** New title of the thread, at most 256 characters; the default is as before. */
      readonly title?: string | undefined;
      /** Whether the thread is archived; the default is as before. */
      readonly archived?: boolean | undefined;
      /** New metadata in place of the old; the default is as before. */
      readonly metadata?: JsonObject | undefined;
    };
    output: CreateThreadOutput;
  };
  /** Delete a thread: its messages are forgotten. The calls of tools in it are forgotten too. Facts that were learnt from it stay. When the policy keeps one of its messages, nothing is deleted. */
  deleteThread: {
    input: {
      /** Id of the thread. */
      readonly threadId: string;
      /** Why the thread is deleted, which a policy may demand; the default is the x-reason header. */
      readonly reason?: string | undefined;
    };
    output: {
      /** Always true. */
      readonly deleted: true;
      /** Id of the thread. */
      readonly threadId: string;
      /** Number of messages and calls of tools that were forgotten, old versions included. */
      readonly forgotten: number;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the messages of a thread, oldest first. Every event whose session_id is the id of the thread is a message of it, however it was stored. */
  listMessages: {
    input: {
      /** Id of the thread. */
      readonly threadId: string;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: asc is oldest first, desc newest first; the default is asc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The messages of the page. */
      readonly messages: readonly {
        /** Id of the message: the hash of its grain. */
        readonly id: string;
        /** The same as id. */
        readonly grainHash: string;
        /** The speaker: user, assistant, system or tool. */
        readonly role: string;
        /** Text of the message. */
        readonly content: string;
        /** Time of the message in Unix seconds. */
        readonly createdAt: Date;
        /** The data subject; absent where there is none. */
        readonly userId?: string | undefined;
        /** Id of the message that this one answers. */
        readonly parentMessageId?: string | undefined;
        /** Model that wrote the message. */
        readonly modelId?: string | undefined;
        /** Why the model stopped. */
        readonly stopReason?: string | undefined;
        /** Tokens that the turn used. */
        readonly tokenUsage?: {
          /** Tokens that the model read. */
          readonly inputTokens: number;
          /** Tokens that the model wrote. */
          readonly outputTokens: number;
        } | undefined;
        /** Tools that the model called before it answered. */
        readonly toolCalls?: readonly {
          /** Id of the call. */
          readonly id: string;
          /** Name of the tool. */
          readonly name: string;
          /** Whether the call failed. */
          readonly isError: boolean;
          /** Hash of the action that holds the arguments and the result of the call. */
          readonly grainHash?: string | undefined;
        }[] | undefined;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the harnesses of a memory, those first whose goal or settings were changed last. Where access tuples decide, only those are listed that the caller may use. */
  listHarnesses: {
    input: {
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The harnesses of the page. */
      readonly harnesses: readonly {
        /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
        readonly slug: string;
        /** Name of the harness, for people. */
        readonly name: string;
        /** The purpose of the harness; empty where nobody has stated it. */
        readonly description: string;
        /** Template that it was made from; null without one. */
        readonly template: string | null;
        /** The goal of the agent; null where nobody has stated it, and then it takes no turns. */
        readonly goal: string | null;
        /** Instructions for the model; empty where nobody has stated any. */
        readonly systemPrompt: string;
        /** Query that assembles the context of a turn: a name, or CAL text. */
        readonly assembleQuery: string;
        /** Model that answers; null: the model of the role chat. */
        readonly model: string | null;
        /** Provider of the model; null: the provider of the role chat. */
        readonly provider: string | null;
        /** Calls of the model that one turn may make. */
        readonly maxIterations: number;
        /** Whether the harness was provisioned: it then takes turns. */
        readonly status: "draft" | "provisioned";
        /** Namespace of the grains of the definition. */
        readonly defNamespace: string;
        /** Hash of the goal grain, which holds the members above. */
        readonly goalHash: string;
        /** Hash of the workflow; null without one. */
        readonly workflowHash: string | null;
        /** Tools of the harness, by name. */
        readonly tools: readonly Tool[];
        /** Time at which the harness was made, in Unix seconds. */
        readonly createdAt: Date;
        /** Time of the newest change of its definition, in Unix seconds. */
        readonly updatedAt: Date;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Make a harness: the definition of an agent in this memory. It is a draft until it is provisioned. A template gives it a goal, a prompt and a query. */
  createHarness: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Name for people to read, of at most 256 characters. */
      readonly name: string;
      /** The purpose of the harness, of at most 4,096 characters; the default is that of the template. */
      readonly description?: string | undefined;
      /** Slug of a template; by default there is no template. */
      readonly template?: string | undefined;
    };
    output: CreateHarnessOutput;
  };
  /** Show a harness. With its goal, its prompt, its query and the names of its tools. */
  getHarness: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
    };
    output: CreateHarnessOutput;
  };
  /** Change what a harness says of itself; members that are absent stay. A change makes a new version of the goal grain. Tools and workflow are changed by bind-tool and provision. */
  changeHarness: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Name for people to read, of at most 256 characters; the default is as before. */
      readonly name?: string | undefined;
      /** The purpose of the harness, of at most 4,096 characters; the default is as before. */
      readonly description?: string | undefined;
      /** The goal of the agent, of at most 8,192 characters; the default is that of the template, then as before. */
      readonly goal?: string | undefined;
      /** Instructions for the model, of at most 65,536 characters; the default is as before. */
      readonly systemPrompt?: string | undefined;
      /** Model that answers; an empty text means the model of the role chat; the default is as before. */
      readonly model?: string | undefined;
      /** Provider of the model; an empty text means the provider of the role chat; the default is as before. */
      readonly provider?: string | undefined;
      /** Query that assembles the context of a turn: a name, or CAL text with $user, $def_ns, $session_id and $query; an empty text means agent_context; the default is as before. */
      readonly assembleQuery?: string | undefined;
      /** Calls of the model that one turn may make, from 1 to 32; the default is as before, at first 8. */
      readonly maxIterations?: number | undefined;
    };
    output: CreateHarnessOutput;
  };
  /** Delete a harness: every version of its definition is forgotten. Its conversations stay: they are events of their sessions. */
  deleteHarness: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
    };
    output: {
      /** Always true. */
      readonly deleted: true;
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Create or change a harness that is ready to take turns. The same request again changes nothing. Tools are bound first and the goal is written last, so a refused tool leaves the harness as it was, but for the tools before it. */
  provisionHarness: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Name for people to read, of at most 256 characters; the default is as before. */
      readonly name?: string | undefined;
      /** The purpose of the harness, of at most 4,096 characters; the default is as before. */
      readonly description?: string | undefined;
      /** The goal of the agent, of at most 8,192 characters; the default is that of the template, then as before. */
      readonly goal?: string | undefined;
      /** Instructions for the model, of at most 65,536 characters; the default is as before. */
      readonly systemPrompt?: string | undefined;
      /** Model that answers; an empty text means the model of the role chat; the default is as before. */
      readonly model?: string | undefined;
      /** Provider of the model; an empty text means the provider of the role chat; the default is as before. */
      readonly provider?: string | undefined;
      /** Query that assembles the context of a turn: a name, or CAL text with $user, $def_ns, $session_id and $query; an empty text means agent_context; the default is as before. */
      readonly assembleQuery?: string | undefined;
      /** Calls of the model that one turn may make, from 1 to 32; the default is as before, at first 8. */
      readonly maxIterations?: number | undefined;
      /** Slug of a template, for what the request does not say; by default there is none. */
      readonly template?: string | undefined;
      /** Graph of steps: nodes, edges, bindings, retries, trigger; the default is as before. */
      readonly workflow?: JsonObject | undefined;
      /** Tools to bind; others of the harness stay. The default is the builtin tools of the template, for a new harness or with a template. */
      readonly tools?: readonly ProvisionHarnessTool[] | undefined;
    };
    output: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Always provisioned. */
      readonly status: "provisioned";
      /** Hash of the goal grain. */
      readonly goalHash: string;
      /** Hash of the workflow, if the harness has one. */
      readonly workflowHash?: string | undefined;
      /** Hashes of the harness's tools, by name. */
      readonly toolHashes: readonly string[];
      /** Namespace of the grains of the definition. */
      readonly defNamespace: string;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Give a harness a tool, or replace the tool of that name. The same definition again makes no new version. */
  bindTool: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Name of the tool: 1 to 64 letters, digits, _, . and -; models know a dot as two underscores. */
      readonly toolName: string;
      /** Description for the model: the tool, and when to call it; at most 8,192 characters. */
      readonly description: string;
      /** JSON Schema of the arguments: an object at the root, and a part of the keywords. */
      readonly inputSchema: JsonObject;
      /** JSON Schema of the result, of the same kind; no default. */
      readonly outputSchema?: JsonObject | undefined;
      /** Where the tool runs: client://NAME, builtin:// with recall, add, supersede, forget or goals, an http(s) URL, or executor://NAME; required. */
      readonly location?: string | undefined;
      /** Another name for location. */
      readonly executorUri?: string | undefined;
      /** Arguments that take the place of those of the model, which is not told of them; no default. */
      readonly lockedParams?: JsonObject | undefined;
      /** Whether members that the schema does not name are refused; the default is false. */
      readonly strict?: boolean | undefined;
      /** Arguments of sample calls, which must fit the input_schema; the default is none. */
      readonly examples?: readonly JsonObject[] | undefined;
      /** The effects of a call; the default is none of them. */
      readonly annotations?: Annotation | undefined;
      /** Whether the tool answers later than its call; the default is false. */
      readonly asyncMode?: boolean | undefined;
    };
    output: {
      /** Hash of the grain that defines the tool. */
      readonly toolHash: string;
      /** Name of the tool. */
      readonly toolName: string;
      /** The side that runs it: the host, or the caller of the turn. */
      readonly executorKind: "host" | "client";
      /** SHA-256 of the definition as JSON with sorted names. */
      readonly specHash: string;
      /** Always bound. */
      readonly status: "bound";
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the tools of a harness, newest first. Locations and locked arguments are shown to callers that may write. */
  harnessTools: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The tools of the page. */
      readonly tools: readonly {
        /** Hash of the grain that defines the tool. */
        readonly toolHash: string;
        /** Name of the tool. */
        readonly toolName: string;
        /** Description of the tool for the model. */
        readonly description: string;
        /** JSON Schema of the arguments. */
        readonly inputSchema: JsonObject;
        /** JSON Schema of the result. */
        readonly outputSchema?: JsonObject | undefined;
        /** Where the tool runs; shown to callers that may write. */
        readonly executorUri?: string | undefined;
        /** The side that runs it: the server or a host of its choice (host), or the caller of the turn (client). */
        readonly executorKind: "host" | "client";
        /** Arguments that replace those of the model; shown to callers that may write. */
        readonly lockedParams?: JsonObject | undefined;
        /** Whether members that the schema does not name are refused. */
        readonly strict: boolean;
        /** Arguments of sample calls. */
        readonly examples: readonly JsonObject[];
        /** The effects of a call. */
        readonly annotations: {
          /** Whether the tool changes nothing. */
          readonly readOnly: boolean;
          /** Whether the tool removes something. */
          readonly destructive: boolean;
          /** Whether a call may be repeated after a restart. */
          readonly idempotent: boolean;
        };
        /** Whether the tool answers later than its call. */
        readonly asyncMode: boolean;
        /** SHA-256 of the definition as JSON with sorted names. */
        readonly specHash: string;
        /** Time of this version of the definition, in Unix seconds. */
        readonly createdAt: Date;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the templates of harnesses. A template gives a harness its goal, prompt, query and tools when it is made or provisioned. */
  harnessTemplates: {
    input: { readonly [none: string]: never };
    output: {
      /** All templates. */
      readonly templates: readonly {
        /** Slug of the template. */
        readonly slug: string;
        /** Name of the template. */
        readonly name: string;
        /** Description of an agent of this template. */
        readonly description: string;
        /** Goal of the agent; empty where whoever provisions it states one. */
        readonly goal: string;
        /** Instructions for the model. */
        readonly systemPrompt: string;
        /** Name of the query that assembles the context of a turn. */
        readonly assembleQuery: string;
        /** The CAL text of that query, for a turn that has a user. */
        readonly assembleText: string;
        /** Suggested tools: those of the server, and some that the caller of a turn would run. */
        readonly tools: readonly ProvisionHarnessTool[];
      }[];
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Send a message to a harness and get the answer of its model. The model may call tools. Those of the server run before the answer; for those of the caller the turn pauses with the status requires_action. */
  harnessChat: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Id of the conversation, chosen by the caller: the session_id of its grains. The same id continues it. */
      readonly conversationId: string;
      /** The message, of at most 262,144 characters. */
      readonly userMessage: string;
      /** The person who speaks, to whom what is stored belongs; the default is the one of the binding. */
      readonly userId?: string | undefined;
      /** Provider for this turn; the default is that of the harness. */
      readonly provider?: string | undefined;
      /** Model for this turn; the default is that of the harness. */
      readonly model?: string | undefined;
      /** Tools that the caller runs itself, for this turn only, beside those of the harness; the default is none. */
      readonly clientTools?: readonly {
        /** Name of the tool: letters, digits, dots, hyphens and underscores, at most 64. */
        readonly toolName: string;
        /** Description of the tool for the model. */
        readonly description: string;
        /** JSON Schema of the arguments, an object at its root. */
        readonly inputSchema: JsonObject;
      }[] | undefined;
    };
    output: HarnessChatOutput;
  };
  /** Go on with a turn that awaits the outputs of tools that the caller runs. It answers every pending call exactly once. A turn that a restart of the server interrupted goes on too; it may have no pending calls. */
  harnessResume: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Id of the turn, as the answer to its message named it. */
      readonly sessionId: string;
      /** The output of each pending call, in any order. */
      readonly toolOutputs: readonly {
        /** Id of the pending call. */
        readonly toolCallId: string;
        /** The answer of the tool, as JSON of at most 262,144 bytes; no default. */
        readonly output?: Json | undefined;
        /** Why the call failed; by default it did not. */
        readonly error?: string | undefined;
        /** Whether the call failed; the default is true with an error, else false. */
        readonly isError?: boolean | undefined;
      }[];
    };
    output: HarnessChatOutput;
  };
  /** Show a turn of a harness: whether it runs, what it waits for, how it ended. Turns that have ended are shown until 32 newer ones of their conversation have begun. */
  getHarnessSession: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Id of the turn, as the answer to its message named it. */
      readonly sessionId: string;
    };
    output: {
      /** Id of the turn, as the answer to its message named it. */
      readonly sessionId: string;
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Id of the conversation, chosen by the caller: the session_id of its grains. The same id continues it. */
      readonly conversationId: string;
      /** State of the turn. */
      readonly status: "running" | "awaiting_client" | "completed" | "cancelled" | "failed" | "expired";
      /** Answers of the model so far. */
      readonly iteration: number;
      /** Calls of tools that the caller is to run, each of which a resume answers. */
      readonly pendingToolCalls: readonly PendingToolCall[];
      /** Whether a restart of the server interrupted it: a resume goes on, without outputs if none is pending. */
      readonly interrupted: boolean;
      /** Hash of the event with the message. */
      readonly userEventHash: string;
      /** Hash of the event with the answer; null unless the turn is completed. */
      readonly assistantEventHash: string | null;
      /** The model's answer; empty unless the turn is completed. */
      readonly text: string;
      /** Code of the error that ended a failed turn; null for any other. */
      readonly error: string | null;
      /** Time of the message, in Unix seconds. */
      readonly createdAt: Date;
      /** Time of the last step, in Unix seconds. */
      readonly updatedAt: Date;
      /** Time at which a turn that awaits its caller expires, in Unix seconds; null for any other. */
      readonly expiresAt: Date | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Cancel a turn of a harness. Pending calls of tools fail with user_aborted. The message stays, and the next one may be sent. */
  cancelHarnessSession: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Id of the turn, as the answer to its message named it. */
      readonly sessionId: string;
    };
    output: {
      /** Id of the turn, as the answer to its message named it. */
      readonly sessionId: string;
      /** Always cancelled. */
      readonly status: "cancelled";
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the conversations of a harness, newest first. By the time of their last message. A bound caller sees those of its namespace and user. */
  listHarnessConversations: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
    };
    output: {
      /** Conversations of the page. */
      readonly conversations: readonly {
        /** Id of the conversation, chosen by the caller: the session_id of its grains. The same id continues it. */
        readonly conversationId: string;
        /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
        readonly slug: string;
        /** Beginning of the first message; empty when that was removed. */
        readonly title: string;
        /** Number of messages that were sent. */
        readonly turnCount: number;
        /** The person who speaks; absent where nobody is named. */
        readonly userId?: string | undefined;
        /** Time of the first message, in Unix seconds. */
        readonly createdAt: Date;
        /** Time of the last message, in Unix seconds. */
        readonly updatedAt: Date;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show the messages of a conversation, oldest first. The messages are the events of the session that the conversation names. */
  getHarnessConversation: {
    input: {
      /** Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end. */
      readonly slug: string;
      /** Id of the conversation, chosen by the caller: the session_id of its grains. The same id continues it. */
      readonly conversationId: string;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
    };
    output: {
      /** Id of the conversation, chosen by the caller: the session_id of its grains. The same id continues it. */
      readonly conversationId: string;
      /** Messages of the page. */
      readonly messages: readonly {
        /** The role of the speaker: user, assistant, or another one that an event has. */
        readonly role: string;
        /** The text. */
        readonly content: string;
        /** Hash of the event. */
        readonly hash: string;
        /** Time of the message, in Unix seconds. */
        readonly createdAt: Date;
        /** Hashes of the actions that led to the answer; absent without any. */
        readonly actionHashes?: readonly string[] | undefined;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the hooks of a memory, newest first, without their secrets. Each one with the state of its deliveries. */
  listHooks: {
    input: {
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The hooks of the page. */
      readonly hooks: readonly {
        /** Id of the hook. */
        readonly hookId: string;
        /** Name of the hook. */
        readonly name: string;
        /** How events reach their reader: webhook sends them to the URL, cdc lets them be read. */
        readonly deliveryMode: "webhook" | "cdc";
        /** URL that events are sent to. */
        readonly url?: string | undefined;
        /** Kinds of events; empty: all. */
        readonly eventFilters: readonly ("grain_created" | "grain_superseded" | "grain_forgotten" | "crypto_erase" | "key_rotated" | "auto_related" | "memories_extracted" | "consent_granted" | "consent_revoked" | "processing_restricted" | "processing_unrestricted" | "policy_changed" | "goal_state_changed" | "retention_enforced" | "import_finished" | "verify_finished" | "burst_noticed")[];
        /** False while deliveries are paused. */
        readonly active: boolean;
        /** Time at which the hook was made, in Unix seconds. */
        readonly createdAt: Date;
        /** Whether deliveries are signed. */
        readonly hasSecret: boolean;
        /** Webhooks: the cursor of the last event that was delivered, given up or passed over. */
        readonly lastSequence?: number | string | undefined;
        /** Events in a row that were given up. */
        readonly consecutiveFailures: number;
        /** Events that were delivered. */
        readonly deliveries: number;
        /** Failed tries of the event that is due. */
        readonly attempts: number;
        /** Time of its next try, in Unix seconds. */
        readonly nextAttemptAt?: Date | undefined;
        /** Why deliveries are paused. */
        readonly pausedReason?: string | undefined;
        /** Why the newest failed try failed. */
        readonly lastFailure?: string | undefined;
        /** Events that were given up in the last seven days, newest first, at most 100. */
        readonly deadLetters: readonly DeadLetter[];
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Make a hook: events of the memory from now on are sent to a URL, or read with its filters. The secret is in this answer alone. */
  createHook: {
    input: {
      /** Name of the hook; the default is the hook's id. */
      readonly name?: string | undefined;
      /** Whether events are sent (webhook) or read (cdc; also log, internal); the default is webhook with a URL. */
      readonly deliveryMode?: "webhook" | "cdc" | "log" | "internal" | undefined;
      /** URL that events are posted to, http or https; required for a webhook. */
      readonly url?: string | undefined;
      /** Kinds of events; empty or absent: all. */
      readonly eventFilters?: readonly string[] | undefined;
      /** Whether deliveries are signed with a new secret; the default is false. */
      readonly generateSecret?: boolean | undefined;
    };
    output: {
      /** Id of the hook. */
      readonly hookId: string;
      /** Name of the hook. */
      readonly name: string;
      /** How events reach their reader: webhook sends them to the URL, cdc lets them be read. */
      readonly deliveryMode: "webhook" | "cdc";
      /** URL that events are sent to. */
      readonly url?: string | undefined;
      /** Kinds of events; empty: all. */
      readonly eventFilters: readonly ("grain_created" | "grain_superseded" | "grain_forgotten" | "crypto_erase" | "key_rotated" | "auto_related" | "memories_extracted" | "consent_granted" | "consent_revoked" | "processing_restricted" | "processing_unrestricted" | "policy_changed" | "goal_state_changed" | "retention_enforced" | "import_finished" | "verify_finished" | "burst_noticed")[];
      /** False while deliveries are paused. */
      readonly active: boolean;
      /** Time at which the hook was made, in Unix seconds. */
      readonly createdAt: Date;
      /** Whether deliveries are signed. */
      readonly hasSecret: boolean;
      /** Webhooks: the cursor of the last event that was delivered, given up or passed over. */
      readonly lastSequence?: number | string | undefined;
      /** Events in a row that were given up. */
      readonly consecutiveFailures: number;
      /** Events that were delivered. */
      readonly deliveries: number;
      /** Failed tries of the event that is due. */
      readonly attempts: number;
      /** Time of its next try, in Unix seconds. */
      readonly nextAttemptAt?: Date | undefined;
      /** Why deliveries are paused. */
      readonly pausedReason?: string | undefined;
      /** Why the newest failed try failed. */
      readonly lastFailure?: string | undefined;
      /** Events that were given up in the last seven days, newest first, at most 100. */
      readonly deadLetters: readonly DeadLetter[];
      /** The secret of the signatures, which is shown this once: the answer to a repeat with the same Idempotency-Key lacks it. */
      readonly secret?: string | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Delete a hook. Deliveries under way may still arrive. Its dead letters go with it. */
  deleteHook: {
    input: {
      /** Id of the hook. */
      readonly hookId: string;
    };
    output: {
      /** Always true. */
      readonly deleted: true;
      /** Id of the deleted hook. */
      readonly hookId: string;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Continue the deliveries of a paused hook; a waiting event is tried at once. The deliveries go on with the event that they stopped at. */
  resumeHook: {
    input: {
      /** Id of the hook. */
      readonly hookId: string;
    };
    output: {
      /** Id of the hook. */
      readonly hookId: string;
      /** Name of the hook. */
      readonly name: string;
      /** How events reach their reader: webhook sends them to the URL, cdc lets them be read. */
      readonly deliveryMode: "webhook" | "cdc";
      /** URL that events are sent to. */
      readonly url?: string | undefined;
      /** Kinds of events; empty: all. */
      readonly eventFilters: readonly ("grain_created" | "grain_superseded" | "grain_forgotten" | "crypto_erase" | "key_rotated" | "auto_related" | "memories_extracted" | "consent_granted" | "consent_revoked" | "processing_restricted" | "processing_unrestricted" | "policy_changed" | "goal_state_changed" | "retention_enforced" | "import_finished" | "verify_finished" | "burst_noticed")[];
      /** False while deliveries are paused. */
      readonly active: boolean;
      /** Time at which the hook was made, in Unix seconds. */
      readonly createdAt: Date;
      /** Whether deliveries are signed. */
      readonly hasSecret: boolean;
      /** Webhooks: the cursor of the last event that was delivered, given up or passed over. */
      readonly lastSequence?: number | string | undefined;
      /** Events in a row that were given up. */
      readonly consecutiveFailures: number;
      /** Events that were delivered. */
      readonly deliveries: number;
      /** Failed tries of the event that is due. */
      readonly attempts: number;
      /** Time of its next try, in Unix seconds. */
      readonly nextAttemptAt?: Date | undefined;
      /** Why deliveries are paused. */
      readonly pausedReason?: string | undefined;
      /** Why the newest failed try failed. */
      readonly lastFailure?: string | undefined;
      /** Events that were given up in the last seven days, newest first, at most 100. */
      readonly deadLetters: readonly DeadLetter[];
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Read the events that a hook selects, oldest first. Nothing is remembered: send `next` as `after` to go on. */
  readHook: {
    input: {
      /** Id of the hook. */
      readonly hookId: string;
      /** Cursor after which events are read; the default is where the hook began. */
      readonly after?: number | string | undefined;
      /** Number of events at most; the default is 100. */
      readonly limit?: number | undefined;
    };
    output: {
      /** The events, as a stream has them. */
      readonly events: readonly JsonObject[];
      /** Cursor after these events. */
      readonly next: number | string;
      /** Set if events after the cursor are missing here; the events begin at the oldest, or at the restore if ahead. */
      readonly gap?: {
        /** Number of the oldest event that is kept; of each partition, joined by dots. */
        readonly oldest: number | string;
        /** Why events are missing: expired ones are not kept, and a cursor ahead is of events that a restore undid. */
        readonly reason: "expired" | "ahead";
      } | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show what a memory holds. A bound key counts its own part of the memory. */
  stats: {
    input: { readonly [none: string]: never };
    output: {
      /** Number of grains, current and superseded. */
      readonly totalGrains: number;
      /** Size of the memory on disk in bytes. */
      readonly diskSpaceBytes: number;
      /** Number of grains by grain type. */
      readonly typeCounts: JsonObject;
      /** Names of the namespaces that hold grains. */
      readonly namespaces: readonly string[];
      /** Number of data subjects. */
      readonly users: number;
      /** Number of superseded grains. */
      readonly supersededGrains: number;
      /** Number of audit entries; absent for a bound caller. */
      readonly auditEntries?: number | undefined;
      /** Always true: every grain is encrypted. */
      readonly hasEncryption: boolean;
      /** Whether the memory has policy presets. */
      readonly hasPolicy: boolean;
      /** Number of writes that its shards hold and have not committed; absent for a bound caller. */
      readonly pendingWrites?: number | undefined;
      /** Number of grains in the triple index. */
      readonly triples: number;
      /** Number of vectors; absent for a bound caller. */
      readonly vectors?: number | undefined;
      /** Number of index blocks to rewrite after an erasure; absent for a bound caller. */
      readonly purgePending?: number | undefined;
      /** Number of grains that are not embedded yet; absent for a bound caller. */
      readonly indexLag?: number | undefined;
      /** Embedder of the memory. */
      readonly embedding: Embedding;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show what a memory held over time. Without a range it shows the last day by hours, or the last 30 days. Hourly points are kept 90 days, daily ones two years. */
  statsHistory: {
    input: {
      /** Time of the first point in Unix seconds; the default is a day before to, or 30 days for interval day. */
      readonly from?: Date | undefined;
      /** Time of the last point in Unix seconds; the default is now. */
      readonly to?: Date | undefined;
      /** Distance of the points; the default is hour. */
      readonly interval?: "hour" | "day" | undefined;
    };
    output: {
      /** The points, the oldest first. */
      readonly points: readonly {
        /** Time of the point in Unix seconds. */
        readonly timestamp: Date;
        /** Number of grains, current and superseded. */
        readonly totalGrains: number;
        /** Size of the memory on disk in bytes. */
        readonly diskSpaceBytes: number;
        /** Number of grains by grain type. */
        readonly typeCounts: JsonObject;
      }[];
      /** Distance of the points: hour or day. */
      readonly interval: string;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show how well a memory and its server do, as metrics with thresholds. Values are computed on call and answered again for 30 seconds. docs/metrics.md defines each metric. */
  memoryMetrics: {
    input: {
      /** Only this domain: ops, intel or all; the default is all. */
      readonly domain?: "" | "ops" | "intel" | "all" | undefined;
    };
    output: {
      /** Time at which the oldest value was computed, in Unix seconds. */
      readonly computedAt: Date;
      /** Domain that was asked for. */
      readonly domain: "ops" | "intel" | "all";
      /** The metrics, in a fixed order. */
      readonly metrics: readonly {
        /** Id of the metric. */
        readonly id: string;
        /** Domain of the metric. */
        readonly domain: "ops" | "intel";
        /** Name of the metric for people. */
        readonly label: string;
        /** Value in `unit`, rounded to three decimal places; null if it is not computed. */
        readonly value: number | null;
        /** Unit of the value and of the thresholds. */
        readonly unit: string;
        /** How the value compares. */
        readonly status: "green" | "yellow" | "red" | "not_computed";
        /** Threshold of green, inclusive. */
        readonly green: number;
        /** Threshold of yellow, inclusive; beyond it the metric is red. */
        readonly yellow: number;
        /** Which values are better. */
        readonly direction: "lower" | "higher";
        /** Length of the window in seconds; 0 for a state of now. */
        readonly windowS: number;
        /** Number of observations behind the value. */
        readonly samples: number;
        /** Why the metric is not computed; absent if it is. */
        readonly reason?: string | undefined;
      }[];
      /** Number of metrics. */
      readonly total: number;
      /** Number of green metrics. */
      readonly green: number;
      /** Number of yellow metrics. */
      readonly yellow: number;
      /** Number of red metrics. */
      readonly red: number;
      /** Number of metrics that are not computed. */
      readonly notComputed: number;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show which storage tiers hold the grains of a memory. This build keeps every grain in the hot tier. */
  tierInfo: {
    input: { readonly [none: string]: never };
    output: {
      /** The tiers: hot, warm and cold. */
      readonly tiers: readonly {
        /** Name of the tier. */
        readonly name: "hot" | "warm" | "cold";
        /** Whether the tier is in use. */
        readonly enabled: boolean;
        /** Storage backend of the tier; null where the tier is off. */
        readonly backend: string | null;
        /** Number of grains in the tier. */
        readonly grains: number;
        /** Size of the tier on disk in bytes. */
        readonly bytes: number;
        /** Creation time of the oldest grain in Unix seconds; null where the tier is empty. */
        readonly oldestAt: Date | null;
        /** Creation time of the newest grain in Unix seconds; null where the tier is empty. */
        readonly newestAt: Date | null;
      }[];
      /** When grains move between tiers. */
      readonly policy: {
        /** Days that a grain stays hot; null where grains never move. */
        readonly hotDays: number | null;
        /** Days that a grain stays warm; null where grains never move. */
        readonly warmDays: number | null;
      };
      /** Whether a business associate agreement is acknowledged for tiering. */
      readonly baaAcknowledged: boolean;
      /** Whether a data processing agreement is acknowledged for tiering. */
      readonly dpaAcknowledged: boolean;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the audit trail of a memory, newest first. Each partition has a hash chain of its own; verify recomputes it. */
  audit: {
    input: {
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
      /** Only entries about this user, or by them. */
      readonly user?: string | undefined;
      /** Only these event types; a name that ends in * stands for all that begin so. */
      readonly eventType?: readonly string[] | undefined;
      /** Only entries about this grain. */
      readonly grainHash?: string | undefined;
      /** Only entries of this actor. */
      readonly actor?: string | undefined;
      /** Only entries from this time on, in Unix seconds. */
      readonly since?: Date | undefined;
      /** Only entries up to this time, in Unix seconds. */
      readonly until?: Date | undefined;
      /** Only the entry with this number in its chain; other filters do not apply. */
      readonly seq?: number | undefined;
      /** Partition of the entry that seq names; the default is 0. */
      readonly partition?: number | undefined;
      /** Whether the hash chain is recomputed too; the default is false. */
      readonly verify?: boolean | undefined;
    };
    output: {
      /** The entries of the page. */
      readonly entries: readonly {
        /** Partition of the chain that the entry is in, from 0. */
        readonly partition: number;
        /** Number of the entry in its chain, from 1; absent for a caller bound to a user. */
        readonly seq?: number | undefined;
        /** Time of the entry in Unix seconds. */
        readonly timestamp: Date;
        /** Type of the event. */
        readonly eventType: string;
        /** Principal that acted. */
        readonly actor: string;
        /** The object of the act. */
        readonly subject: string;
        /** Hash of the grain; absent where the entry is about none. */
        readonly grainHash?: string | undefined;
        /** Codes, counts and hashes. */
        readonly details: JsonObject;
        /** Hash of the entry before; 64 zeros for the first one. */
        readonly prevHash: string;
        /** Hash of the entry. */
        readonly hash: string;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Whether the hash chain is intact; only with verify. */
      readonly chainValid?: boolean | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the records that recalls left, newest first. A record holds no text and no content of grains. */
  listProvenance: {
    input: {
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
      /** Only recalls of this namespace. */
      readonly namespace?: string | undefined;
      /** Only recalls about this user. */
      readonly userId?: string | undefined;
      /** Only recalls from this time on, in Unix seconds. */
      readonly since?: Date | undefined;
      /** Only recalls up to this time, in Unix seconds. */
      readonly until?: Date | undefined;
    };
    output: {
      /** The records of the page. */
      readonly records: readonly {
        /** Id of the record: SHA-256 of its content, 64 hexadecimal digits. */
        readonly recallId: string;
        /** Time of the recall in Unix seconds. */
        readonly timestamp: Date;
        /** Namespace that the recall was about; empty for all. */
        readonly namespace: string;
        /** Mode of the recall: structural, text, hybrid, chain, cal or harness. */
        readonly queryMode: string;
        /** Number of candidates. */
        readonly candidateCount: number;
        /** Number of results. */
        readonly resultCount: number;
        /** Principal that recalled. */
        readonly principal: string;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Count the recalls that left a record, by mode, and the candidates that they left out, by reason. Without since and until it counts every record that is kept. */
  provenanceSummary: {
    input: {
      /** Only recalls from this time on, in Unix seconds. */
      readonly since?: Date | undefined;
      /** Only recalls up to this time, in Unix seconds. */
      readonly until?: Date | undefined;
    };
    output: {
      /** Number of records. */
      readonly totalRecords: number;
      /** Mean number of candidates of a recall. */
      readonly meanCandidates: number;
      /** Mean number of results of a recall. */
      readonly meanResults: number;
      /** Number of recalls that found nothing. */
      readonly zeroResultCount: number;
      /** Number of records by query mode. */
      readonly byMode: JsonObject;
      /** Number of candidates that were left out, by reason. */
      readonly byExclusion: JsonObject;
      /** Time of the oldest record in Unix seconds; absent where there is none. */
      readonly oldest?: Date | undefined;
      /** Time of the newest record in Unix seconds; absent where there is none. */
      readonly newest?: Date | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show the record of a recall: the query, the results and the exclusions. The text of the query is not kept, only its hash. */
  getProvenance: {
    input: {
      /** Id of the record, as the recall answered it. */
      readonly recallId: string;
      /** Whether each result and exclusion is explained in a sentence; the default is false. */
      readonly explain?: boolean | undefined;
    };
    output: {
      /** Id of the record: SHA-256 of its content, 64 hexadecimal digits. */
      readonly recallId: string;
      /** Time of the recall in Unix seconds. */
      readonly timestamp: Date;
      /** Namespace that the recall was about; empty for all. */
      readonly namespace: string;
      /** Mode of the recall: structural, text, hybrid, chain, cal or harness. */
      readonly queryMode: string;
      /** Number of candidates. */
      readonly candidateCount: number;
      /** Number of results. */
      readonly resultCount: number;
      /** Principal that recalled. */
      readonly principal: string;
      /** The query without its text: flags, options and blind tokens. */
      readonly query: JsonObject;
      /** The results by rank, with the terms of their scores. */
      readonly results: readonly {
        /** Rank of the result, from 1. */
        readonly rank: number;
        /** Name that the trail gives the grain; absent for an erased user. */
        readonly grain?: string | undefined;
        /** Hash of the grain in a record of an older build; empty for an erased user. */
        readonly hash?: string | undefined;
        /** Terms of the score; see the breakdown of a recall's hit. */
        readonly scoreBreakdown?: { readonly [name: string]: number } | undefined;
        /** Why the grain is at this rank; only with explain. */
        readonly explanation?: string | undefined;
      }[];
      /** The first 200 candidates that were left out, each with its reason. */
      readonly excluded: readonly {
        /** Why the candidate was left out. */
        readonly reason: string;
        /** Name that the trail gives the grain; absent for an erased user. */
        readonly grain?: string | undefined;
        /** Hash of the grain in a record of an older build; empty for an erased user. */
        readonly hash?: string | undefined;
        /** The reason as a sentence; only with explain. */
        readonly explanation?: string | undefined;
      }[];
      /** Number of candidates that were left out, by reason. */
      readonly excludedCounts: JsonObject;
      /** Number of all candidates that were left out. */
      readonly excludedTotal: number;
      /** Number that makes the ids of equal recalls differ. */
      readonly nonce: number;
      /** Id of the request that recalled. */
      readonly requestId: string;
      /** Hash of the audit entry; empty where reads are not audited. */
      readonly auditEntryHash: string;
      /** Whether the id still matches the record, or what an erasure left of it. */
      readonly verified: boolean;
      /** Whether an erasure removed names and the user from the record. */
      readonly redacted: boolean;
      /** The turn of a harness that showed the results to a model; absent for any other record. */
      readonly harnessTurn?: {
        /** Slug of the harness. */
        readonly slug: string;
        /** Id of the conversation. */
        readonly conversationId: string;
        /** Hash of the event with the message; empty if it may not be seen. */
        readonly userEventHash: string;
        /** Hash of the event with the answer; null for a turn that was paused or has failed. */
        readonly assistantEventHash: string | null;
        /** Hashes of the actions of the turn. */
        readonly actionHashes: readonly string[];
        /** Model that answered. */
        readonly model: string;
        /** Provider of the model. */
        readonly provider: string;
      } | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Export all that a memory holds of a person. The answer is streamed, so its size is not limited. */
  exportUserFile: {
    input: {
      /** The user whose data it is. */
      readonly userId: string;
      /** Whether each grain comes with its bytes, for another system; the default is false. */
      readonly portability?: boolean | undefined;
    };
    output: {
      /** The user. */
      readonly userId: string;
      /** Time of the export in Unix seconds. */
      readonly exportedAt: Date;
      /** Consent record for each purpose of the user. */
      readonly consents: readonly Purpose[];
      /** Number of recalls that left a record about the user. */
      readonly provenanceCount: number;
      /** The user's grains, all versions. */
      readonly grains: readonly {
        /** Hash of the grain: SHA-256 of its plaintext blob, 64 hexadecimal digits. */
        readonly blobHash: string;
        /** The same as blob_hash. */
        readonly hash: string;
        /** Type of the grain. */
        readonly grainType: GrainType;
        /** The grain as one plain sentence, at most 300 characters; a longer one ends with an ellipsis. */
        readonly text: string;
        /** Every field of the grain, with defaults filled in. */
        readonly fields: JsonObject;
        /** Time at which the grain was created, in Unix seconds. */
        readonly createdAt: Date;
        /** Namespace of the grain. */
        readonly namespace: string;
        /** The data subject; absent where there is none. */
        readonly userId?: string | undefined;
        /** Hash of the next version; absent for the current one. */
        readonly supersededBy?: string | undefined;
        /** Hash of the version before; absent for the first one. */
        readonly supersedes?: string | undefined;
        /** Further sources of the grain, the newest first. */
        readonly sources?: readonly string[] | undefined;
        /** Whether this version is current or superseded. */
        readonly versionStatus: "current" | "superseded";
        /** Size of the blob in bytes. */
        readonly sizeBytes: number;
        /** Bytes of the grain in base64; only with portability. */
        readonly blobBase64?: string | undefined;
      }[];
      /** Number of grains. */
      readonly count: number;
      /** Name of the export's format; only with portability. */
      readonly format?: "granary-person/1" | undefined;
      /** The restriction of the user's data; absent where there is none. */
      readonly restriction?: {
        /** The user. */
        readonly userId: string;
        /** Why the data is restricted. */
        readonly reason: string;
        /** Time since which it is restricted, in Unix seconds. */
        readonly restrictedAt: Date;
        /** Principal that restricted it. */
        readonly restrictedBy: string;
      } | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Export all that a memory holds of a person, with the bytes of each grain, as an object. An export that is larger than a message is refused: ask for it over HTTP. */
  exportPortabilityCommand: {
    input: {
      /** The user whose data it is. */
      readonly userId: string;
    };
    output: JsonObject;
  };
  /** Run the compliance checks on a memory: all, or those of one regulation. There are 88 checks; those of a regulation without an active preset are skipped. */
  verifyCompliance: {
    input: {
      /** Only the checks of this regulation: gdpr, hipaa, eu_ai_act, soc2, ccpa, lgpd or pipl; the default is all 88. */
      readonly regulation?: string | undefined;
    };
    output: VerifyComplianceOutput;
  };
  /** Show the last result of the compliance checks on a memory. It runs no checks; before the first run it fails. */
  verifyLatest: {
    input: { readonly [none: string]: never };
    output: VerifyComplianceOutput;
  };
  /** Count the checks of the last full run; the first call starts one. The counts are by group and by regulation too. */
  complianceMetrics: {
    input: { readonly [none: string]: never };
    output: {
      /** Id of the run that the counts come from. */
      readonly runId: string;
      /** Number of checks. */
      readonly total: number;
      /** Number of checks that passed. */
      readonly pass: number;
      /** Number of checks that failed. */
      readonly fail: number;
      /** Number of checks that ended with a warning. */
      readonly warn: number;
      /** Number of checks that did not apply. */
      readonly skip: number;
      /** Share of the checks that were not skipped and passed, from 0 to 1. */
      readonly passRate: number;
      /** Counts of each group of checks, by its name. */
      readonly byGroup: { readonly [name: string]: ByGroup };
      /** Counts of the checks of each regulation, by its name. */
      readonly byRegulation: { readonly [name: string]: ByGroup };
      /** Time at which the run ended, in Unix seconds. */
      readonly lastRunAt: Date;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the checks that fail, the most severe first, with what to do. They come from the last full run; the first call starts one. */
  complianceViolations: {
    input: {
      /** Only violations of this severity: critical, high, medium or low; the default is all. */
      readonly severity?: string | undefined;
      /** Only violations of this group of checks; the default is all. */
      readonly group?: string | undefined;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
    };
    output: {
      /** The checks that failed, the most severe first, then by id. */
      readonly violations: readonly {
        /** Id of the check. */
        readonly id: string;
        /** Group of the check. */
        readonly group: string;
        /** Articles that the check serves. */
        readonly regulations: readonly {
          /** Code of the regulation, such as gdpr. */
          readonly regulation: string;
          /** Article or section of the regulation. */
          readonly article: string;
        }[];
        /** Severity of the check: critical, high, medium or low. */
        readonly severity: string;
        /** The property that the check verifies. */
        readonly description: string;
        /** The measurement of the check, in words. */
        readonly detail: string;
        /** The step after which the check passes. */
        readonly remediation: string;
        /** Time at which the failure was found, in Unix seconds. */
        readonly detectedAt: Date;
      }[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show the impact assessments of the laws on artificial intelligence, with the questions that are open. The answers come from the rule ai.impact_assessment of the policy. */
  complianceImpact: {
    input: {
      /** Only this law: eu_ai_act or colorado_ai_act; the default is both. */
      readonly framework?: string | undefined;
    };
    output: {
      /** One assessment for each law. */
      readonly assessments: readonly Assessment[];
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Export the report of a run: policy, checks, impact, record of processing and log of erasures. It comes as JSON, as text or as CSV. */
  complianceExport: {
    input: {
      /** Format of the report: json, text or csv; the default is json. */
      readonly format?: string | undefined;
      /** Id of a kept run, which is the latest or the latest full one; the default is the latest full run. */
      readonly runId?: string | undefined;
    };
    output: {
      /** Number of checks in the run. */
      readonly total: number;
      /** Number of checks that passed. */
      readonly pass: number;
      /** Number of checks that failed. */
      readonly fail: number;
      /** Number of checks that ended with a warning. */
      readonly warn: number;
      /** Number of checks that did not apply. */
      readonly skip: number;
      /** Share of the checks that were not skipped and passed, from 0 to 1. */
      readonly passRate: number;
      /** Id of the run. */
      readonly runId: string;
      /** The regulation whose checks ran; null for all checks. */
      readonly regulation: string | null;
      /** Time at which the run began, in Unix seconds. */
      readonly startedAt: Date;
      /** Time at which the run ended, in Unix seconds. */
      readonly finishedAt: Date;
      /** Every check of the run with its outcome. */
      readonly checks: readonly Check[];
      /** Id of the memory. */
      readonly memoryId: string;
      /** The policy in force in the memory. */
      readonly policy: {
        /** Version of the policy. */
        readonly version: number;
        /** Always true: a policy is sealed and never edited. */
        readonly sealed: boolean;
        /** Names of the policy presets. */
        readonly presets: readonly string[];
        /** Every rule in force, by group. */
        readonly rules: Rule;
        /** Rules that were set on top of the presets, by group. */
        readonly overrides: JsonObject;
        /** Time at which the version was sealed, in Unix seconds. */
        readonly sealedAt: Date;
        /** SHA-256 that seals the policy. */
        readonly sealHash?: string | undefined;
        /** Seal of the version before; null for the first one. */
        readonly prevSealHash?: string | null | undefined;
        /** Principal that sealed the version. */
        readonly sealedBy?: string | undefined;
        /** Why the policy was changed; null where no reason was given. */
        readonly reason?: string | null | undefined;
      };
      /** One assessment for each law on artificial intelligence. */
      readonly impact: readonly Assessment[];
      /** Record of processing activities (GDPR, Art. 30); null without one. */
      readonly recordOfProcessing: JsonObject | null;
      /** Technical documentation (EU AI Act, Art. 11); null without one. */
      readonly technicalDocumentation: JsonObject | null;
      /** The latest erasures of users and scopes, at most 500. */
      readonly erasureLog: readonly {
        /** Time of the erasure in Unix seconds. */
        readonly timestamp: Date;
        /** The audit event: user.erased or scope.erased. */
        readonly eventType: string;
        /** The erased user, as erased: and a fingerprint; empty for a scope. */
        readonly subject: string;
        /** Counts, codes and hashes of the audit entry. */
        readonly details: JsonObject;
        /** Hash of the audit entry. */
        readonly auditEntryHash: string;
      }[];
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    } | string;
  };
  /** Recompute the audit chain of a memory. The first entry that does not follow from the one before is named. */
  verifyAuditChain: {
    input: {
      /** Number of entries to check at most; the default is all. */
      readonly limit?: number | undefined;
    };
    output: {
      /** Whether every entry that was checked follows from the one before. */
      readonly valid: boolean;
      /** Number of entries that were checked. */
      readonly checked: number;
      /** Number of the first entry that does not follow; absent for a valid chain. */
      readonly firstBadSeq?: number | undefined;
      /** Partition that firstBadSeq is in, from 0. */
      readonly partition: number;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Rebuild every index of a memory from its grains. Reads are answered from the old indexes meanwhile; vectors are made anew after the answer. */
  rebuildIndexes: {
    input: { readonly [none: string]: never };
    output: {
      /** Number of grains that were read. */
      readonly grainsScanned: number;
      /** Number of grains in the new text index. */
      readonly ftsIndexed: number;
      /** Number of vectors at the time of the answer; they are made anew after it. */
      readonly vectorsIndexed: number;
      /** Number of grains that could not be indexed. */
      readonly errors: number;
      /** Time that the rebuild took, in milliseconds. */
      readonly elapsedMs: number;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Free the disk space of removed grains. It rewrites index segments without the entries of removed grains. */
  compact: {
    input: { readonly [none: string]: never };
    output: {
      /** Disk space that was freed, in bytes. */
      readonly reclaimedBytes: number;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Begin a new version of the key of a memory, or wrap every key of the deployment under a new master key. Grains that are there stay readable. */
  rotateKeys: {
    input: {
      /** Which key to rotate: the memory's own, or kek for the master key of the deployment. */
      readonly scope: "memory" | "kek";
    };
    output: {
      /** Number of keys that were made or wrapped again. */
      readonly rotated: number;
      /** Fingerprint of the new key. */
      readonly fingerprint: string;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Record the request of a data subject, for which a deadline runs from now on. The record holds requester, time and deadline. It survives restarts and is in every backup. A person has at most one open request of each kind. */
  openSubjectRequest: {
    input: {
      /** The person whom the request is about. */
      readonly userId: string;
      /** The act that the person asks for; the default is access. The kinds are those of the answer. */
      readonly kind?: "access" | "portability" | "erasure" | "rectification" | "restriction" | "objection" | undefined;
      /** Requester and way of the request, such as a name and a letter; at most 512 characters. */
      readonly requester?: string | undefined;
      /** Note of the operator; at most 4,096 characters. */
      readonly note?: string | undefined;
      /** Time at which the request reached the operator, in Unix seconds; the default is now. */
      readonly receivedAt?: Date | undefined;
      /** Days that the law allows; the default is 30 (GDPR, Art. 12(3)). */
      readonly days?: number | undefined;
    };
    output: OpenSubjectRequestOutput;
  };
  /** List the requests of data subjects, the latest received first. A request is kept for three years after it was closed. One that names nobody any more is still found by its person. */
  listSubjectRequests: {
    input: {
      /** Only requests in this state; the default is all. */
      readonly status?: "open" | "closed" | undefined;
      /** Only requests about this person; the default is all. */
      readonly userId?: string | undefined;
      /** Number of items on a page; the default is 50, and above 500 is treated as 500. */
      readonly limit?: number | undefined;
      /** Cursor of the page to show, from the next_cursor of the page before. */
      readonly cursor?: string | undefined;
      /** Number of items to skip; the default is 0. */
      readonly offset?: number | undefined;
      /** Order by time: desc is newest first, asc oldest first; the default is desc. */
      readonly order?: "asc" | "desc" | undefined;
    };
    output: {
      /** The requests of the page. */
      readonly requests: readonly Request[];
      /** Number of items on all pages; null where it is not counted. */
      readonly total: number | null;
      /** Cursor of the next page; null on the last one. */
      readonly nextCursor: string | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show the request of a data subject, with its deadline. The days that are used are counted up to now, or to its end. */
  getSubjectRequest: {
    input: {
      /** Id of the request. */
      readonly requestId: string;
    };
    output: OpenSubjectRequestOutput;
  };
  /** Extend the deadline of a request, once. GDPR, Art. 12(3): by two further months, where that is necessary; the person must be told why before the first month has passed. */
  extendSubjectRequest: {
    input: {
      /** Id of the request. */
      readonly requestId: string;
      /** Days to add; the default is 60. */
      readonly days?: number | undefined;
      /** Why more time is necessary, as the person is told. */
      readonly reason: string;
    };
    output: OpenSubjectRequestOutput;
  };
  /** Make the report about a request, for the person and for the file. The report holds requester, time, deadline, grains by type and time, consents, recalls, what was done, the proof, and what a restored backup does. As JSON, HTML that prints well, or PDF with the package pdfkit. */
  reportSubjectRequest: {
    input: {
      /** Id of the request. */
      readonly requestId: string;
      /** Format of the report; the default is json. */
      readonly format?: "json" | "html" | "pdf" | undefined;
      /** Language of an HTML file or PDF; the default is en. */
      readonly language?: "en" | "de" | undefined;
    };
    output: {
      /** Time of the report in Unix seconds. */
      readonly generatedAt: Date;
      /** Program and version that made the report. */
      readonly software: string;
      /** Id of the memory. */
      readonly memoryId: string;
      /** Name of the memory. */
      readonly memoryName: string;
      /** The person; erased: and a fingerprint where the request names nobody. */
      readonly person: string;
      /** The request. */
      readonly request: Request;
      /** Controller that the policy names; null without one. */
      readonly controller: string | null;
      /** Purposes of processing that the policy names. */
      readonly purposes: readonly string[];
      /** Recipients that the policy names, and model services outside of this machine. */
      readonly recipients: readonly string[];
      /** Days for which grains are kept by default; null without a limit. */
      readonly retentionDays: number | null;
      /** The data that the memory holds of the person now. */
      readonly held: Held;
      /** Consents on record, at most 200. */
      readonly consents: readonly {
        /** The purpose, or * for every purpose. */
        readonly purpose: string;
        /** State of the consent: granted, revoked or none. */
        readonly status: string;
        /** Time of the latest grant in Unix seconds. */
        readonly grantedAt?: Date | undefined;
        /** Time of the withdrawal in Unix seconds. */
        readonly revokedAt?: Date | undefined;
        /** Lawful basis that the grant named. */
        readonly basis?: string | undefined;
        /** Jurisdiction that the grant named. */
        readonly jurisdiction?: string | undefined;
      }[];
      /** The restriction of the data; absent without one. */
      readonly restriction?: {
        /** Why the data is restricted. */
        readonly reason: string;
        /** Time since which it is restricted, in Unix seconds. */
        readonly restrictedAt: Date;
        /** Principal that restricted it. */
        readonly restrictedBy: string;
      } | undefined;
      /** The newest recalls about the person, at most 20. */
      readonly recalls: readonly {
        /** Time of the recall in Unix seconds. */
        readonly timestamp: Date;
        /** Principal that asked. */
        readonly principal: string;
        /** How it searched. */
        readonly queryMode: string;
        /** Number of results. */
        readonly resultCount: number;
      }[];
      /** The acts since the request was received, oldest first. */
      readonly acts: readonly {
        /** Type of the entries of the audit trail. */
        readonly event: string;
        /** Principal that acted. */
        readonly actor: string;
        /** Time of the first entry in Unix seconds. */
        readonly from: Date;
        /** Time of the last entry in Unix seconds. */
        readonly to: Date;
        /** Number of entries. */
        readonly count: number;
        /** Hash of the last entry. */
        readonly hash: string;
      }[];
      /** Number of entries of the audit trail about that; null where they were not counted. */
      readonly actsTotal: number | null;
      /** The signed proof of the erasure; absent without one. */
      readonly proof?: JsonObject | undefined;
      /** Time of the newest backup by the server, in Unix seconds; null without one. */
      readonly lastBackupAt: Date | null;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    } | string | Uint8Array;
  };
  /** Erase the person of a request: the key is destroyed before the answer, which has the signed proof. The record notes what was held before, as counts and times. A repeated call answers with a new proof of the same erasure. The request stays open until it is closed. */
  eraseSubjectRequest: {
    input: {
      /** Id of the request. */
      readonly requestId: string;
      /** The id of the person once more. */
      readonly confirm: string;
      /** Why the person is erased; the default is the x-reason header, else data_subject_request. */
      readonly reason?: string | undefined;
    };
    output: {
      /** The request. */
      readonly request: Request;
      /** The signed proof of the erasure. */
      readonly proof: JsonObject;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Close the request of a data subject. If the person was erased since the request was received, the record then names nobody: the person, who asked and all free texts are gone. Make the report before. */
  closeSubjectRequest: {
    input: {
      /** Id of the request. */
      readonly requestId: string;
      /** How the request ended; the default is fulfilled. */
      readonly outcome?: "fulfilled" | "partly_fulfilled" | "refused" | "withdrawn" | undefined;
      /** Why, or what remains; required for a request that is refused. */
      readonly note?: string | undefined;
    };
    output: OpenSubjectRequestOutput;
  };
  /** Issue the signed proof of the last erasure of a person. It is made from the audit trail, however the erasure was asked for, and states how far its follow-up work is. Each call signs anew. */
  erasureProof: {
    input: {
      /** The person whose erasure is proven. */
      readonly userId: string;
    };
    output: {
      /** The proof, a JSON object to be kept as it is. */
      readonly proof: JsonObject;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** List the public keys by which proofs of erasures are verified, the current one first. Keys that were replaced stay in the list, so that the proofs that they signed can be verified. */
  proofKeys: {
    input: { readonly [none: string]: never };
    output: {
      /** The public keys. */
      readonly keys: readonly {
        /** First 16 hexadecimal digits of the SHA-256 of the public key. */
        readonly keyId: string;
        /** Ed25519 public key, 32 bytes in base64url. */
        readonly publicKey: string;
        /** The same key as PEM (SubjectPublicKeyInfo). */
        readonly pem: string;
        /** Time at which the key was made, in Unix seconds. */
        readonly createdAt: Date;
        /** Time since which another key signs, in Unix seconds; absent for the current key. */
        readonly retiredAt?: Date | undefined;
      }[];
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Make a new key that signs proofs of erasures from now on. The secret part of the former key is destroyed. Its public part stays in the list, so its proofs stay valid. */
  rotateProofKey: {
    input: { readonly [none: string]: never };
    output: {
      /** First 16 hexadecimal digits of the SHA-256 of the public key. */
      readonly keyId: string;
      /** Ed25519 public key, 32 bytes in base64url. */
      readonly publicKey: string;
      /** The same key as PEM (SubjectPublicKeyInfo). */
      readonly pem: string;
      /** Time at which the key was made, in Unix seconds. */
      readonly createdAt: Date;
      /** Time since which another key signs, in Unix seconds; absent for the current key. */
      readonly retiredAt?: Date | undefined;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Check every record, blob, index block, key and audit chain of the deployment. It reads everything and changes nothing. */
  verify: {
    input: { readonly [none: string]: never };
    output: {
      /** Number of shards that were checked. */
      readonly shards: number;
      /** Number of log records that were checked. */
      readonly records: number;
      /** Number of grains that were checked. */
      readonly grains: number;
      /** Number of index blocks that were checked. */
      readonly blocks: number;
      /** Number of audit entries that were checked. */
      readonly auditEntries: number;
      /** Number of all findings, of which findings lists a bounded number. */
      readonly findingCount: number;
      /** The findings, empty where everything is sound. */
      readonly findings: readonly {
        /** Part of the deployment: a shard by its number, or control. */
        readonly part: string;
        /** Kind of the finding. */
        readonly kind: string;
        /** Place of the finding. */
        readonly where: string;
        /** The fault at that place. */
        readonly problem: string;
      }[];
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Copy the data and keys of the deployment into an empty folder of the server. The server keeps running; the folder then holds data and keys side by side. */
  backup: {
    input: {
      /** Absolute path of an empty or missing folder on the server. */
      readonly path: string;
    };
    output: {
      /** Folder that holds the backup. */
      readonly path: string;
      /** Size of the copied shards in bytes. */
      readonly bytes: number;
      /** Number of shards in the backup. */
      readonly shards: number;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Run a command on a memory; help lists them. Each command is an operation that has no route of its own, with its own scope. */
  exec: {
    input: {
      /** Name of the command; help lists all. */
      readonly command: string;
      /** Arguments of the command, under the names of its operation. */
      readonly args?: JsonObject | undefined;
    };
    output: {
      /** Name of the command that ran. */
      readonly command: string;
      /** Always true: an error has its own answer. */
      readonly ok: true;
      /** Result of the command. */
      readonly result: Json;
      /** Time that the command took, in milliseconds. */
      readonly executionTimeMs: number;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show who the caller is, how it is bound, and which operations it may ask for. A policy, access tuples or the input of a call may refuse it further. */
  whoami: {
    input: { readonly [none: string]: never };
    output: {
      /** Name of the caller in the audit trail. */
      readonly actor: string;
      /** Scopes of the caller, with those that they include. */
      readonly scopes: readonly ("read" | "write" | "admin" | "metrics")[];
      /** Id of the key; absent for a token, and without keys. */
      readonly keyId?: string | undefined;
      /** Name of the key; absent where there is no id. */
      readonly keyName?: string | undefined;
      /** Memories that the caller is bound to; absent for all. */
      readonly memoryIds?: readonly string[] | undefined;
      /** Namespace that the caller is bound to; absent for all namespaces. */
      readonly namespace?: string | undefined;
      /** Data subject that the caller is bound to; absent for all. */
      readonly userId?: string | undefined;
      /** Agent that the token of the caller names. */
      readonly agentId?: string | undefined;
      /** Time at which the key or token ends, in Unix seconds; absent for never. */
      readonly expiresAt?: Date | undefined;
      /** Names of the operations that the scopes and bindings of the caller allow. */
      readonly operations: readonly string[];
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
  /** Show the OpenAPI document of this server. The server generates it from the same table that it answers requests from. */
  openapi: {
    input: { readonly [none: string]: never };
    output: {
      /** Version of OpenAPI. */
      readonly openapi: string;
      /** Name, version and licence of the server. */
      readonly info: JsonObject;
      /** Addresses of the server. */
      readonly servers: readonly JsonObject[];
      /** Groups of operations. */
      readonly tags: readonly JsonObject[];
      /** Ways to send an API key. */
      readonly security: readonly JsonObject[];
      /** The operations by path and verb. */
      readonly paths: JsonObject;
      /** Schemas that several operations share. */
      readonly components: JsonObject;
      /** Members of the request that were ignored, and other notes. */
      readonly warnings?: readonly string[] | undefined;
    };
  };
}

/** A change of a memory. */
export type MemoryEvent = {
  /** Id of the event, the same each time it is told. */
  readonly id: string;
  /** Number of the event in its partition; absent for a caller that is bound. */
  readonly sequence?: number | undefined;
  /** Partition of the event, in a memory with several. */
  readonly partition?: number | undefined;
  /** Id of the memory. */
  readonly memoryId: string;
  /** Kind of the event. */
  readonly eventType: "grain_created" | "grain_superseded" | "grain_forgotten" | "crypto_erase" | "key_rotated" | "auto_related" | "memories_extracted" | "consent_granted" | "consent_revoked" | "processing_restricted" | "processing_unrestricted" | "policy_changed" | "goal_state_changed" | "retention_enforced" | "import_finished" | "verify_finished" | "burst_noticed";
  /** Time of the commit, in milliseconds since 1970. */
  readonly timestampMs: number;
  /** Hash of the grain; absent once a key of the grain was destroyed. */
  readonly hash?: string | undefined;
  /** Type of the grain. */
  readonly grainType?: GrainType | undefined;
  /** Namespace of the grain, while the grain is there. */
  readonly namespace?: string | undefined;
  /** Subject of the grain, if the policy lets personal data out. */
  readonly subject?: string | undefined;
  /** Relation of the grain, if the policy lets personal data out. */
  readonly relation?: string | undefined;
  /** Object of the grain, if the policy lets personal data out. */
  readonly object?: string | undefined;
  /** The person concerned, if the policy lets personal data out. */
  readonly userId?: string | undefined;
  /** Hash of the version that the grain replaced. */
  readonly oldHash?: string | undefined;
  /** Number of grains concerned. */
  readonly count?: number | undefined;
  /** Fingerprint of the key that was made or destroyed. */
  readonly keyFingerprint?: string | undefined;
  /** The erased scope, for a caller that is bound to it. */
  readonly scopePath?: string | undefined;
  /** Further codes and counts. */
  readonly details: JsonObject;
  /** Members that are too long for an event. */
  readonly omitted?: readonly string[] | undefined;
};

/** Operations of one memory. */
export type MemoryOperation =
  | 'add'
  | 'batchAdd'
  | 'recall'
  | 'recallChain'
  | 'search'
  | 'listGrains'
  | 'get'
  | 'getRaw'
  | 'remember'
  | 'supersede'
  | 'accumulate'
  | 'forget'
  | 'forgetUser'
  | 'flush'
  | 'history'
  | 'importFile'
  | 'extractDocument'
  | 'importDocument'
  | 'createImport'
  | 'listImports'
  | 'getImport'
  | 'streamImport'
  | 'cancelImport'
  | 'exportFile'
  | 'sessionBootstrap'
  | 'sessionState'
  | 'sessionActions'
  | 'sessionActionsSummary'
  | 'sessionActionsChain'
  | 'sessionFailedActions'
  | 'sessionContext'
  | 'sessionConsolidate'
  | 'createGoal'
  | 'sessionGoals'
  | 'sessionBlockedGoals'
  | 'sessionGoalTree'
  | 'moveGoal'
  | 'delegateGoal'
  | 'statesDiff'
  | 'grantConsent'
  | 'revokeConsent'
  | 'grantConsents'
  | 'consentStatus'
  | 'restrictProcessing'
  | 'liftRestriction'
  | 'restrictions'
  | 'policy'
  | 'setPolicy'
  | 'simulatePolicy'
  | 'policyResolved'
  | 'retentionStatus'
  | 'enforceRetention'
  | 'grantAccess'
  | 'revokeAccess'
  | 'checkAccess'
  | 'listAccess'
  | 'events'
  | 'registerAgent'
  | 'deactivateAgent'
  | 'agentIdentities'
  | 'agentIdentity'
  | 'agents'
  | 'agent'
  | 'detectPii'
  | 'cal'
  | 'calSwitch'
  | 'getMemory'
  | 'deleteMemory'
  | 'scopeTree'
  | 'setScopeTree'
  | 'deleteScopeTree'
  | 'scopeErase'
  | 'graph'
  | 'listEdges'
  | 'chatStream'
  | 'listThreads'
  | 'createThread'
  | 'getThread'
  | 'changeThread'
  | 'deleteThread'
  | 'listMessages'
  | 'listHarnesses'
  | 'createHarness'
  | 'getHarness'
  | 'changeHarness'
  | 'deleteHarness'
  | 'provisionHarness'
  | 'bindTool'
  | 'harnessTools'
  | 'harnessTemplates'
  | 'harnessChat'
  | 'harnessResume'
  | 'getHarnessSession'
  | 'cancelHarnessSession'
  | 'listHarnessConversations'
  | 'getHarnessConversation'
  | 'listHooks'
  | 'createHook'
  | 'deleteHook'
  | 'resumeHook'
  | 'readHook'
  | 'stats'
  | 'statsHistory'
  | 'memoryMetrics'
  | 'tierInfo'
  | 'audit'
  | 'listProvenance'
  | 'provenanceSummary'
  | 'getProvenance'
  | 'exportUserFile'
  | 'exportPortabilityCommand'
  | 'verifyCompliance'
  | 'verifyLatest'
  | 'complianceMetrics'
  | 'complianceViolations'
  | 'complianceImpact'
  | 'complianceExport'
  | 'verifyAuditChain'
  | 'rebuildIndexes'
  | 'compact'
  | 'rotateKeys'
  | 'openSubjectRequest'
  | 'listSubjectRequests'
  | 'getSubjectRequest'
  | 'extendSubjectRequest'
  | 'reportSubjectRequest'
  | 'eraseSubjectRequest'
  | 'closeSubjectRequest'
  | 'erasureProof'
  | 'verify'
  | 'backup'
  | 'exec';

/** Operations of the deployment. */
export type DeploymentOperation =
  | 'nerStatus'
  | 'config'
  | 'health'
  | 'healthLive'
  | 'healthReady'
  | 'llmSettings'
  | 'setLlmSettings'
  | 'listProviders'
  | 'setProvider'
  | 'deleteProvider'
  | 'testProvider'
  | 'providerModels'
  | 'listModels'
  | 'modelAssignments'
  | 'setModelAssignments'
  | 'listKeys'
  | 'createKey'
  | 'revokeKey'
  | 'listMemories'
  | 'createMemory'
  | 'proofKeys'
  | 'rotateProofKey'
  | 'whoami'
  | 'openapi';

/** Verb, path (M: the memory), body, answer and flags of each operation. */
export const ROUTES: Readonly<Record<MemoryOperation | DeploymentOperation, string>> = {
  add: 'POST M/add json json wn',
  batchAdd: 'POST M/batch-add json json wn',
  recall: 'POST M/recall json json un',
  recallChain: 'POST M/recall-chain json json',
  search: 'POST M/search json json un',
  listGrains: 'GET M/grains query json un',
  get: 'GET M/grains/{hash} query json',
  getRaw: 'GET M/grains/{hash}/raw query bytes',
  remember: 'POST M/remember json json wun',
  supersede: 'POST M/supersede json json w',
  accumulate: 'POST M/accumulate json json wn',
  forget: 'POST M/forget json json wu',
  forgetUser: 'POST forget_user command json wu',
  flush: 'POST M/flush json json w',
  history: 'POST history command json',
  importFile: 'POST M/import-file file json ws',
  extractDocument: 'POST M/extract-document file json s',
  importDocument: 'POST M/import-document file json wsun',
  createImport: 'POST M/imports file json wsun',
  listImports: 'GET M/imports query json',
  getImport: 'GET M/imports/{job_id} query json',
  streamImport: 'GET M/imports/{job_id}/stream query stream',
  cancelImport: 'POST M/imports/{job_id}/cancel json json w',
  exportFile: 'GET M/export-file query bytes sn',
  sessionBootstrap: 'GET M/sessions/{sid}/bootstrap query json',
  sessionState: 'GET M/sessions/{sid}/state query json',
  sessionActions: 'GET M/sessions/{sid}/actions query json',
  sessionActionsSummary: 'GET M/sessions/{sid}/actions/summary query json',
  sessionActionsChain: 'GET M/sessions/{sid}/actions/chain/{task} query json',
  sessionFailedActions: 'GET M/sessions/{sid}/actions/failed query json',
  sessionContext: 'GET M/sessions/{sid}/context query json',
  sessionConsolidate: 'POST M/sessions/{sid}/consolidate json json ws',
  createGoal: 'POST M/sessions/{sid}/goals/create json json wun',
  sessionGoals: 'GET M/sessions/{sid}/goals query json',
  sessionBlockedGoals: 'GET M/sessions/{sid}/goals/blocked query json',
  sessionGoalTree: 'GET M/sessions/{sid}/goals/tree query json',
  moveGoal: 'PUT M/goals/{hash}/state json json w',
  delegateGoal: 'POST M/goals/{hash}/delegate json json w',
  statesDiff: 'POST M/states/diff json json',
  grantConsent: 'POST M/consent/grant json json wu',
  revokeConsent: 'POST M/consent/revoke json json wu',
  grantConsents: 'POST M/consent/grant-bulk json json w',
  consentStatus: 'GET M/consent/status query json u',
  restrictProcessing: 'POST restrict command json wu',
  liftRestriction: 'POST unrestrict command json wu',
  restrictions: 'POST restrictions command json u',
  policy: 'GET M/policy query json',
  setPolicy: 'PUT M/policy json json w',
  simulatePolicy: 'POST M/policy/simulate json json s',
  policyResolved: 'POST policy_resolved command json',
  retentionStatus: 'GET M/retention/status query json n',
  enforceRetention: 'POST M/retention/enforce json json wsn',
  grantAccess: 'POST M/authz/grant json json w',
  revokeAccess: 'POST M/authz/revoke json json w',
  checkAccess: 'GET M/authz/check query json',
  listAccess: 'POST authz_list command json',
  events: 'GET M/events query stream',
  registerAgent: 'POST M/agents/identities json json w',
  deactivateAgent: 'POST M/agents/identities/{agent_id}/deactivate json json w',
  agentIdentities: 'GET M/agents/identities query json',
  agentIdentity: 'GET M/agents/identities/{agent_id} query json',
  agents: 'GET M/agents query json',
  agent: 'GET M/agents/{agent_id} query json',
  detectPii: 'POST M/detect-pii json json s',
  nerStatus: 'GET /settings/ner/status query json s',
  cal: 'POST cal command json w',
  calSwitch: 'POST cal_switch command json w',
  config: 'GET /config query json',
  health: 'GET /health query json',
  healthLive: 'GET /health/live query json',
  healthReady: 'GET /health/ready query json',
  llmSettings: 'GET /settings/llm query json',
  setLlmSettings: 'PUT /settings/llm json json w',
  listProviders: 'GET /settings/providers query json',
  setProvider: 'PUT /settings/providers/{id} json json w',
  deleteProvider: 'DELETE /settings/providers/{id} query json w',
  testProvider: 'POST /settings/providers/{id}/test json json w',
  providerModels: 'GET /settings/providers/{id}/models query json',
  listModels: 'GET /models query json',
  modelAssignments: 'GET /settings/model-assignments query json',
  setModelAssignments: 'PUT /settings/model-assignments json json w',
  listKeys: 'GET /auth/keys query json',
  createKey: 'POST /auth/keys json json wun',
  revokeKey: 'DELETE /auth/keys/{key_id} query json w',
  listMemories: 'GET /memories query json',
  createMemory: 'POST /memories json json w',
  getMemory: 'GET M query json',
  deleteMemory: 'DELETE M query json ws',
  scopeTree: 'GET M/scope-tree query json',
  setScopeTree: 'PUT M/scope-tree json json w',
  deleteScopeTree: 'DELETE M/scope-tree query json w',
  scopeErase: 'POST M/scope-erase json json w',
  graph: 'GET M/graph query json',
  listEdges: 'GET M/graph/edges query json',
  chatStream: 'POST M/chat/stream json stream wsun',
  listThreads: 'GET M/chat/threads query json',
  createThread: 'POST M/chat/threads json json wun',
  getThread: 'GET M/chat/threads/{thread_id} query json',
  changeThread: 'PATCH M/chat/threads/{thread_id} json json w',
  deleteThread: 'DELETE M/chat/threads/{thread_id} query json ws',
  listMessages: 'GET M/chat/threads/{thread_id}/messages query json',
  listHarnesses: 'GET M/harnesses query json',
  createHarness: 'POST M/harnesses json json w',
  getHarness: 'GET M/harnesses/{slug} query json',
  changeHarness: 'PATCH M/harnesses/{slug} json json w',
  deleteHarness: 'DELETE M/harnesses/{slug} query json w',
  provisionHarness: 'POST M/harnesses/{slug}/provision json json w',
  bindTool: 'POST M/harnesses/{slug}/bind-tool json json w',
  harnessTools: 'GET M/harnesses/{slug}/tools query json',
  harnessTemplates: 'POST harness_templates command json',
  harnessChat: 'POST M/harnesses/{slug}/chat json json wsu',
  harnessResume: 'POST M/harnesses/{slug}/chat/resume json json ws',
  getHarnessSession: 'GET M/harnesses/{slug}/chat/sessions/{session_id} query json',
  cancelHarnessSession: 'DELETE M/harnesses/{slug}/chat/sessions/{session_id} query json w',
  listHarnessConversations: 'GET M/harnesses/{slug}/conversations query json',
  getHarnessConversation: 'GET M/harnesses/{slug}/conversations/{conversation_id} query json',
  listHooks: 'GET M/hooks query json',
  createHook: 'POST M/hooks json json w',
  deleteHook: 'DELETE M/hooks/{hook_id} query json w',
  resumeHook: 'POST hook_resume command json w',
  readHook: 'POST cdc_read command json',
  stats: 'GET M/stats query json',
  statsHistory: 'GET M/stats/history query json',
  memoryMetrics: 'POST metrics command json s',
  tierInfo: 'GET M/tier-info query json',
  audit: 'GET M/audit query json',
  listProvenance: 'GET M/provenance query json un',
  provenanceSummary: 'GET M/provenance/summary query json s',
  getProvenance: 'GET M/provenance/{recall_id} query json',
  exportUserFile: 'GET M/export/{user_id} query json su',
  exportPortabilityCommand: 'POST export_portability command json su',
  verifyCompliance: 'POST M/verify/run json json s',
  verifyLatest: 'GET M/verify/latest query json',
  complianceMetrics: 'GET M/compliance/metrics query json s',
  complianceViolations: 'GET M/compliance/violations query json s',
  complianceImpact: 'GET M/compliance/impact query json s',
  complianceExport: 'GET M/compliance/export query text s',
  verifyAuditChain: 'POST verify_audit_chain command json s',
  rebuildIndexes: 'POST rebuild_indexes command json ws',
  compact: 'POST compact command json ws',
  rotateKeys: 'POST rotate_keys command json ws',
  openSubjectRequest: 'POST M/subject-requests json json wu',
  listSubjectRequests: 'GET M/subject-requests query json u',
  getSubjectRequest: 'GET M/subject-requests/{request_id} query json',
  extendSubjectRequest: 'POST M/subject-requests/{request_id}/extend json json w',
  reportSubjectRequest: 'GET M/subject-requests/{request_id}/report query text s',
  eraseSubjectRequest: 'POST M/subject-requests/{request_id}/erase json json ws',
  closeSubjectRequest: 'POST M/subject-requests/{request_id}/close json json ws',
  erasureProof: 'GET M/erasure-proof query json su',
  proofKeys: 'GET /proof-keys query json',
  rotateProofKey: 'POST /proof-keys/rotate json json w',
  verify: 'POST verify command json s',
  backup: 'POST backup command json ws',
  exec: 'POST M/app/exec json json ws',
  whoami: 'GET /auth/whoami query json',
  openapi: 'GET /openapi.json query json',
};

/** The member that lists the items, for each operation with pages. */
export const PAGES = {
  listGrains: 'grains',
  history: 'versions',
  listImports: 'jobs',
  sessionActions: 'actions',
  sessionFailedActions: 'actions',
  sessionGoals: 'goals',
  sessionBlockedGoals: 'goals',
  consentStatus: 'users',
  restrictions: 'restrictions',
  retentionStatus: 'namespaces',
  listAccess: 'tuples',
  agentIdentities: 'identities',
  agents: 'agents',
  listProviders: 'providers',
  providerModels: 'models',
  listModels: 'models',
  listKeys: 'keys',
  listMemories: 'memories',
  listEdges: 'edges',
  listThreads: 'threads',
  listMessages: 'messages',
  listHarnesses: 'harnesses',
  harnessTools: 'tools',
  listHarnessConversations: 'conversations',
  getHarnessConversation: 'messages',
  listHooks: 'hooks',
  audit: 'entries',
  listProvenance: 'records',
  complianceViolations: 'violations',
  listSubjectRequests: 'requests',
} as const;

/** Members that are more than their value: times, data that is passed on, records. */
export const KINDS: Readonly<Record<string, 'plain' | 'open' | 'record' | 'time'>> = {
  'sessionContext>.actions': 'open',
  'answers': 'open',
  'args': 'open',
  'arguments': 'open',
  'as_of': 'time',
  'beliefs': 'open',
  'dropped.beliefs': 'plain',
  'blob': 'open',
  'by_exclusion': 'open',
  'by_group': 'record',
  'by_mode': 'open',
  'by_namespace': 'record',
  '.by_namespace': 'open',
  'by_regulation': 'record',
  'by_tool': 'record',
  'by_type': 'record',
  'held.by_type': 'plain',
  '.bytes': 'open',
  'backup>.bytes': 'plain',
  'checked_at': 'time',
  'closed_at': 'time',
  'components': 'open',
  'computed_at': 'time',
  'created_after': 'time',
  'created_at': 'time',
  'created_before': 'time',
  'deactivated_at': 'time',
  'deadline': 'time',
  'deltas': 'record',
  'details': 'open',
  'detected_at': 'time',
  'due_at': 'time',
  'erased_at': 'time',
  'readHook>.events': 'open',
  'examples': 'open',
  'excluded': 'record',
  'getProvenance>.excluded': 'plain',
  'excluded_counts': 'open',
  'expires_at': 'time',
  'expiry_policy': 'open',
  'exported_at': 'time',
  'extended_at': 'time',
  'features': 'open',
  'fields': 'open',
  'finished_at': 'time',
  'first_seen': 'time',
  'first_seen_at': 'time',
  'from': 'time',
  'diff.from': 'open',
  'generated_at': 'time',
  'sessionContext>.goals': 'open',
  'granted_at': 'time',
  'info': 'open',
  'input_schema': 'open',
  'last_backup_at': 'time',
  'last_enforced_at': 'time',
  'last_reviewed_at': 'time',
  'last_run_at': 'time',
  'last_seen': 'time',
  'last_seen_at': 'time',
  'last_used_at': 'time',
  'limits': 'open',
  'loaded_at': 'time',
  'locked_params': 'open',
  'metadata': 'record',
  '.metadata': 'open',
  'registerAgent<.metadata': 'record',
  'registerAgent>.metadata': 'record',
  'deactivateAgent>.metadata': 'record',
  'agentIdentity>.metadata': 'record',
  'threads.metadata': 'open',
  'models_cached_at': 'time',
  'new': 'open',
  'newest': 'time',
  'newest_at': 'time',
  'newest_created_at': 'time',
  'next_attempt_at': 'time',
  'next_expiry_at': 'time',
  'next_review_at': 'time',
  'old': 'open',
  '.oldest': 'time',
  'oldest_at': 'time',
  'oldest_created_at': 'time',
  'opened': 'open',
  'opened_at': 'time',
  'output': 'open',
  'output_schema': 'open',
  'overrides': 'open',
  'paths': 'open',
  'policyResolved>.policy': 'open',
  'proof': 'open',
  'getProvenance>.query': 'open',
  'received_at': 'time',
  'reference_date': 'time',
  'restricted_at': 'time',
  'result': 'open',
  'retired_at': 'time',
  'revoked_at': 'time',
  'roots': 'open',
  'getProvenance>results.score_breakdown': 'record',
  'sealed_at': 'time',
  'security': 'open',
  'servers': 'open',
  'set': 'open',
  'settings': 'open',
  'signed_proof': 'open',
  'since': 'time',
  'events<.since': 'plain',
  'started_at': 'time',
  'openapi>.tags': 'open',
  'target_date': 'time',
  'messages.time': 'time',
  'time_end': 'time',
  'time_start': 'time',
  'timestamp': 'time',
  'to': 'time',
  'diff.to': 'open',
  'type_counts': 'open',
  'until': 'time',
  'updated_at': 'time',
  'workflow': 'open',
};

/** Limits that the client splits batches at. */
export const LIMITS = {
  batchGrains: 1000,
  requestBytes: 16777216,
  rememberBytes: 262144,
};
