// Every bound, in one place, with what happens there. Options may lower some of them (config.ts); none raises what a
// byte format or LMDB fixes. The asserts at the end say how bounds relate.
import { assert } from './assert.ts';

/** A grain's blob; beyond: ERR_TOO_LARGE from the codec, LIM-E003 from the service. */
export const BLOB_BYTES_MAX = 1_048_576;
/** Nesting of a payload: the payload map is 1. */
export const GRAIN_DEPTH_MAX = 32;
/** Schemas inside of one another in the definition of a tool. */
export const TOOL_SCHEMA_DEPTH_MAX = 16;
/** Characters of a `pattern` there. */
export const TOOL_PATTERN_CHARS_MAX = 1_024;
/** What an import option may raise the blob limit to. */
export const BLOB_BYTES_CEILING = 16 * 1_048_576;
/** Combining marks in a row in one string; beyond: ERR_TOO_LARGE, since normalizing them takes quadratic time. */
export const COMBINING_RUN_MAX = 512;
/** What a signed envelope may add to its blob. */
export const ENVELOPE_OVERHEAD_MAX = 4_096;
/** A compressed container, inflated; beyond: ERR_TOO_LARGE. */
export const CONTAINER_INFLATED_MAX = 256 * 1_048_576;
/** One line of JSON on the codec's command line; beyond: an error line, and the rest of it is skipped. */
export const JSON_LINE_BYTES_MAX = 64 * 1_048_576;
/** Namespaces whose header hash is remembered. */
export const NAMESPACE_HASHES_MAX = 4_096;
/** Fields of one grain in a request, extra ones included; beyond: VAL-E001. */
export const GRAIN_FIELDS_MAX = 10_000;
export const TAGS_MAX = 64;
/** Values of other fields that one grain is listed under; `store/indexed-fields.ts` gives no more. */
export const FIELD_VALUES_MAX = 16;
export const TAG_CHARS_MAX = 128;
export const NAMESPACE_CHARS_MAX = 256;
/** Levels of a memory's scopes below the root, and all its scopes; beyond: SCP-E002. */
export const SCOPE_DEPTH_MAX = 8;
export const SCOPE_NODES_MAX = 10_000;
export const SCOPE_NAME_CHARS_MAX = 64;
export const USER_ID_CHARS_MAX = 256;
export const EMBEDDING_TEXT_BYTES_MAX = 8_192;
/** A JSON body or a gRPC message; beyond: LIM-E003. */
export const MESSAGE_BYTES_MAX = 16 * 1_048_576;
export const BATCH_GRAINS_MAX = 1_000;
/** Sources of a known grain that are kept beside those in its bytes; beyond: a warning. */
export const FURTHER_SOURCES_MAX = 100;
export const UPLOAD_BYTES_MAX = 50 * 1_048_576;
/** A request's line and headers; beyond: 431 and the connection is closed. */
export const HEADER_BYTES_MAX = 16_384;
/** Connections of one listener; beyond: new ones are closed. */
export const CONNECTIONS_MAX = 20_000;
/** Headers that are not complete by then close their connection, and so does a connection without a request. */
export const HEADERS_TIMEOUT_MS = 30_000;
/** A body that is not complete by then: 408. */
export const BODY_TIMEOUT_MS = 120_000;
/** Requests while they arrive and are worked on, and answers while peers take them, on all listeners: what an option may lower
 * or raise. Beyond: the slowest are dropped (LIM-E001, or a closed connection). */
export const REQUEST_MEMORY_MB = 256;
export const ANSWER_MEMORY_MB = 256;
export const MEMORY_MB_MIN = 64;
/** A page, and a recall's hits, as JSON; beyond: the page ends with a cursor, the recall is cut and says so. */
export const ANSWER_BYTES_MAX = 16 * 1_048_576;
/** Sources that a recall adds to its hits; beyond: those of the best hits, and a warning. */
export const SOURCES_MAX = 500;
/** Blobs of grains that one recall, or one CAL query, opens and holds until it has chosen; beyond: it is cut, or refused. */
export const RECALL_HELD_BYTES_MAX = 32 * 1_048_576;
export const CAL_HELD_BYTES_MAX = 64 * 1_048_576;
/** What is gathered from several partitions at a time, and how many of these gathers may hold more than a small one (as much as a
 * recall may); CAL queries over several partitions. Others wait for their turn. */
export const GATHERS_MAX = 64;
export const GATHER_SMALL_BYTES = 1_048_576;
export const GATHERS_LARGE_MAX = 4;
export const CAL_GATHERS_MAX = 8;
/** An answer of more bytes has a share of that budget; one that begins is refused rather than others be cut off that began less than so long ago. */
export const ANSWER_SHARED_BYTES_MIN = 65_536;
export const ANSWER_SPARED_MS = 5_000;
/** Body bytes held before anybody asked for them; then the connection is read no further. */
export const BODY_UNASKED_BYTES_MAX = 65_536;
/** Pieces (chunks as a peer sends them) of a body, and their bytes on average below which more are refused: 400, and the connection
 * is closed, since each piece costs as much as many bytes. */
export const BODY_PIECES_MAX = 4_096;
export const BODY_PIECE_BYTES_MIN = 16;
/** A response is handed to the socket in pieces of this size. */
export const RESPONSE_PIECE_BYTES = 65_536;
/** Nesting of a JSON body; beyond: VAL-E001. */
export const JSON_DEPTH_MAX = 64;
/** Members of objects and elements of lists in one request, at every depth, and fields of a message; beyond: VAL-E001. */
export const REQUEST_MEMBERS_MAX = 50_000;
/** Digits of one number in a JSON body; beyond: VAL-E001. */
export const JSON_DIGITS_MAX = 1_024;
/** JSON bodies above this are parsed by a thread of their own, or by the worker of their memory. */
export const JSON_PARSED_HERE_BYTES_MAX = 262_144;
/** Long bodies that wait for that thread; beyond: LIM-E001. */
export const JSON_READS_WAITING_MAX = 64;
/** Calls that one gRPC connection may have in flight. */
export const GRPC_STREAMS_MAX = 1_024;
/** An idle gRPC connection is asked whether it lives this often, and closed when it says nothing for a third of it. */
export const GRPC_KEEPALIVE_MS = 60_000;
/** A gRPC connection is asked to make a new one after this. */
export const GRPC_CONNECTION_AGE_MS = 3_600_000;
/** How often gRPC connections and calls are looked at: how much later than its time one of them may end. */
export const GRPC_LOOK_MS = 5_000;
/** A gRPC request that is not whole by then is refused, and a caller that has not taken its answer is cut off. */
export const GRPC_PEER_TIMEOUT_MS = 120_000;
/** What a gRPC client may send beyond what was read: of one call, and of one connection. */
export const GRPC_STREAM_WINDOW_BYTES = 1_048_576;
export const GRPC_CONNECTION_WINDOW_BYTES = 16 * 1_048_576;
/** Answers and the like that one gRPC connection has not taken, in MB; beyond: its new calls are refused. */
export const GRPC_CONNECTION_MEGABYTES_MAX = 512;
/** Compressed gRPC messages that are inflated at a time; others wait. */
export const GRPC_INFLATIONS_MAX = 4;
/** A message to health or reflection; beyond: LIM-E003. */
export const GRPC_PROBE_BYTES_MAX = 65_536;
/** Callers who watch health; beyond: RESOURCE_EXHAUSTED. */
export const GRPC_WATCHES_MAX = 1_000;
export const RECALL_LIMIT_DEFAULT = 20;
/** Larger limits are treated as this, with a warning. */
export const RECALL_LIMIT_MAX = 500;
export const CANDIDATE_LIMIT_MAX = 2_500;
/** Erased grains of a shard that are remembered as such, and of one erasure. */
export const ERASED_REMEMBERED_MAX = 65_536;
export const ERASED_REMEMBERED_EACH = 4_096;
/** Namespaces and users whose docs are kept counted for each part of a memory: a bit a doc each. */
export const COUNTED_BINDINGS_MAX = 8;
export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 500;
export const PAGE_OFFSET_MAX = 10_000;
/** Times in seconds above this are refused: they are milliseconds by mistake. */
export const SECONDS_MAX = 9_999_999_999;
/** created_at may lie this far in the future. */
export const FUTURE_SECONDS_MAX = 300;
export const REQUEST_TIMEOUT_MS = 30_000;
/** Characters of the name of a memory or a key, of a principal, of a region. */
export const NAME_CHARS_MAX = 256;
export const DESCRIPTION_CHARS_MAX = 4096;
/** Settings that a memory was made with, as JSON. */
export const MEMORY_SETTINGS_BYTES_MAX = 16 * 1024;
export const IDEMPOTENCY_KEY_CHARS_MAX = 256;
export const IDEMPOTENCY_KEEP_MS = 24 * 3_600_000;

/** Requests packed into one message to a worker, and bytes of it; more waits for the next message. */
export const PACK_ITEMS_MAX = 1_000;
export const PACK_BYTES_MAX = 1_048_576;
/** Requests and bytes waiting for one worker; beyond: LIM-E001 at once. */
export const PENDING_ITEMS_MAX = 20_000;
export const PENDING_BYTES_MAX = 64 * 1_048_576;
/** Batches sent to a worker that it has not run yet; what is asked meanwhile gathers in the next. Two gained nothing. */
export const BATCHES_OUT_MAX = 1;
/** A worker runs what was sent to it for so long before it looks whether something else came. */
export const BATCH_TURN_MS = 20;
/** Replies of a worker that the main thread has not looked at; beyond: nothing more is run. Smaller messages are not counted. */
export const REPLY_BYTES_OUT_MAX = 32 * 1_048_576;
export const REPLY_COUNTED_BYTES_MIN = 65_536;
/** A worker that died is started again after this long, doubled by each death that follows, up to the second. */
export const RESTART_DELAY_MIN_MS = 100;
export const RESTART_DELAY_MAX_MS = 10_000;
/** A worker that has not closed its shards after this long is ended; its log is replayed at the next start. */
export const CLOSE_MS = 30_000;
/** A worker that lived this long died for the first time again. */
export const RESTART_FORGIVEN_MS = 60_000;

/** Writes that share one append, and bytes of their records: a group is planned in one go, so this bounds how long a
 * read may wait for it. An audit record counts the callers of a group in a byte. */
export const GROUP_WRITES_MAX = 255;
export const GROUP_BYTES_MAX = 8 * 1_048_576;
/** Changes of housekeeping that a group takes along. */
export const GROUP_CHANGES_MAX = 64;

/** Unsealed grains in a shard's tail at which a seal begins, and at which writes wait for it. */
export const TAIL_GRAINS_SEAL = 16_384;
export const TAIL_GRAINS_MAX = 65_536;
/** A tail that nobody has written to for this long is sealed. */
export const IDLE_SEAL_MS = 2_000;
/** Housekeeping that storage refused is tried again after this long. */
export const HOUSEKEEPING_RETRY_MS = 1_000;
/** Unsealed records at which a seal begins whatever they are: what a restart replays at most, about. */
export const REPLAY_RECORDS_MAX = 65_536;
/** Segments of similar size that are merged into one. */
export const MERGE_FANOUT = 8;
/** Segment files of a shard, beyond which the cheapest neighbours are merged whatever their sizes. */
export const SEGMENTS_MAX = 64;
/** Memories that a shard's index keeps open, and the chunks of these (a kilobyte each beside the heap budget). */
export const INDEX_MEMORIES_OPEN_MAX = 8_192;
export const INDEX_CHUNKS_OPEN_MAX = 16_384;
/** Bad segments and blocks that health names. */
export const INDEX_PROBLEMS_MAX = 100;
/** Plaintext bytes of one sealed block. */
export const BLOCK_BYTES = 32_768;
/** A maintenance slice's share of a worker's time. */
export const SLICE_MS = 4;
/** The same while nobody asks anything: a request that comes waits for at most one slice. */
export const IDLE_SLICE_MS = 10;
/** A worker that ran no batch for this long is idle. */
export const IDLE_AFTER_MS = 20;
/** How often an idle worker looks whether time alone has made something to do. */
export const MAINTENANCE_TICK_MS = 1_000;

/** Characters of a term; what follows them in a longer word is not indexed. */
export const TERM_CHARS_MAX = 64;
/** Words whose terms one language's analyser remembers, twice (two generations); the rest is stemmed again. */
export const WORD_CACHE_MAX = 32_768;
/** Characters of a speaker's name that are kept. */
export const SPEAKER_CHARS_MAX = 256;
/** Characters of a query that are analysed, and distinct terms, clauses and field conditions kept; past them the rest of
 * the query is ignored and it is marked truncated. */
export const QUERY_CHARS_MAX = 16_384;
export const QUERY_TERMS_MAX = 256;
export const QUERY_CLAUSES_MAX = 64;
/** Longest that a recall waits for one answer of a language model or a reranker, and how many such calls run at once. */
export const MODEL_WAIT_MS = 10_000;
export const MODEL_CALLS_MAX = 16;
/** Characters of a question, and of one grain, that a model is sent; and those of a hypothetical answer that are embedded. */
export const MODEL_QUESTION_CHARS_MAX = 4_000;
export const MODEL_PASSAGE_CHARS_MAX = 2_000;
export const MODEL_ANSWER_CHARS_MAX = 2_000;

/** Grains that a CAL query opens in one go; one that has to look at more does so in slices, between others' calls. */
export const SHORT_READ_GRAINS_MAX = 1_024;
/** Audit entries of CAL queries on their way to the log; beyond, a query waits for its own. */
export const CAL_AUDITS_MAX = 1_024;
/** Entries of an audit chain that are looked at to say how many a filter lets through. */
export const AUDIT_COUNTED_MAX = 100_000;
/** What reads leave behind is written after so long, or once there are so many entries: also what one group takes. */
export const READ_TRAIL_MS = 100;
export const READ_TRAIL_GROUP = 1_024;
/** Entries that wait while the log takes nothing; more are lost, and counted in health. */
export const READ_TRAIL_MAX = 8_192;
/** Goals above a goal that are looked at for a circle. */
export const GOALS_ABOVE_MAX = 1_000;
/** Ends of audit chains that one seal notes. */
export const AUDIT_HEADS_NOTED_MAX = 1_000;
/** Records of recalls are kept so long where no policy says otherwise. */
export const RECALL_RECORD_DAYS = 180;
/** Records that are looked at to say how many a filter lets through. */
export const RECALL_RECORDS_COUNTED_MAX = 20_000;
/** Checked CAL queries that are kept by their text. */
export const CAL_PLANS_MAX = 512;
/** Words of a memory that are kept for guessing at a mistyped one (the most frequent), and guesses that are checked. */
export const VOCABULARY_WORDS_MAX = 65_536;
export const VOCABULARY_CANDIDATES_MAX = 512;

/** Components of a vector; an embedder with more is refused. */
export const VECTOR_DIMENSIONS_MAX = 8_192;
/** Vectors of one grain: beyond, the caller's bug. */
export const VECTOR_CHUNKS_MAX = 4_096;
/** Vectors of a memory up to which every search is a scan (1 ms); more are found by a scan of their sketches; still more by a graph. */
export const VECTOR_SCAN_MAX = 8_192;
export const VECTOR_LIST_MAX = 200_000;
/** Candidates that a search asks for at least, and how many compared rows one of a graph's costs. */
export const VECTOR_CANDIDATES_MIN = 256;
export const VECTOR_GRAPH_COST = 8;
/** Vectors that a recall brings to heap before it answers (some 40 ms); more are loaded beside answers by words alone. */
export const VECTORS_LOADED_AT_ONCE_MAX = 8_192;
/** Vectors that are not in a file yet, at which they should be sealed, and beyond which adding is the caller's bug. */
export const VECTORS_SEAL = 4_096;
export const VECTORS_UNSEALED_MAX = 262_144;
/** Bytes of vectors that a shard keeps in heap; past it, memories that nobody asked for longest are let go. */
export const VECTOR_HEAP_BYTES = 1_073_741_824;

/** Words, and pieces of the built-in encoder's vocabulary, that one vector stands for; longer texts get several. */
export const EMBED_WINDOW_WORDS_MAX = 100;
export const EMBED_WINDOW_PIECES_MAX = 128;
/** Characters that the built-in encoder looks at; 128 pieces are fewer in every language that it knows. */
export const ENCODER_TEXT_CHARS_MAX = 8_192;
/** Texts that the encoder's thread gets in one message, and messages of each kind that it has not answered. */
export const ENCODER_BATCH_TEXTS_MAX = 16;
export const ENCODER_BACKLOG_BATCHES_OUT_MAX = 2;
export const ENCODER_QUERY_BATCHES_OUT_MAX = 64;
/** Texts of each kind that wait for the encoder or are with it; beyond: a retryable EmbedError. */
export const ENCODER_QUERY_TEXTS_MAX = 4_096;
export const ENCODER_BACKLOG_TEXTS_MAX = 16_384;
/** Texts of a backlog at which queries get a thread of their own, how long one takes at which they do too, and how long it
 * stays when nobody asks. */
export const QUERY_THREAD_BACKLOG_TEXTS = 16;
export const QUERY_THREAD_SLOW_MS = 60;
export const QUERY_THREAD_IDLE_MS = 120_000;
/** An encoder's thread that owes an answer and says nothing for this long is ended. */
export const ENCODER_SILENCE_MS = 60_000;
/** Vectors of queries that are remembered, unless the caller says otherwise. */
export const QUERY_VECTORS_MAX = 4_096;
/** Vectors of one text; what follows is found by its words alone. */
export const EMBED_WINDOWS_MAX = 512;
/** Texts and their bytes in one request to an embedding service, requests at a time, calls that wait for their turn;
 * beyond the last: a retryable EmbedError. */
export const EMBED_BATCH_TEXTS_MAX = 64;
export const EMBED_BATCH_BYTES_MAX = 262_144;
export const EMBED_CONCURRENCY_MAX = 64;
export const EMBED_WAITING_MAX = 4_096;
/** Characters of one text that are sent to an embedding service; the rest is not read. */
export const EMBED_TEXT_CHARS_MAX = 8_000;
/** An answer of an embedding service; beyond: EmbedError. */
export const EMBED_RESPONSE_BYTES_MAX = 32 * 1_048_576;
/** How often an embedding service is asked the same, the first and longest step between (drawn with full jitter), and
 * the longest wait that it may ask for; beyond: its error is handed on. */
export const EMBED_ATTEMPTS_MAX = 5;
export const EMBED_RETRY_MIN_MS = 250;
export const EMBED_RETRY_MAX_MS = 8_000;
export const EMBED_RETRY_AFTER_MAX_MS = 30_000;
/** A sentence that is looked at for facts; a longer one is passed over. */
export const EXTRACT_SENTENCE_CHARS_MAX = 400;
/** Characters of a text that facts and dates are taken from; the rest is not read. */
export const EXTRACT_TEXT_CHARS_MAX = 262_144;
/** Facts taken from one text, and sentences of it whose names or dates are looked up; what follows is not read. */
export const EXTRACT_BELIEFS_MAX = 256;
export const EXTRACT_NAME_LOOKUPS_MAX = 256;
export const EXTRACT_DATE_LOOKUPS_MAX = 64;
/** One text's time in the thread that reads it, its loading included; the thread is then ended. Its heap. */
export const EXTRACT_READ_MS = 20_000;
export const EXTRACT_HEAP_MB = 512;
/** Texts that wait for that thread; beyond: LIM-E001. It ends after this long without one. */
export const EXTRACT_READS_WAITING_MAX = 64;
export const EXTRACT_IDLE_MS = 30_000;
/** Of one text that is looked at for personal data: telephone numbers and names that a library judges (past them shape
 * and lists decide), and how often Base64 is looked into. */
export const PII_PHONE_LOOKUPS_MAX = 1_024;
export const PII_NAME_LOOKUPS_MAX = 128;
export const PII_DECODE_DEPTH_MAX = 2;
/** Members of a list or a map in a policy, and characters of each. */
export const POLICY_LIST_MAX = 1_024;
export const POLICY_TEXT_CHARS_MAX = 1_024;
/** Of a memory, known without asking the log: what users said of a purpose. */
export const CONSENTS_CACHED_MAX = 16_384;
/** Users of a memory whose processing is restricted. */
export const RESTRICTIONS_MAX = 100_000;
/** Characters of the reason for a restriction or a policy, which stays and is shown; beyond: VAL-E001. */
export const RULE_REASON_CHARS_MAX = 1_024;
/** Characters of a purpose. */
export const PURPOSE_CHARS_MAX = 128;
/** Characters of a text in a consent, of the reason for one, and members of a list. */
export const CONSENT_TEXT_CHARS_MAX = 512;
export const CONSENT_REASON_CHARS_MAX = 1_024;
export const CONSENT_LIST_MAX = 64;
/** Consents of one request. */
export const CONSENTS_BULK_MAX = 1_000;
/** Words of a text that are compared with a guardrail that is not taken literally. */
export const GUARDRAIL_WORDS_MAX = 4_096;
/** Grains that are opened to tell what a policy would make of their personal data. */
export const IMPACT_OPENED_MAX = 5_000;
/** Grains of others that name an erased user, redacted in one transaction; the rest follow in others. */
export const REDACTIONS_MAX = 64;
/** Such transactions that the answer of an erasure waits for; the rest follow it. */
export const REDACTION_ROUNDS_AWAITED = 16;
/** An erasure that was cut off is gone on with after this. */
export const ERASURE_RETRY_MS = 5_000;
/** Between two rounds over all memories that remove what has expired. */
export const RETENTION_SWEEP_MS = 3_600_000;
/** Expired grains that are removed in one transaction. */
export const RETENTION_BATCH_MAX = 1_000;
/** Characters of what a policy records as JSON: an impact assessment, a controller. */
export const POLICY_FACT_CHARS_MAX = 65_536;
/** The text of a remember. */
export const REMEMBER_TEXT_BYTES_MAX = 262_144;
/** Extractions after the answer: those that wait (in all, of one memory, bytes of their texts; beyond: LIM-E001), those
 * under way, those finished whose end is still told, and how long each of their calls on a memory may take. */
export const EXTRACTIONS_WAITING_MAX = 1_024;
export const EXTRACTIONS_OF_MEMORY_MAX = 512;
export const EXTRACTIONS_BYTES_MAX = 64 * 1_048_576;
export const EXTRACTIONS_RUNNING_MAX = 4;
export const EXTRACTION_MARKERS_MAX = 1_024;
export const EXTRACTION_CALL_MS = 30_000;
/** Extracted beliefs that are stored by one call. */
export const EXTRACTED_BATCH_MAX = 500;

export const SHARDS_MAX = 64;
/**
 * New objects of a worker's heap, three semi-spaces. V8's default, 192, is more than what it lets an old generation of some 50 MB grow
 * by: then it marks the whole heap whenever new objects fill up, several times a second, for tens of milliseconds.
 */
export const WORKER_NEW_OBJECTS_MB = 48;
export const MEMORIES_MAX = 100_000;
/** Numbers from here on are of memories that a shard makes for a moment, and of no other. */
export const MEMORY_NUMBER_MOMENTARY = 0x8000_0000;

/** Changes of the deployment (memories, keys) in one transaction, and that wait for one; beyond: LIM-E001. */
export const CONTROL_GROUP_MAX = 256;
export const CONTROL_PENDING_MAX = 10_000;
/** API keys of a deployment, revoked ones included; beyond: LIM-E002. */
export const API_KEYS_MAX = 200_000;
/** Answers of idempotent changes of the deployment that are kept; past it the oldest go early. */
export const CONTROL_REPLIES_MAX = 10_000;
/** Uses of keys are written down together, at most this often, this many at a time. */
export const KEY_USE_WRITE_MS = 60_000;
export const KEY_USE_WRITE_MAX = 5_000;
/** Rate limit buckets held: keys that called lately, and addresses that failed to authenticate. */
export const RATE_BUCKETS_MAX = 100_000;
/** What is known to take long (imports, exports, maintenance) is answered SYS-E005 after this. */
export const SLOW_REQUEST_MS = 3_600_000;
/** Bytes of blobs that one call of an import sends, and that one page of an export wants. */
export const TRANSFER_BYTES = 512 * 1_024;
/** Hashes that the answer of an import tells, and errors and warnings each; of more it tells how many they are. */
export const IMPORT_HASHES_TOLD_MAX = 200_000;
export const IMPORT_TOLD_MAX = 10_000;
/** Grains of one call of an import. */
export const TRANSFER_GRAINS_MAX = 500;
/** A server that ends waits this long for each of: its listeners, the requests under way, its shards. */
export const DRAIN_MS = 10_000;
/** Health is answered after this, whether every shard was heard or not. */
export const HEALTH_WAIT_MS = 2_000;
/** A shard that has not answered by then is told as it was last heard, if that is no longer ago than `HEALTH_WAIT_MS`. */
export const HEALTH_LATE_MS = 15;
/** How often the server looks for what its log should say of the shards, and how much of it it keeps in mind. */
export const HEALTH_LOG_MS = 5_000;
/** How often a small file is written, to learn whether the disks take writes; its bytes; a write this long is told by health. */
export const DISK_PROBE_MS = 5_000;
export const DISK_PROBE_BYTES = 4_096;
export const DISK_LATE_MS = 10_000;
/** A disk with less room takes no append: a commit copies as much as this beside what it writes (`log/lmdb/room.ts`). */
export const DISK_ROOM_BYTES_MIN = 131_072;
/** For how long health tells that an append found no room, when none came after it. */
export const LOG_REFUSING_MS = 30_000;
export const HEALTH_LOG_REASONS_MAX = 1_000;
/** A log's file up to this size is looked through page by page when it is opened; a larger one down to its branch pages. */
export const LOG_CHECK_BYTES_MAX = 64 * 1_048_576;
/** Failed authentications an address may make in a minute; beyond: LIM-E001 instead of AUT-E004. */
export const AUTH_FAILURES_PER_MINUTE = 60;

/** Kinds of blind tokens. */
export const BLIND_KINDS_MAX = 32;
/** Unwrapped keys, and bucket files, that one key store keeps in heap; others are read again. */
export const KEYS_CACHED_MAX = 16_384;
export const KEY_BUCKETS_CACHED_MAX = 64;
/** Keys made by one group; also what one flush writes. */
export const KEYS_STAGED_MAX = 65_536;
/** Problems that one verification of a store lists; more are only counted. */
export const FINDINGS_MAX = 1_000;
/** Records, removals and state changes of one append. */
export const APPEND_ITEMS_MAX = 250_000;
/** Blobs sealed anew in one group after a rotation; their bytes, but for the last. */
export const RESEAL_RECORDS_MAX = 256;
export const RESEAL_BYTES_MAX = 1_048_576;
/** A scan of the log holds one page: this many records or bytes, whichever comes first. */
export const SCAN_PAGE_RECORDS = 512;
export const SCAN_PAGE_BYTES = 1_048_576;
/** Sequences are also ordinals of 32 bits; the last value stays free as "none". */
export const SEQUENCE_MAX = 4_294_967_294;

/** LMDB's key limit with 4 KiB pages. */
export const STATE_KEY_BYTES_MAX = 200;

assert(STATE_KEY_BYTES_MAX < 1978, 'a state key fits LMDB');
assert(PACK_BYTES_MAX < PENDING_BYTES_MAX && PACK_ITEMS_MAX < PENDING_ITEMS_MAX, 'a pack fits what may wait');
assert(TAIL_GRAINS_SEAL < TAIL_GRAINS_MAX, 'a seal begins before writes wait');
assert(MERGE_FANOUT < SEGMENTS_MAX, 'a merge lowers the number of segments');
assert(GRPC_STREAM_WINDOW_BYTES <= GRPC_CONNECTION_WINDOW_BYTES, 'a connection takes what one of its calls may send');
assert(
  Math.max(MESSAGE_BYTES_MAX, UPLOAD_BYTES_MAX) < MEMORY_MB_MIN * 1_048_576,
  'a request fits what may be gathered',
);
assert(BATCH_GRAINS_MAX <= TAIL_GRAINS_SEAL, 'a batch fits a tail');
assert(VECTORS_SEAL < VECTORS_UNSEALED_MAX, 'vectors are sealed before adding them ends');
assert(RECALL_LIMIT_DEFAULT <= RECALL_LIMIT_MAX && RECALL_LIMIT_MAX <= CANDIDATE_LIMIT_MAX, 'limits nest');

/** Grains that the follower takes from a shard at once, to be embedded. */
export const FOLLOW_PAGE_GRAINS = 128;
/** Characters of texts that end a memory's turn: some 55 windows. A service outside answers many at a time. */
export const EMBED_PAGE_CHARS = 32_768;
export const EMBED_OUTSIDE_PAGE_CHARS = 131_072;
/** Grains and characters of what is embedded before its turn: the newest of a memory, as long as they are short. */
export const EMBED_FRESH_GRAINS = 8;
export const EMBED_FRESH_CHARS = 2_048;
/** Rounds of fresh grains that a call of the backlog lets go before it, at most. */
export const FOLLOW_FRESH_ROUNDS_MAX = 4;
/** The same where personal data has to be taken out first: some 0.3 to 3 µs a character. */
export const EMBED_REDACTED_PAGE_CHARS = 8_192;
/** Grains, or vectors, of such a page at which those that were made are handed to the shard. */
export const FOLLOW_STRETCH_GRAINS = 64;
export const FOLLOW_STRETCH_VECTORS = 256;
/** Windows of grains that an embedder gets in one call; one more call is made ready meanwhile. */
export const EMBED_CALL_WINDOWS_MAX = 64;
/** Texts are cut into windows on the thread that answers requests: so long at a time. */
export const FOLLOW_SLICE_MS = 4;
/** A grain that fails alone so often, while other texts do not, goes without vectors; grains of a shard that are watched. */
export const FOLLOW_TRIES_ALONE = 3;
export const FOLLOW_SUSPECTS_MAX = 1_024;
/** Between two looks for what waits to be embedded, when nobody says that something was written. */
export const FOLLOW_REST_MS = 1_000;
/** An embedder that failed is left alone: at first so long, twice as long after each failure in a row. */
export const FOLLOW_RETRY_MIN_MS = 1_000;
export const FOLLOW_RETRY_MAX_MS = 60_000;
/** A read waits so long at most until vectors cover what was written before it. */
export const INDEX_WAIT_MS_MAX = 30_000;
/** Memories that a shard looks at for one page to embed. */
export const EMBED_MEMORIES_LOOKED_AT = 256;
/** A recall waits for its query's vector so long, then it goes by words. */
export const QUERY_VECTOR_WAIT_MS = 2_000;
/** Of that, so long at most while many vectors come to heap, as after a start; it looks this often. */
export const VECTORS_LOADING_WAIT_MS = 1_000;
export const VECTORS_LOADING_LOOK_MS = 50;
/** After an embedder let a query wait in vain, others wait no longer than this, for so long. */
export const QUERY_VECTOR_SHORT_WAIT_MS = 250;
export const QUERY_VECTOR_SHORT_FOR_MS = 10_000;
/** An embedder that could not be opened is tried again after so long. */
export const EMBEDDER_REOPEN_MS = 30_000;
