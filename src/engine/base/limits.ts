// Every limit. "Beyond" names the reaction to a larger value. A comment on several constants names them in order.
// Options may lower some limits (config.ts). No option raises a limit that a byte format or LMDB fixes. The asserts
// check how limits relate to each other.
import { assert } from './assert.ts';

/** A grain's blob; beyond: ERR_TOO_LARGE from the codec, LIM-E003 from the service. */
export const BLOB_BYTES_MAX = 1_048_576;
/** Nesting of a payload. The payload map itself is level 1. */
export const GRAIN_DEPTH_MAX = 32;
/** Nesting of schemas in a tool's definition. */
export const TOOL_SCHEMA_DEPTH_MAX = 16;
/** Characters of a `pattern` in a tool's schema. */
export const TOOL_PATTERN_CHARS_MAX = 1_024;
/** The highest blob limit that an option can set, for imports and for the command line. */
export const BLOB_BYTES_CEILING = 16 * 1_048_576;
/** Combining marks in a row in one string; beyond: ERR_TOO_LARGE, since normalizing them takes quadratic time. */
export const COMBINING_RUN_MAX = 512;
/** Bytes that a signed envelope may add to its blob. */
export const ENVELOPE_OVERHEAD_MAX = 4_096;
/** Bytes of a compressed container after inflation; beyond: ERR_TOO_LARGE. */
export const CONTAINER_INFLATED_MAX = 256 * 1_048_576;
/**
 * One line of JSON in the codec's command line; beyond: the rest of the line is skipped and an error line is written.
 */
export const JSON_LINE_BYTES_MAX = 64 * 1_048_576;
/** Namespaces whose header hash is cached. */
export const NAMESPACE_HASHES_MAX = 4_096;
/** Fields of one grain in a request, extra fields included; beyond: VAL-E001. */
export const GRAIN_FIELDS_MAX = 10_000;
export const TAGS_MAX = 64;
/** Indexed values of listed fields for one grain. `store/indexed-fields.ts` returns no more. */
export const FIELD_VALUES_MAX = 16;
/** Call keys of one action: its task and its call id. */
export const CALL_KEYS_MAX = 2;
export const TAG_CHARS_MAX = 128;
export const NAMESPACE_CHARS_MAX = 256;
/** Depth of a memory's scopes below the root, and the number of its scopes; beyond: SCP-E002. */
export const SCOPE_DEPTH_MAX = 8;
export const SCOPE_NODES_MAX = 10_000;
export const SCOPE_NAME_CHARS_MAX = 64;
export const USER_ID_CHARS_MAX = 256;
export const EMBEDDING_TEXT_BYTES_MAX = 8_192;
/** A JSON body or a gRPC message; beyond: LIM-E003. */
export const MESSAGE_BYTES_MAX = 16 * 1_048_576;
/** A message of the Model Context Protocol; beyond: LIM-E003. */
export const MCP_REQUEST_BYTES_MAX = 4 * 1_048_576;
export const BATCH_GRAINS_MAX = 1_000;
/** Further sources that are stored for a grain, in addition to those in its bytes; beyond: a warning. */
export const FURTHER_SOURCES_MAX = 100;
export const UPLOAD_BYTES_MAX = 50 * 1_048_576;
/** A request's line and headers; beyond: 431 and the connection is closed. */
export const HEADER_BYTES_MAX = 16_384;
/** Connections of one listener; beyond: new ones are closed. */
export const CONNECTIONS_MAX = 20_000;
/** A connection is closed when it sends no request, or no complete headers, within this time. */
export const HEADERS_TIMEOUT_MS = 30_000;
/**
 * A connection that asks for nothing more is closed after HEADERS_TIMEOUT_MS and this time. Load balancers keep connections
 * for up to 10 minutes, and would send a request on one that is being closed.
 */
export const IDLE_TIMEOUT_MS = 630_000;
/** Time for a complete body; beyond: 408. */
export const BODY_TIMEOUT_MS = 120_000;
/**
 * Memory of all listeners for requests that arrive or run, and for answers that peers have not taken yet: the default,
 * and the range of the option. Beyond: the slowest are dropped (LIM-E001, or a closed connection).
 */
export const REQUEST_MEMORY_MB = 256;
export const ANSWER_MEMORY_MB = 256;
export const MEMORY_MB_MIN = 64;
/**
 * A page, or a recall's hits, as JSON; beyond: the page ends with a cursor, and the recall is cut and marked as cut.
 */
export const ANSWER_BYTES_MAX = 16 * 1_048_576;
/** The sentence of a grain in answers and lists (`text`); beyond: it is cut and ends with an ellipsis. */
export const SENTENCE_CHARS_MAX = 300;
/** Source grains that a recall adds to its hits; beyond: only the sources of the best hits, and a warning. */
export const SOURCES_MAX = 500;
/**
 * Bytes of blobs that one recall or one CAL query holds open until it has chosen its hits; beyond: the recall is cut,
 * the CAL query is refused.
 */
export const RECALL_HELD_BYTES_MAX = 32 * 1_048_576;
export const CAL_HELD_BYTES_MAX = 64 * 1_048_576;
/** Concurrent gathers over several partitions. Others wait. */
export const GATHERS_MAX = 64;
/**
 * Bytes that a gather requests at a time while it is small. One that holds more than half of this must become large.
 */
export const GATHER_SMALL_BYTES = 1_048_576;
/** Large gathers among them, which may hold as many bytes as a recall may. Others wait to become large. */
export const GATHERS_LARGE_MAX = 4;
/** Concurrent CAL queries over several partitions, in addition to the gathers. Others wait. */
export const CAL_GATHERS_MAX = 8;
/** Smaller answers do not count towards the memory for answers (`ANSWER_MEMORY_MB`). */
export const ANSWER_SHARED_BYTES_MIN = 65_536;
/** When that memory is short, answers younger than this are not cut off. The new answer is refused instead. */
export const ANSWER_SPARED_MS = 5_000;
/** Body bytes that are held before the body is read. Beyond: the connection is not read further. */
export const BODY_UNASKED_BYTES_MAX = 65_536;
/**
 * Bytes of a body that are read and dropped once it is refused: a connection that is closed with unread bytes is reset, and
 * the peer may lose the answer. Beyond: the connection is closed.
 */
export const BODY_DROPPED_BYTES_MAX = 2 * UPLOAD_BYTES_MAX;
/** A peer that has sent nothing for this time after its refusal sends no more. */
export const BODY_QUIET_MS = 1_000;
/**
 * Pieces of a body (chunks as the peer sends them), and the average piece size below which more of them are refused:
 * 400, and the connection is closed, because one piece costs as much as many bytes.
 */
export const BODY_PIECES_MAX = 4_096;
export const BODY_PIECE_BYTES_MIN = 16;
/** Size of the pieces in which a response is written to the socket. */
export const RESPONSE_PIECE_BYTES = 65_536;
/** Nesting of a JSON body; beyond: VAL-E001. */
export const JSON_DEPTH_MAX = 64;
/**
 * Members of objects and elements of lists in one request, at all depths together, and fields of a message; beyond:
 * VAL-E001.
 */
export const REQUEST_MEMBERS_MAX = 50_000;
/** Digits of one number in a JSON body; beyond: VAL-E001. */
export const JSON_DIGITS_MAX = 1_024;
/** Larger JSON bodies are parsed by a separate thread, or by the worker of their memory. */
export const JSON_PARSED_HERE_BYTES_MAX = 262_144;
/** Large bodies that wait for the parser thread; beyond: LIM-E001. */
export const JSON_READS_WAITING_MAX = 64;
/** Concurrent calls of one gRPC connection. */
export const GRPC_STREAMS_MAX = 1_024;
/**
 * Interval of keepalive pings on an idle gRPC connection. It is closed when it does not answer within a third of it.
 */
export const GRPC_KEEPALIVE_MS = 60_000;
/** Age at which a gRPC connection is asked to reconnect. */
export const GRPC_CONNECTION_AGE_MS = 3_600_000;
/** Interval of the checks of gRPC connections and calls: a deadline may be missed by at most this. */
export const GRPC_LOOK_MS = 5_000;
/** Time for a complete gRPC request, and for a caller to take its answer; beyond: refused, or disconnected. */
export const GRPC_PEER_TIMEOUT_MS = 120_000;
/**
 * Flow-control windows of a gRPC call and of a gRPC connection: bytes that the client may send before they are read.
 */
export const GRPC_STREAM_WINDOW_BYTES = 1_048_576;
export const GRPC_CONNECTION_WINDOW_BYTES = 16 * 1_048_576;
/** Megabytes that one gRPC connection has not taken yet, such as answers; beyond: its new calls are refused. */
export const GRPC_CONNECTION_MEGABYTES_MAX = 512;
/** Headers of one gRPC call; beyond: its stream is reset. */
export const GRPC_HEADERS_MAX = 128;
/**
 * The native gRPC listener ends a connection (ENHANCE_YOUR_CALM) beyond these. A header block, and the frames that continue
 * it: longer lists of headers than HEADER_BYTES_MAX are read to here, so that only their calls are refused.
 */
export const GRPC_HEADER_BLOCK_BYTES_MAX = 4 * HEADER_BYTES_MAX;
export const GRPC_CONTINUATIONS_MAX = 8;
/** Entries of one SETTINGS frame. */
export const GRPC_SETTINGS_MAX = 32;
/** Answers to pings and settings, and resets, that the peer has not read. */
export const GRPC_CONTROL_UNREAD_MAX = 1_000;
/** Streams that end with a reset: at once, and for each second. */
export const GRPC_RESETS_AT_ONCE = 1_000;
export const GRPC_RESETS_PER_SECOND = 33;
/** Frames that advance no call, such as pings and empty data: at once, for each second, and for each frame of an answer. */
export const GRPC_IDLE_FRAMES_AT_ONCE = 10_000;
export const GRPC_IDLE_FRAMES_PER_SECOND = 1_000;
export const GRPC_IDLE_FRAMES_PER_ANSWER_FRAME = 4;
/** Bytes that a socket has not taken; beyond, answers wait in their streams. */
export const GRPC_SOCKET_BYTES_MAX = 1_048_576;
/** The same with the ends of calls, which do not wait; beyond, the connection's further requests are not read. */
export const GRPC_UNREAD_BYTES_MAX = 2 * GRPC_SOCKET_BYTES_MAX;
/** Of these ends and short messages, on all connections together; beyond, the connections with most of them are closed. */
export const GRPC_UNREAD_MB = 64;
/** An open gRPC call counts so much in the memory for requests, besides its headers and the request. It takes less. */
export const GRPC_CALL_BYTES = 4_096;
/** Time for a peer to read why its connection ends. */
export const GRPC_GOODBYE_MS = 1_000;
/** Header blocks that a connection recognises when they repeat, and the largest of them. */
export const GRPC_HEADS_KEPT_MAX = 32;
export const GRPC_HEAD_KEPT_BYTES_MAX = 1_024;
/** Compressed gRPC messages that are inflated concurrently; others wait. */
export const GRPC_INFLATIONS_MAX = 4;
/** A request message to the health or reflection service; beyond: LIM-E003. */
export const GRPC_PROBE_BYTES_MAX = 65_536;
/** Concurrent watchers of health; beyond: RESOURCE_EXHAUSTED. */
export const GRPC_WATCHES_MAX = 1_000;
export const RECALL_LIMIT_DEFAULT = 20;
/** A larger limit is lowered to this, with a warning. */
export const RECALL_LIMIT_MAX = 500;
export const CANDIDATE_LIMIT_MAX = 2_500;
/**
 * Erased grains that a shard remembers, and those that it remembers of one removal; beyond: the oldest are forgotten.
 */
export const ERASED_REMEMBERED_MAX = 65_536;
export const ERASED_REMEMBERED_EACH = 4_096;
/** Namespaces and users whose document sets are cached for each part of a memory, at one bit a document. */
export const COUNTED_BINDINGS_MAX = 8;
/**
 * One consolidation of a session: grains compared in a partition (the newest), cells of their alignments, groups, and
 * duplicates of one group. The rest is left for the next run, and the answer says so.
 */
export const CONSOLIDATED_GRAINS_MAX = 10_000;
export const CONSOLIDATED_CELLS_MAX = 400_000_000;
export const CONSOLIDATED_GROUPS_MAX = 1_000;
export const CONSOLIDATED_GROUP_MAX = 500;
/** Pairs that a model is asked about in one run, and characters of a statement in them. */
export const CONSOLIDATED_MODEL_PAIRS_MAX = 50;
export const CONSOLIDATED_MODEL_CHARS_MAX = 1_000;
/** Entries of a grain's provenance_chain that a merge keeps, the newest. */
export const PROVENANCE_ENTRIES_MAX = 1_000;
/** Goals, and actions and beliefs, that one call opens for a context: a shard answers nothing else meanwhile. */
export const CONTEXT_OPENED_MAX = 1_000;
/** Tokens of a session's context. */
export const TOKEN_BUDGET_DEFAULT = 4_000;
export const TOKEN_BUDGET_MAX = 200_000;
/** Tools and error texts that the summary of a session counts separately, the most frequent first. */
export const SESSION_TOOLS_MAX = 200;
export const SESSION_ERRORS_MAX = 50;
/** Goals that the bootstrap of a session shows, and actions of a chain. */
export const SESSION_GOALS_MAX = 100;
export const CHAIN_ACTIONS_MAX = 500;
export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 500;
export const PAGE_OFFSET_MAX = 10_000;
/** Larger times in seconds are refused: the caller sent milliseconds by mistake. */
export const SECONDS_MAX = 9_999_999_999;
/** Seconds by which created_at may lie in the future. */
export const FUTURE_SECONDS_MAX = 300;
export const REQUEST_TIMEOUT_MS = 30_000;
/** Characters of the name of a memory, key, principal or region. */
export const NAME_CHARS_MAX = 256;
/**
 * A harness's definition: its texts in characters, tools, and harnesses of one memory; beyond: VAL-E001, and LIM-E002 for
 * numbers.
 */
export const HARNESS_DESCRIPTION_CHARS_MAX = 4_096;
export const HARNESS_GOAL_CHARS_MAX = 8_192;
export const HARNESS_PROMPT_CHARS_MAX = 65_536;
export const HARNESS_TOOLS_MAX = 64;
export const HARNESSES_MAX = 1_000;
/** JSON bytes of one tool's definition, and characters of its location; beyond: LIM-E003, and VAL-E001. */
export const TOOL_BYTES_MAX = 32_768;
export const TOOL_LOCATION_CHARS_MAX = 2_048;
/**
 * States of the machine that a pattern of a tool's schema becomes (beyond: MEM-E106), and the work of one check of a tool's
 * arguments: tests of a character by a state, and values (beyond: the arguments count as wrong).
 */
export const TOOL_PATTERN_STATES_MAX = 1_000;
export const ARGUMENT_CHECK_STEPS_MAX = 1_000_000;
/** Faults that one check of arguments names. */
export const ARGUMENT_FAULTS_MAX = 16;
/**
 * Pages of the grains of definitions that are held at once; grains beside a definition may lie in its namespace. Beyond: the
 * oldest are left out.
 */
export const HARNESS_PAGES_MAX = 4;
/** Calls of the model in one turn of a harness: the default, and the most. */
export const HARNESS_ITERATIONS_DEFAULT = 8;
export const HARNESS_ITERATIONS_MAX = 32;
export const DESCRIPTION_CHARS_MAX = 4096;
/** The settings that a memory is created with, as JSON. */
export const MEMORY_SETTINGS_BYTES_MAX = 16 * 1024;
export const IDEMPOTENCY_KEY_CHARS_MAX = 256;
export const IDEMPOTENCY_KEEP_MS = 24 * 3_600_000;

/** Memories whose shard the router remembers. */
export const PLACES_KEPT_MAX = 8_192;
/** Requests in one message to a worker, and bytes of it; the rest waits for the next message. */
export const PACK_ITEMS_MAX = 1_000;
export const PACK_BYTES_MAX = 1_048_576;
/** Requests, and their bytes, that wait for one worker; beyond: LIM-E001 at once. */
export const PENDING_ITEMS_MAX = 20_000;
export const PENDING_BYTES_MAX = 64 * 1_048_576;
/**
 * Batches sent to a worker that it has not run yet. Later requests collect in the next batch. Two batches were no
 * faster.
 */
export const BATCHES_OUT_MAX = 1;
/** After a read, a thread of shards waits for no write itself for this long: another read may come. */
export const ALONE_AFTER_READ_MS = 50;
/** Time for which a worker runs received requests before it checks for new messages. */
export const BATCH_TURN_MS = 20;
/** The same where the thread of the shards is the one that reads sockets. */
export const SHARED_TURN_MS = 5;
/**
 * Bytes of a worker's replies that the main thread has not read; beyond: the worker runs nothing more. Smaller messages
 * are not counted.
 */
export const REPLY_BYTES_OUT_MAX = 32 * 1_048_576;
export const REPLY_COUNTED_BYTES_MIN = 65_536;
/** Delay before a dead worker is restarted: at first, and at most. It doubles with each further death. */
export const RESTART_DELAY_MIN_MS = 100;
export const RESTART_DELAY_MAX_MS = 10_000;
/** Time for a worker to close its shards before it is terminated. Its log is replayed at the next start. */
export const CLOSE_MS = 30_000;
/** Time for a terminated worker to end. One that is stuck in the system or in native code never does, and is left behind. */
export const THREAD_END_MS = 2_000;
/** Lifetime after which a worker's earlier deaths no longer count. */
export const RESTART_FORGIVEN_MS = 60_000;

/**
 * Writes that share one append, and bytes of their records. A group is planned without a pause, so this bounds how long
 * a read waits for it. An audit record numbers the callers of a group in one byte.
 */
export const GROUP_WRITES_MAX = 255;
export const GROUP_BYTES_MAX = 8 * 1_048_576;
/**
 * A write-ahead file: the bytes at which its appends are written to their logs, and the age of the oldest at which they
 * are, whatever their number. Beyond the third: appends wait until the file before is free.
 */
export const WAL_CHECKPOINT_BYTES = 8 * 1_048_576;
export const WAL_CHECKPOINT_MS = 1_000;
export const WAL_BYTES_MAX = 64 * 1_048_576;
/** Bytes that a write-ahead file gets when it is created. One that fills up gets WAL_CHECKPOINT_BYTES. */
export const WAL_FIRST_BYTES = 262_144;
/**
 * A thread that has nothing else to do waits for a single write itself, if the write before took less than the first, and
 * ended less than the second ago. Otherwise the pool writes.
 */
export const WAL_WAIT_MS = 2;
export const WAL_WAIT_AFTER_MS = 1_000;
/** Connections of a thread to the database that holds its logs: an append for each of some shards, and a renewal. */
export const DATABASE_CONNECTIONS_MAX = 10;
export const DATABASE_CONNECT_SECONDS = 5;
/** After so long, a connection to the database that was ended is closed without the other side. */
export const DATABASE_GOODBYE_MS = 200;
/** The longest pause between two attempts of a connection to open. */
export const DATABASE_RECONNECT_SECONDS = 0.5;
/** Without an answer for so long, the connections to the database are given up. */
export const DATABASE_ANSWER_MS = 15_000;
/** The pause before an append is sent to the database again: the first one, and the longest. */
export const DATABASE_RETRY_FIRST_MS = 20;
export const DATABASE_RETRY_MS = 1_000;
/** How long a closing log waits for the answer to an append, and then for that to the return of its lease. */
export const DATABASE_CLOSING_MS = 3_000;
/** The shortest lease: it is renewed three times within it. */
export const LEASE_MS_MIN = 1_000;
/** Between two looks at shards of a store that must be opened again. */
export const STORE_WATCH_MS = 1_000;
/**
 * After its copy of a shard was filled again, a node fills it once more not before the first; the pause doubles up to the second. After so
 * many times the disk counts as failing, until the third has passed without damage.
 */
export const COPY_AGAIN_MS = 2_000;
export const COPY_AGAIN_MS_MAX = 120_000;
export const COPY_AGAIN_FORGOTTEN_MS = 3_600_000;
export const COPY_AGAIN_TIMES_MAX = 8;
/** A copy is filled beside the one in use if the disk has room for one of its size, and so much more for other shards meanwhile. */
export const COPY_SPARE_ROOM_BYTES = 268_435_456;
/** A copy that a node filled ahead is opened so long without a check of the pages that it wrote. */
export const COPY_PAGES_KNOWN_MS = 60_000;
/** How long a part of an ending server may wait for a store that is away. */
export const STORE_CLOSE_PART_MS = 15_000;
/** How long a replay keeps its thread before other work of the thread may run. */
export const REPLAY_TURN_MS = 50;
/** Between two attempts of a start to reach its store, or to get a shard of it. */
export const STORE_RETRY_MS = 250;
/** The longest pause between two attempts of a server to open its control log again. */
export const STORE_REOPEN_MS_MAX = 30_000;
/** How often the thread of an open log says that it runs, and after which silence its lease is not renewed any more. */
export const LEASE_BEAT_MS = 1_000;
export const LEASE_SILENT_MS = 30_000;
/** The pause before the thread that renews leases is started again: at first, and at most. It doubles until the thread stays. */
export const LEASE_THREAD_RETRY_MS = 100;
export const LEASE_THREAD_RETRY_MS_MAX = 2_000;
/** The share of a lease by which its owner gives up a shard before the lease ends by the database's clock. */
export const LEASE_MARGIN = 0.1;
/** How often a node looks at the owners of the shards, and at once after it took one or gave one away. */
export const NODE_LOOK_MS = 500;
export const NODE_LOOK_SOON_MS = 20;
/**
 * The longest pause between two attempts of a node to open a shard, or the control log, that it could not open; and how long after the last
 * one the others leave the shard to it again.
 */
export const NODE_REFUSED_MS_MAX = 30_000;
export const NODE_REFUSED_KEPT_MS = 600_000;
/** The longest pause between two attempts to run the server while a shard does not answer: it may be on its way to another node. */
export const NODE_BUSY_MS_MAX = 2_000;
/** Attempts that may fail for a passing reason before other nodes try. */
export const NODE_REFUSED_TRIES = 3;
/** How often a node that does not run the server looks whether it is to, and how long one that ends hands its shards over. */
export const NODE_LEAD_MS = 250;
export const NODE_HAND_OVER_MS = 20_000;
/** How long the HTTP of an ending node answers the last requests of connections, which other nodes pass on. */
export const NODE_LAST_REQUESTS_MS = 300;
/**
 * Connections that a node passes on, how long they wait for the leader, how long one attempt to reach it
 * takes, and the pause between two attempts.
 */
export const FRONT_CONNECTIONS_MAX = 20_000;
export const FRONT_WAIT_MS = 60_000;
export const FRONT_CONNECT_MS = 3_000;
export const FRONT_RETRY_MS = 50;
/**
 * Before a shard moves: how often its owner looks whether the next one has fetched it, how often that one tells that it goes on,
 * and the silence after which the shard moves anyway.
 */
export const MOVE_LOOK_MS = 20;
export const MOVE_TELL_MS = 500;
export const MOVE_SILENT_MS = 3_000;
/** The longest that a shard waits for its uploads before it moves; and how long it counts as prepared after that. */
export const MOVE_UPLOAD_MS = 5_000;
export const MOVE_PREPARED_MS = 5_000;
/** Shards that a node takes at the same time. */
export const SHARDS_TAKEN_MAX = 4;
/** How long calls wait for a shard that moves between nodes, and how many for one shard; beyond: LIM-E001. */
export const SHARD_MOVES_MS = 30_000;
export const HELD_CALLS_MAX = 10_000;
/** The pause before a call is sent again that came to a node without its shard. */
export const ELSEWHERE_PAUSE_MS = 20;
/** How often a node sends a call or a request again whose connection to another node broke, if that can do no harm. */
export const LOST_REPEATS_MAX = 3;
/**
 * A node's copy of the control log: how often the node asks its owner whether it is up to date, how long after such a question
 * a request may begin with it, how long it may be used, and how long the owner takes it for used. The last difference covers clocks of
 * different speeds; the one before lets what has begun end.
 */
export const COPY_BEAT_MS = 200;
export const COPY_BEGIN_MS = 500;
export const COPY_VALID_MS = 900;
export const COPY_WAIT_MS = 1_000;
/** Records of a message about the copy, and the bytes after which no further one is added to it. */
export const COPY_PART_RECORDS = 500;
export const COPY_PART_BYTES = 1_048_576;
/** Processes of nodes whose reports the owner remembers, so that it counts none twice. */
export const COPY_SENDERS_MAX = 1_000;
/** The pause before a node asks the owner for a copy again that had none to give. */
export const COPY_RETRY_MS = 50;
/** How long a node that starts waits for its first copy before it says that it is ready. */
export const COPY_START_MS = 3_000;
/** Bytes of a piece of a request that is passed on, or of its answer. */
export const PASSED_PIECE_BYTES = 262_144;
/** Requests of a node that are passed on at the same time; beyond: LIM-E001. */
export const PASSED_MAX = 10_000;
/** How long a request waits for a node that can answer it; after that: STO-E002. */
export const PASS_WAIT_MS = 20_000;
/** How long answers of a node that is no longer the leader are waited for. */
export const PASS_LEAVE_MS = 1_000;
/** The pause between two attempts to pass a request on. */
export const PASS_RETRY_MS = 25;
/** Bytes of a greeting between nodes, and of any other frame; a longer one ends the connection. */
export const LINK_HELLO_BYTES_MAX = 65_536;
export const LINK_FRAME_BYTES_MAX = 512 * 1_048_576;
/** Bytes that wait to be sent to another node; beyond: no more of its requests are read. */
export const LINK_BUFFER_BYTES_MAX = 32 * 1_048_576;
/** Batches of each lane on their way to another node. */
export const LINK_BATCHES_OUT_MAX = 8;
/** Those that the called node may have taken without a word. Any version that calls must have room for more. */
export const LINK_BATCHES_UNREPORTED_MAX = 3;
/** Time for a connection between nodes to open, and connections that may be doing so at once. */
export const LINK_CONNECT_MS = 5_000;
export const LINKS_GREETING_MAX = 64;
/** How often a node that says nothing else says that it lives, and after how long a silent connection ends. */
export const LINK_PING_MS = 1_000;
export const LINK_SILENT_MS = 5_000;
/** The pause before a connection is opened again: the first one, and the longest. */
export const LINK_RETRY_MIN_MS = 20;
export const LINK_RETRY_MAX_MS = 1_000;
/** A connection that was open for so long was no failure. */
export const LINK_STEADY_MS = 1_000;
/** The newest appends whose changes stay in the database, for copies on nodes that had the shard before. */
export const CHANGES_KEPT_APPENDS = 10_000;
/** Slots of keys that a rotation of the master key lets one append take. */
export const KEY_SLOTS_APPENDED_MAX = 10_000;
/** Records and bytes of a page that is read from the database: the first page, the most, and what a page aims at. */
export const DATABASE_PAGE_FIRST = 64;
export const DATABASE_PAGE_RECORDS = 4_096;
export const DATABASE_PAGE_BYTES = 4 * 1_048_576;
/** Bytes of a part of a segment in the database, and parts that one statement reads and removes. */
export const STORED_PART_BYTES = 1_048_576;
export const STORED_PARTS_READ = 4;
export const STORED_PARTS_SWEPT = 256;
/** Between two looks for segments to upload; how long a shard that closes goes on; and the longest that a merge waits for it. */
export const UPLOAD_LOOK_MS = 250;
export const UPLOAD_CLOSE_MS = 2_000;
export const UPLOAD_AHEAD_MS = 60_000;
/** Items and bytes of the appends that are written to a log in one transaction. */
export const WAL_PIECE_ITEMS = 4_000;
export const WAL_PIECE_BYTES = 2 * 1_048_576;
/** Housekeeping changes in one group. */
export const GROUP_CHANGES_MAX = 64;

/**
 * Unsealed grains in a shard's tail: at the first number a seal begins, at the second writes wait for it. A restart
 * replays them, at some 20 µs each.
 */
export const TAIL_GRAINS_SEAL = 32_768;
export const TAIL_GRAINS_MAX = 65_536;
/** When all tails of a thread hold the first number of grains, those that hold at least the second are sealed. */
export const THREAD_TAIL_GRAINS = 65_536;
export const TAIL_GRAINS_SHARED = 16_384;
/**
 * Tails with fewer grains, or with fewer for each of their memories, are sealed by their own thread: the way to another one
 * would take longer.
 */
export const SEALER_GRAINS_MIN = 8_192;
export const SEALER_MEMORY_GRAINS_MIN = 64;
/** Segments with fewer bytes in all are merged by their own thread. */
export const MERGER_BYTES_MIN = 4 * 1_048_576;
/** A thread that writes segments ends after this time without work, and gives its memory back. */
export const SEGMENT_THREAD_IDLE_MS = 10_000;
/** A tail without writes for this long is sealed. */
export const IDLE_SEAL_MS = 2_000;
/** Delay before housekeeping is retried after a storage error. */
export const HOUSEKEEPING_RETRY_MS = 1_000;
/** After a storage error the purge or the drop of a memory comes behind all other housekeeping for this long. */
export const HOUSEKEEPING_LAST_MS = 10_000;
/** Unsealed records of any kind at which a seal begins. This bounds roughly what a restart replays. */
export const REPLAY_RECORDS_MAX = 65_536;
/** Segments of similar size that are merged into one. */
export const MERGE_FANOUT = 8;
/** Segment files of a shard; beyond: the cheapest neighbours are merged, whatever their sizes. */
export const SEGMENTS_MAX = 64;
/** Segment files of a shard at which a seal waits for the merge that is running. */
export const SEGMENTS_CROWDED = 128;
/** Memories that a shard's index keeps open, and their chunks (a kilobyte each outside the heap budget). */
export const INDEX_MEMORIES_OPEN_MAX = 8_192;
export const INDEX_CHUNKS_OPEN_MAX = 16_384;
/** Damaged segments and blocks that health lists. */
export const INDEX_PROBLEMS_MAX = 100;
/** Plaintext bytes of one sealed block. */
export const BLOCK_BYTES = 32_768;
/** Duration of one maintenance slice. */
export const SLICE_MS = 4;
/** Duration of a maintenance slice while no requests arrive. A new request waits for at most one slice. */
export const IDLE_SLICE_MS = 10;
/** A worker without a batch for this long is idle. */
export const IDLE_AFTER_MS = 20;
/** Interval at which an idle worker checks for work that only time creates, such as expiry. */
export const MAINTENANCE_TICK_MS = 1_000;

/** Characters of a term. The rest of a longer word is not indexed. */
export const TERM_CHARS_MAX = 64;
/** Words whose terms one language's analyser caches, in each of two generations. Other words are stemmed again. */
export const WORD_CACHE_MAX = 32_768;
/** Words in the table of the kernel that finds them; beyond: the table is emptied. A power of two. */
export const WORD_TABLE_MAX = 65_536;
/** Terms with a number in one epoch (term-numbers.ts); beyond: an epoch begins. */
export const TERM_NUMBERS_MAX = 65_536;
/** Characters of a speaker's name that are stored. */
export const SPEAKER_CHARS_MAX = 256;
/**
 * Characters of a query that are analysed, and its distinct terms, clauses and field conditions; beyond: the rest is
 * ignored and the query is marked truncated.
 */
export const QUERY_CHARS_MAX = 16_384;
export const QUERY_TERMS_MAX = 256;
export const QUERY_CLAUSES_MAX = 64;
/**
 * Time that a recall waits for one answer of a language model or reranker, and the concurrent calls of each such
 * service; beyond: the call is refused.
 */
export const MODEL_WAIT_MS = 10_000;
export const MODEL_CALLS_MAX = 16;
/**
 * Characters sent to a model: of a question, and of one grain; and characters of a hypothetical answer that are
 * embedded.
 */
export const MODEL_QUESTION_CHARS_MAX = 4_000;
export const MODEL_PASSAGE_CHARS_MAX = 2_000;
export const MODEL_ANSWER_CHARS_MAX = 2_000;
/** Time for one answer of a language model, from the request to the last byte, with all tries. */
export const MODEL_CALL_MS = 120_000;
/** Answers of language models that are under way at once; beyond: LIM-E001. */
export const MODEL_STREAMS_MAX = 512;
/** Bytes of one answer of a language model; beyond: the call fails with LLM-E002. */
export const MODEL_RESPONSE_BYTES_MAX = 16 * 1_048_576;
/** Characters of an answer that must be JSON of a schema; beyond: the call fails with LLM-E002. */
export const MODEL_OBJECT_CHARS_MAX = 262_144;
/** Bytes of a provider's list of models, and models of it that are kept. */
export const MODEL_LIST_BYTES_MAX = 4 * 1_048_576;
export const MODEL_LIST_MAX = 2_000;
/** Tries of a call that the provider has not begun to answer, and the longest wait that it may ask for. */
export const MODEL_ATTEMPTS_MAX = 3;
export const MODEL_RETRY_AFTER_MAX_MS = 20_000;
/** Connections to one provider. */
export const MODEL_CONNECTIONS_MAX = 256;
/** Characters that are redacted for a provider before the thread does something else. */
export const MODEL_REDACT_CHARS = 8_192;
/** Providers of a deployment; the characters of their ids, base URLs, keys and of a model's name. */
export const PROVIDERS_MAX = 100;
export const PROVIDER_ID_CHARS_MAX = 64;
export const PROVIDER_URL_CHARS_MAX = 2_048;
export const PROVIDER_KEY_CHARS_MAX = 4_096;
export const MODEL_NAME_CHARS_MAX = 256;

/** Messages of one chat request, and characters of all of them; messages of its thread that a model is shown. */
export const CHAT_MESSAGES_MAX = 100;
export const CHAT_INPUT_CHARS_MAX = 262_144;
export const CHAT_HISTORY_MAX = 100;
export const CHAT_HISTORY_CHARS_MAX = 262_144;
/** Grains that are recalled for a chat turn before the model is asked. */
export const CHAT_RECALL_LIMIT = 8;
/** Answers of the model in one chat turn: all but the last may call tools, so many at a time. */
export const CHAT_STEPS_MAX = 8;
export const CHAT_STEP_CALLS_MAX = 16;
/** Characters of a chat turn's answer; beyond: the model is stopped, and the answer ends as at its limit of tokens. */
export const CHAT_ANSWER_CHARS_MAX = 262_144;
/** Maximum duration of a chat turn, with all answers of the model and all calls of tools. */
export const CHAT_TURN_MS = 300_000;
/** Chat turns at one time; beyond: LIM-E001. */
export const CHAT_TURNS_MAX = 512;
/** Grains that the record of a chat turn names. */
export const CHAT_SHOWN_MAX = 1_000;
/** Characters of the JSON of a chat thread's metadata. */
export const THREAD_METADATA_CHARS_MAX = 16_384;

/** Grains that one call of a built-in tool shows to a model, and characters of each one's fields. */
export const TOOL_HITS_MAX = 20;
export const TOOL_TEXT_CHARS_MAX = 2_000;

/**
 * Grains that one read of a CAL query opens without a pause. A read that needs more runs in short slices between other
 * calls.
 */
export const SHORT_READ_GRAINS_MAX = 1_024;
/** Grains that all reads of a CAL query together open in one call of its shard; beyond: each read is a call. */
export const SHORT_QUERY_GRAINS_MAX = 4_096;
/** Audit entries of CAL queries that are not in the log yet; beyond: a query waits until its own entry is written. */
export const CAL_AUDITS_MAX = 1_024;
/** Entries of an audit chain that are scanned to count the matches of a filter. */
export const AUDIT_COUNTED_MAX = 100_000;
/**
 * Pending entries of the read trail are written after this time, or at this number. One group takes at most that
 * number.
 */
export const READ_TRAIL_MS = 100;
export const READ_TRAIL_GROUP = 1_024;
/**
 * Entries of the read trail that wait while the log rejects writes; beyond: entries are lost, and health counts them.
 */
export const READ_TRAIL_MAX = 8_192;
/** Events that are kept: the newest of each partition of a memory, at most this old. */
export const EVENTS_KEPT_MAX = 100_000;
export const EVENTS_KEPT_MS = 7 * 86_400_000;
/** Events of one page, and events that are examined for one: a filter may leave out most of them. */
export const EVENTS_PAGE_MAX = 500;
export const EVENTS_EXAMINED_MAX = 5_000;
/** Bytes of one page's events as JSON. */
export const EVENTS_PAGE_BYTES_MAX = 1_048_576;
/** Bytes of one text in an event. A longer one is left out, and the event names the member. */
export const EVENT_TEXT_BYTES_MAX = 4_096;
/** After the first commit, the commits of this time are announced to listeners together. */
export const EVENTS_GATHER_MS = 20;
/** Time before a shard that failed is listened to again. */
export const EVENTS_RETRY_MS = 250;
/** Streams and long-polls of events at one time: of the server, and of one caller. Beyond: LIM-E002. */
export const EVENT_STREAMS_MAX = 10_000;
export const EVENT_STREAMS_CALLER_MAX = 1_000;
/** Events, and their bytes, that wait for the slowest stream of a reach; a stream that is further behind is closed. */
export const EVENTS_QUEUED_MAX = 1_000;
export const EVENTS_QUEUED_BYTES_MAX = 4 * 1_048_576;
/** Bytes of events that a stream sends at once. */
export const EVENT_CHUNK_BYTES_MAX = 65_536;
/** Streams that get their events in one turn of the event loop. */
export const EVENT_STREAMS_TURN = 250;
/** Time for the shard to read a page of events. */
export const EVENTS_READ_MS = 30_000;
/** Streams that read old events at the same time; others wait. */
export const EVENT_REPLAYS_MAX = 16;
/** Time between two lines that keep an idle stream open. */
export const EVENT_KEEP_ALIVE_MS = 15_000;
/** Time for a slow stream to take its last frame. */
export const EVENT_LAST_FRAME_MS = 10_000;
/** Bytes that a stream sends without a report of the peer's pace, on a listener that reports only long writes. */
export const EVENT_BLIND_BYTES_MAX = 65_536;
/** Memories with new events that a shard holds for its listeners. With more, a listener examines all its memories. */
export const EVENT_BELL_MEMORIES_MAX = 4_096;
/** Ancestors of a goal that are searched for a cycle. */
export const GOALS_ABOVE_MAX = 1_000;
/** Goals that one call asks a partition for, and that a search for cycles keeps before it begins anew. */
export const GOALS_NAMED_MAX = 1_000;
export const GOALS_KNOWN_MAX = 20_000;
/** Goals that a search for cycles visits before other work has its turn. */
export const GOALS_VISITED_TURN = 2_000;
/** Namespaces that the answer of an enforced retention counts one by one. */
export const RETENTION_NAMESPACES_SHOWN_MAX = 1_000;
/** Goals that one goal may name as its parents when it is created. */
export const GOAL_PARENTS_MAX = 100;
/** Entries of a goal's provenance_chain. The newest stay. */
export const GOAL_PROVENANCE_MAX = 32;
/** Expired goals that a shard notes until their new states are recorded, and those of one plan. */
export const DUE_GOALS_MAX = 10_000;
export const DUE_GOALS_BATCH_MAX = 100;
/** Goals of a session that a partition reads for its tree, goals in the tree, and levels of the tree. */
export const GOAL_TREE_READ_MAX = 10_000;
export const GOAL_TREE_GOALS_MAX = 1_000;
export const GOAL_TREE_DEPTH_MAX = 32;
/** Pieces of evidence in one move of a goal. */
export const GOAL_EVIDENCE_MAX = 100;
/** Heads of audit chains that one seal records. */
export const AUDIT_HEADS_NOTED_MAX = 1_000;
/** Days that recall records are kept when no policy says otherwise. */
export const RECALL_RECORD_DAYS = 180;
/** Recall records that are scanned to count the matches of a filter. */
export const RECALL_RECORDS_COUNTED_MAX = 20_000;
/**
 * Checked CAL queries that are cached by their text, and characters of these texts. The tree of a query takes up to 20 times
 * the memory of its text.
 */
export const CAL_PLANS_MAX = 512;
export const CAL_PLANS_CHARS_MAX = 262_144;
/**
 * A memory's most frequent words, which are kept to correct typing errors, and the candidates that are checked for one
 * word.
 */
export const VOCABULARY_WORDS_MAX = 65_536;
export const VOCABULARY_CANDIDATES_MAX = 512;

/** Dimensions of a vector; beyond: the embedder is refused. */
export const VECTOR_DIMENSIONS_MAX = 8_192;
/** Vectors of one grain; beyond: a bug of the caller. */
export const VECTOR_CHUNKS_MAX = 4_096;
/**
 * Vectors of a memory up to which a search scans all vectors (1 ms). Up to the second number it scans their sketches;
 * above, it uses a graph.
 */
export const VECTOR_SCAN_MAX = 8_192;
export const VECTOR_LIST_MAX = 200_000;
/** Minimum number of candidates of a search, and the cost of one candidate from the graph in compared rows. */
export const VECTOR_CANDIDATES_MIN = 256;
export const VECTOR_GRAPH_COST = 8;
/**
 * Vectors that a recall loads before it answers (some 40 ms). More are loaded in the background while recalls use words
 * alone.
 */
export const VECTORS_LOADED_AT_ONCE_MAX = 8_192;
/**
 * Grains whose vectors are in no file yet: at the first number, in all memories of a shard, they should be sealed; at
 * the second, in one memory, adding more is a bug of the caller.
 */
export const VECTORS_SEAL = 4_096;
export const VECTORS_UNSEALED_MAX = 262_144;
/** Bytes of vectors that a shard keeps in heap. Beyond: the least recently used memories are unloaded. */
export const VECTOR_HEAP_BYTES = 1_073_741_824;
/** Bytes of opened grains that a shard keeps in its index heap. Beyond: those that nobody asked for again are dropped. */
export const OPENED_CACHE_BYTES = 16_777_216;

/**
 * Words, and pieces of the built-in encoder's vocabulary, that one vector represents. Longer texts get several vectors.
 */
export const EMBED_WINDOW_WORDS_MAX = 100;
export const EMBED_WINDOW_PIECES_MAX = 128;
/** Characters that the built-in encoder reads. In every language that it knows, 128 pieces need fewer. */
export const ENCODER_TEXT_CHARS_MAX = 8_192;
/** Tokens of the texts that share a run of the encoder, and of a text that shares one: a longer one gains nothing. */
export const ENCODER_RUN_TOKENS_MAX = 128;
export const ENCODER_SHARED_TOKENS_MAX = 32;
/** Texts in one message to the encoder's thread, and unanswered messages of each kind. */
export const ENCODER_BATCH_TEXTS_MAX = 32;
export const ENCODER_BACKLOG_BATCHES_OUT_MAX = 2;
export const ENCODER_QUERY_BATCHES_OUT_MAX = 64;
/** Texts of each kind that wait for the encoder or are in it; beyond: a retryable EmbedError. */
export const ENCODER_QUERY_TEXTS_MAX = 4_096;
export const ENCODER_BACKLOG_TEXTS_MAX = 16_384;
/**
 * When queries get a thread of their own: the backlog in texts, or the time that one text takes. Last: the idle time
 * after which that thread ends.
 */
export const QUERY_THREAD_BACKLOG_TEXTS = 16;
export const QUERY_THREAD_SLOW_MS = 60;
export const QUERY_THREAD_IDLE_MS = 120_000;
/**
 * Texts of a backlog after which the second thread helps, while processors are idle; the pause that ends a backlog; and
 * the time after a query in which the second thread waits for the next one.
 */
export const SECOND_THREAD_BACKLOG_TEXTS = 256;
export const SECOND_THREAD_PAUSE_MS = 2_000;
export const SECOND_THREAD_QUERY_MS = 2_000;
/**
 * The longest rest of an encoder's thread between two runs, however small its share. It looks at its share in the first
 * interval, and tells its owner that it rests in the second.
 */
export const EMBED_REST_MS_MAX = 10_000;
export const EMBED_REST_LOOK_MS = 50;
export const EMBED_RESTING_SAID_MS = 1_000;
/** An encoder's thread that owes an answer and stays silent for this long is terminated. */
export const ENCODER_SILENCE_MS = 60_000;
/** Cached vectors of queries, unless the caller sets another number. */
export const QUERY_VECTORS_MAX = 4_096;
/** Vectors of one text. The rest of a longer text is found by its words alone. */
export const EMBED_WINDOWS_MAX = 512;
/**
 * Texts in one request to an embedding service, their bytes, concurrent requests, and waiting calls; beyond the last: a
 * retryable EmbedError.
 */
export const EMBED_BATCH_TEXTS_MAX = 64;
export const EMBED_BATCH_BYTES_MAX = 262_144;
export const EMBED_CONCURRENCY_MAX = 64;
export const EMBED_WAITING_MAX = 4_096;
/** Characters of one text that are sent to an embedding service. The rest is not embedded. */
export const EMBED_TEXT_CHARS_MAX = 8_000;
/** Bytes of an embedding service's response; beyond: EmbedError. */
export const EMBED_RESPONSE_BYTES_MAX = 32 * 1_048_576;
/**
 * Attempts for one request to an embedding service, the first one included. After the last failure the service's error
 * is returned. A query gives up earlier when its time is over.
 */
export const EMBED_ATTEMPTS_MAX = 5;
/**
 * The upper bound of the random delay before the second attempt, and its maximum. It doubles with each failure. The
 * actual delay is between zero and the bound.
 */
export const EMBED_RETRY_MIN_MS = 250;
export const EMBED_RETRY_MAX_MS = 8_000;
/** The longest Retry-After that is respected; beyond: the service's error is returned at once. */
export const EMBED_RETRY_AFTER_MAX_MS = 30_000;
/** Characters of a sentence that is searched for facts. Longer sentences are skipped. */
export const EXTRACT_SENTENCE_CHARS_MAX = 400;
/** Characters of a text that are searched for facts and dates. The rest is skipped. */
export const EXTRACT_TEXT_CHARS_MAX = 262_144;
/** Facts taken from one text, distinct names looked up, and passages searched for a date. The rest is skipped. */
export const EXTRACT_BELIEFS_MAX = 256;
export const EXTRACT_NAME_LOOKUPS_MAX = 256;
export const EXTRACT_DATE_LOOKUPS_MAX = 64;
/**
 * Time for the extraction thread to read one text, its start included, after which it is terminated; and the thread's
 * heap.
 */
export const EXTRACT_READ_MS = 20_000;
export const EXTRACT_HEAP_MB = 512;
/** Texts that wait for the extraction thread; beyond: LIM-E001. The thread ends after this idle time. */
export const EXTRACT_READS_WAITING_MAX = 64;
export const EXTRACT_IDLE_MS = 30_000;
/**
 * Extraction by a model: characters and texts of one request, tokens of its answer, the failures in a row after which the
 * model is not asked, and for how long.
 */
export const EXTRACT_MODEL_CHARS_MAX = 8_000;
export const EXTRACT_MODEL_TEXTS_MAX = 16;
export const EXTRACT_MODEL_TOKENS_MAX = 4_096;
export const EXTRACT_MODEL_FAILURES_MAX = 5;
export const EXTRACT_MODEL_PAUSE_MS = 30_000;
/** Characters of the names in a fact of a model; a longer one is dropped. */
export const EXTRACT_SUBJECT_CHARS_MAX = 200;
export const EXTRACT_RELATION_CHARS_MAX = 64;
export const EXTRACT_OBJECT_CHARS_MAX = 500;
/**
 * Limits of the search for personal data in one text: telephone numbers and names that a library judges (beyond: shape
 * and lists decide), and the levels of nested encodings (Base64, escapes) that are decoded.
 */
export const PII_PHONE_LOOKUPS_MAX = 1_024;
export const PII_NAME_LOOKUPS_MAX = 128;
export const PII_DECODE_DEPTH_MAX = 2;
/** Members of a list or map in a policy, and characters of each. */
export const POLICY_LIST_MAX = 1_024;
export const POLICY_TEXT_CHARS_MAX = 1_024;
/** Consent facts of a memory that are cached. */
export const CONSENTS_CACHED_MAX = 16_384;
/** Purposes of a memory for which the users with a consent are kept in order; without a purpose counts as one. */
export const CONSENT_ORDERS_MAX = 3;
/** Restricted users of a memory. */
export const RESTRICTIONS_MAX = 100_000;
/** Access tuples of a memory, and characters of an id in one. */
export const TUPLES_MAX = 100_000;
export const TUPLE_ID_CHARS_MAX = 256;
/** Usersets to which one relation to an object is given, and parents of an object: a check reads them all. */
export const TUPLE_USERSETS_MAX = 10_000;
/** Principals about whom a simulated policy asks what tuples let them view. */
export const PRINCIPALS_ASKED_MAX = 1_000;
/** Steps from the object that a check goes, and the pairs of object and relation that it visits; beyond: denied. */
export const ACCESS_DEPTH_MAX = 25;
export const ACCESS_VISITED_MAX = 20_000;
/** Pairs of object and relation that the checks of a memory keep as known, over all subjects. */
export const ACCESS_KNOWN_MAX = 32_768;
/** Cached for a memory: answers of checks, subjects with a relation, and objects with their tuples. */
export const ACCESS_ANSWERS_MAX = 16_384;
export const ACCESS_VIEWS_MAX = 1_024;
export const ACCESS_OBJECTS_MAX = 4_096;
/** Subjects of one object and relation that are cached; of more, each is looked up in the log's state. */
export const ACCESS_SUBJECTS_CACHED_MAX = 16;
/** Parts of an index for which the docs of a namespace view are cached: callers at a time. */
export const ACCESS_CALLERS_CACHED_MAX = 32;
/** Identities of agents in a memory, and those whose status is cached. */
export const AGENTS_MAX = 10_000;
export const AGENTS_CACHED_MAX = 4_096;
/** Agents without an identity whose acts a partition counts; those of more are not counted. */
export const AGENTS_SEEN_MAX = 1_000;
/** Changes of trust on a page, and pages that are kept of an agent: together more than the changes that are shown. */
export const TRUST_PAGE_POINTS = 64;
export const TRUST_PAGES = 17;
export const TRUST_POINTS_MAX = 1_000;
/** Members of an identity. */
export const AGENT_ID_CHARS_MAX = 256;
export const AGENT_NAME_CHARS_MAX = 256;
export const AGENT_DID_CHARS_MAX = 512;
export const AGENT_PUBLIC_KEY_CHARS_MAX = 4_096;
export const AGENT_CAPABILITIES_MAX = 64;
export const AGENT_CAPABILITY_CHARS_MAX = 128;
export const AGENT_METADATA_BYTES_MAX = 16 * 1024;
/** Characters of the reason for a restriction or a policy, which is stored and shown; beyond: VAL-E001. */
export const RULE_REASON_CHARS_MAX = 1_024;
/** Characters of a purpose. */
export const PURPOSE_CHARS_MAX = 128;
/** Characters of a text in a consent and of its reason, and members of a list. */
export const CONSENT_TEXT_CHARS_MAX = 512;
export const CONSENT_REASON_CHARS_MAX = 1_024;
export const CONSENT_LIST_MAX = 64;
/** Consents in one request. */
export const CONSENTS_BULK_MAX = 1_000;
/** Words of a text that are compared with guardrails for similarity (mode `fuzzy`). */
export const GUARDRAIL_WORDS_MAX = 4_096;
/** Grains that are opened to estimate a policy's effect on their personal data. */
export const IMPACT_OPENED_MAX = 5_000;
/** Grains that one group forgets at most. A subject with more is forgotten in several groups. */
export const FORGET_ROUND_GRAINS = 1_000;
/**
 * Other people's grains that name an erased user and are redacted in one transaction. More transactions follow for the
 * rest.
 */
export const REDACTIONS_MAX = 64;
/** Redaction transactions that the answer of an erasure waits for. The rest run after it. */
export const REDACTION_ROUNDS_AWAITED = 16;
/** Delay before an interrupted erasure continues. */
export const ERASURE_RETRY_MS = 5_000;
/** Interval of the retention sweeps over all memories. */
export const RETENTION_SWEEP_MS = 3_600_000;
/** Expired grains that one transaction removes. */
export const RETENTION_BATCH_MAX = 1_000;
/** Characters of a JSON value in a policy: an impact assessment, a controller. */
export const POLICY_FACT_CHARS_MAX = 65_536;
/** Memories (and kinds of acts in them) that the monitor of bursts counts; beyond: those without acts the longest are dropped. */
export const MONITORED_MEMORIES_MAX = 10_000;
/** Bytes of the text of a remember. */
export const REMEMBER_TEXT_BYTES_MAX = 262_144;
/**
 * Extractions after the answer: waiting or running (in all, of one memory, bytes of their texts; beyond: LIM-E001),
 * running, finished ones whose result is still reported, and the time of each of their calls to a memory.
 */
export const EXTRACTIONS_WAITING_MAX = 1_024;
export const EXTRACTIONS_OF_MEMORY_MAX = 512;
export const EXTRACTIONS_BYTES_MAX = 64 * 1_048_576;
export const EXTRACTIONS_RUNNING_MAX = 4;
export const EXTRACTION_MARKERS_MAX = 1_024;
export const EXTRACTION_CALL_MS = 30_000;
/** Extracted beliefs that one call stores. */
export const EXTRACTED_BATCH_MAX = 500;

export const SHARDS_MAX = 64;
/**
 * Megabytes for new objects in a worker's heap, three semi-spaces. V8's default of 192 exceeds what it lets an old
 * generation of some 50 MB grow by. It would mark the whole heap each time new objects fill up: several times a second,
 * for tens of milliseconds.
 */
export const WORKER_NEW_OBJECTS_MB = 48;
/**
 * Percent of its live objects that a heap may grow by before V8 marks it. By itself V8 lets a heap of 30 to 50 MB grow
 * by a tenth, so it marked the main thread's heap every 185 recalls, and each time a recall waited 10 ms.
 */
export const HEAP_GROWTH_PERCENT = 300;
export const MEMORIES_MAX = 100_000;
/** Memory numbers from here on belong to temporary memories of a shard. */
export const MEMORY_NUMBER_MOMENTARY = 0x8000_0000;

/** Changes of the deployment (memories, keys) in one transaction, and waiting changes; beyond: LIM-E001. */
export const CONTROL_GROUP_MAX = 256;
export const CONTROL_PENDING_MAX = 10_000;
/** API keys of a deployment; beyond, ended ones are removed, a batch at a time, and without such: LIM-E002. */
export const API_KEYS_MAX = 200_000;
export const API_KEYS_REMOVED_MAX = 1_000;
/** Stored replies of idempotent changes of the deployment; beyond: the oldest are dropped early. */
export const CONTROL_REPLIES_MAX = 10_000;
/** The last use of API keys is written in batches: the minimum interval, and the size of a batch. */
export const KEY_USE_WRITE_MS = 60_000;
export const KEY_USE_WRITE_MAX = 5_000;
/** Rate limit buckets: of keys that called lately, and of addresses that failed to authenticate. */
export const RATE_BUCKETS_MAX = 100_000;
/** Operations that are known to take long (imports, exports, maintenance) are answered SYS-E005 after this. */
export const SLOW_REQUEST_MS = 3_600_000;
/** Bytes of blobs in one call of an import, and the target size of one page of an export. */
export const TRANSFER_BYTES = 512 * 1_024;
/** Hashes in the answer of an import, and errors and warnings each. Beyond: only their number is reported. */
export const IMPORT_HASHES_LISTED_MAX = 200_000;
export const IMPORT_PROBLEMS_LISTED_MAX = 10_000;
/** Grains in one call of an import. */
export const TRANSFER_GRAINS_MAX = 500;
/** Time that a stopping server waits for its listeners, the running requests and the calls of its shards, together. */
export const DRAIN_MS = 10_000;
/**
 * When the process of a server that is told to end ends itself, by default. Its parts have less time than this, and service managers
 * are told to wait longer.
 */
export const STOP_MS = 75_000;

/** How long a start may go on after a signal, until it comes to a point where it closes what it has opened. */
export const START_STOP_MS = 2_000;
/** The least time for one of these waits, when those before it have used up all of it. */
export const DRAIN_LATER_MS = 500;
/** Health is answered after this time, even if some shards have not answered. */
export const HEALTH_WAIT_MS = 2_000;
/** A shard that has not answered by then is reported with its last state, if that is at most `HEALTH_WAIT_MS` old. */
export const HEALTH_LATE_MS = 15;
/** Interval at which the server checks the shards for problems to log. */
export const HEALTH_LOG_MS = 5_000;
/**
 * The disk probe writes a small file: its interval, its bytes, and the duration from which health reports a slow write.
 */
export const DISK_PROBE_MS = 5_000;
export const DISK_PROBE_BYTES = 4_096;
export const DISK_LATE_MS = 10_000;
/**
 * Bytes that a commit copies in addition to its records. An append is refused unless the disk has room for this and
 * twice its records (`log/lmdb/room.ts`).
 */
export const DISK_ROOM_BYTES_MIN = 131_072;
/** How long health reports an append that found no room, when no other append followed. */
export const LOG_REFUSING_MS = 30_000;
/** Problems of shards that the server remembers, so that it logs each once. */
export const HEALTH_LOG_REASONS_MAX = 1_000;
/** Bytes of log lines that wait while stderr takes none; beyond: further ones are left out. */
export const LOG_WAITING_BYTES_MAX = 1_048_576;
/**
 * A log file up to this size is checked page by page when it is opened. A larger file is checked down to its branch
 * pages.
 */
export const LOG_CHECK_BYTES_MAX = 64 * 1_048_576;
/**
 * Keys whose AES objects a thread keeps in each of two generations, 2 KB each. Those of other keys are made again, which costs
 * as much as the platform's seal.
 */
export const GCM_CIPHERS_MAX = 2_048;
/** Headers whose API key is remembered, so that a repeated one costs no hash. Its record is looked at each time. */
export const KEY_HEADERS_REMEMBERED_MAX = 1_024;
/** A longer header is not remembered: blanks may make it as long as a request's headers. */
export const KEY_HEADER_CHARS_MAX = 2_048;
/** Entries of X-Forwarded-For or Forwarded that are read, from the end: more than any chain of proxies has. */
export const FORWARDED_HOPS_MAX = 32;
/** Failed authentications of one address in a minute; beyond: LIM-E001 instead of AUT-E004. */
export const AUTH_FAILURES_PER_MINUTE = 60;
/** Length of an OpenID Connect token; beyond: AUT-E004 before anything is decoded. */
export const TOKEN_CHARS_MAX = 16_384;
/** Age of a token by its claim `iat`, whatever its `exp` says. */
export const TOKEN_AGE_MAX_SECONDS = 86_400;
/** Difference between the issuer's clock and this one that a token's times may have. */
export const TOKEN_SKEW_SECONDS = 60;
/** Verified tokens that are remembered, so that a repeated one costs a hash instead of a signature check. */
export const TOKENS_REMEMBERED_MAX = 10_000;
/** Length of a token's `sub` and `agent_id`. */
export const TOKEN_SUBJECT_CHARS_MAX = 250;
/** Memories that a token's claim `memories` may list. */
export const MEMORIES_OF_TOKEN_MAX = 1_000;
/** Age at which the issuer's keys are fetched again. */
export const ISSUER_KEYS_FRESH_MS = 600_000;
/** Age up to which they are used while the issuer does not answer. */
export const ISSUER_KEYS_STALE_MS = 3_600_000;
/** Time between two fetches. */
export const ISSUER_RETRY_MS = 30_000;
/** Time limit of discovery and key set together. */
export const ISSUER_TIMEOUT_MS = 5_000;
/** Sign-ins to the console that wait for the issuer at once; others are refused (LIM-E001). */
export const ISSUER_SIGN_INS_MAX = 8;
/** Size of each of the two answers. */
export const ISSUER_ANSWER_BYTES_MAX = 1_048_576;

/** Kinds of blind tokens. */
export const BLIND_KINDS_MAX = 32;
/** Unwrapped keys, and bucket files, that one key store caches. */
export const KEYS_CACHED_MAX = 16_384;
export const KEY_BUCKETS_CACHED_MAX = 64;
/** Keys that one group creates, and that one flush writes. */
export const KEYS_STAGED_MAX = 65_536;
/** Problems that one verification of a store lists. More are only counted. */
export const FINDINGS_MAX = 1_000;
/** Records, replacements and state entries that one append writes. It removes any number. */
export const APPEND_ITEMS_MAX = 250_000;
/** Blobs that one group re-seals after a rotation, and their bytes without the last blob. */
export const RESEAL_RECORDS_MAX = 256;
export const RESEAL_BYTES_MAX = 1_048_576;
/** One page of a log scan: this many records or bytes, whichever comes first. */
export const SCAN_PAGE_RECORDS = 512;
export const SCAN_PAGE_BYTES = 1_048_576;
/** A sequence number is also a 32-bit ordinal. The highest 32-bit value means "none". */
export const SEQUENCE_MAX = 4_294_967_294;

/** Bytes of a state's key. LMDB allows 1,978 with 4 KiB pages. */
export const STATE_KEY_BYTES_MAX = 200;

assert(STATE_KEY_BYTES_MAX < 1978, 'a state key fits LMDB');
assert(PACK_BYTES_MAX < PENDING_BYTES_MAX && PACK_ITEMS_MAX < PENDING_ITEMS_MAX, 'a pack fits the pending limit');
assert(TAIL_GRAINS_SEAL < TAIL_GRAINS_MAX, 'a seal begins before writes wait');
assert(TAIL_GRAINS_SHARED <= TAIL_GRAINS_SEAL, 'a shared thread seals sooner');
assert(MERGE_FANOUT < SEGMENTS_MAX, 'a merge lowers the number of segments');
assert(SEGMENTS_MAX < SEGMENTS_CROWDED, 'merges come before seals wait for them');
assert(GRPC_STREAM_WINDOW_BYTES <= GRPC_CONNECTION_WINDOW_BYTES, "a connection's window holds that of a call");
assert(
  Math.max(MESSAGE_BYTES_MAX, UPLOAD_BYTES_MAX) < MEMORY_MB_MIN * 1_048_576,
  'a request fits what may be gathered',
);
assert(BATCH_GRAINS_MAX <= TAIL_GRAINS_SEAL, 'a batch fits a tail');
assert(VECTORS_SEAL < VECTORS_UNSEALED_MAX, 'vectors are sealed before the limit for adding');
assert(RECALL_LIMIT_DEFAULT <= RECALL_LIMIT_MAX && RECALL_LIMIT_MAX <= CANDIDATE_LIMIT_MAX, 'limits nest');

/** Grains that the follower fetches from a shard at a time. */
export const FOLLOW_PAGE_GRAINS = 128;
/**
 * Characters of text that end a memory's turn in the follower: some 55 windows. An embedding service outside takes many
 * at a time.
 */
export const EMBED_PAGE_CHARS = 32_768;
export const EMBED_OUTSIDE_PAGE_CHARS = 131_072;
/** Grains and characters that are embedded out of turn: the newest grains of a memory, if they are short. */
export const EMBED_FRESH_GRAINS = 8;
export const EMBED_FRESH_CHARS = 2_048;
/** Rounds of fresh grains that may pass before a call of the backlog. */
export const FOLLOW_FRESH_ROUNDS_MAX = 4;
/** Like `EMBED_PAGE_CHARS`, where personal data is redacted first. That costs 0.3 to 3 µs a character. */
export const EMBED_REDACTED_PAGE_CHARS = 8_192;
/** Grains, or vectors, of a page after which finished vectors are handed to the shard. */
export const FOLLOW_STRETCH_GRAINS = 64;
export const FOLLOW_STRETCH_VECTORS = 256;
/** Windows of grains in one call to an embedder. One more call is prepared meanwhile. */
export const EMBED_CALL_WINDOWS_MAX = 64;
/** Texts are cut into windows on the thread that answers requests, in slices of this duration. */
export const FOLLOW_SLICE_MS = 4;
/**
 * A grain that fails alone this often, while other texts succeed, stays without vectors; and the failing grains of a
 * shard that are tracked.
 */
export const FOLLOW_TRIES_ALONE = 3;
export const FOLLOW_SUSPECTS_MAX = 1_024;
/** Interval of the checks for grains to embed when no write is announced. */
export const FOLLOW_REST_MS = 1_000;
/** Delay after an embedder's failure: at first, and at most. It doubles with each failure in a row. */
export const FOLLOW_RETRY_MIN_MS = 1_000;
export const FOLLOW_RETRY_MAX_MS = 60_000;
/** Time that a read waits for the vectors of earlier writes. */
export const INDEX_WAIT_MS_MAX = 30_000;
/**
 * The processors that embedding leaves to requests are measured at this interval, while texts wait. A fall of the demand
 * counts by this part each time. A measurement that is older than the last one is none.
 */
export const SPARE_LOOK_MS = 100;
export const SPARE_FALL = 0.25;
export const SPARE_FORGOTTEN_MS = 2_000;
/** Cores: requests that use less leave everything to embedding. */
export const SPARE_IDLE_CORES = 0.25;
/** The share of a core that a backlog always has, so that it ends. */
export const SPARE_SHARE_MIN = 1 / 16;
/** Bytes of vectors of windows that may repeat, and the time without a backlog after which they are dropped. */
export const WINDOW_CACHE_BYTES_MAX = 16 * 1_048_576;
export const WINDOW_CACHE_IDLE_MS = 300_000;
/** Memories that a shard examines to fill one page of grains to embed. */
export const EMBED_MEMORIES_LOOKED_AT = 256;
/** Time that a recall waits for its query's vector before it goes on with words alone. */
export const QUERY_VECTOR_WAIT_MS = 2_000;
/**
 * The part of that time that a recall waits while many vectors are being loaded, as after a start; and the interval of
 * its checks.
 */
export const VECTORS_LOADING_WAIT_MS = 1_000;
export const VECTORS_LOADING_LOOK_MS = 50;
/** After a query waited for an embedder in vain: the shorter wait of later queries, and how long it applies. */
export const QUERY_VECTOR_SHORT_WAIT_MS = 250;
export const QUERY_VECTOR_SHORT_FOR_MS = 10_000;
/** Delay before an embedder that could not be opened is opened again. */
export const EMBEDDER_REOPEN_MS = 30_000;

/** Depth of a graph around its start. */
export const GRAPH_DEPTH_MAX = 5;
/** Nodes of a graph. */
export const GRAPH_NODES_MAX = 1_000;
/** Edges of a graph; beyond: the answer says that it is truncated. */
export const GRAPH_EDGES_MAX = 10_000;
/** Edges that one call to a shard reads: a few milliseconds of its thread. */
export const GRAPH_EDGES_PAGE = 500;
/** Time after which a graph ends with what it has. */
export const GRAPH_MS_MAX = 5_000;

/** Restores of a deployment that are noted. Cursors of events from before the oldest of them are `ahead`. */
export const RESTORES_NOTED_MAX = 1_000;
/** Bytes of the headers of an answer to a request that the server makes; beyond: the request fails. */
export const OUTGOING_HEADER_BYTES_MAX = 16_384;
/** Bytes of an unwanted answer that are read so that its connection can be used again; it is closed at more. */
export const OUTGOING_DISCARDED_BYTES_MAX = 16_384;
/** Hooks of one memory; beyond: HOK-E004. */
export const HOOKS_PER_MEMORY_MAX = 50;
/** Length of a hook's URL. */
export const HOOK_URL_CHARS_MAX = 2_048;
/** Time for one try of a delivery, from connecting to the answer's end. */
export const HOOK_TIMEOUT_MS = 10_000;
/** Connections to one receiver. */
export const HOOK_CONNECTIONS_MAX = 64;
/** Deliveries under way at once, over all hooks: far more than the hooks of a memory, which may all be dead. */
export const HOOK_SENDS_MAX = 1_024;
/** Pages of events that are read for hooks at once. */
export const HOOK_READS_MAX = 16;
/** The longest wait that a receiver may ask for. */
export const HOOK_RETRY_AFTER_MS_MAX = 3_600_000;
/** Dead letters in a row that pause a hook. */
export const HOOK_DEAD_IN_ROW_MAX = 20;
/** Dead letters of a hook that are kept, and for how long. */
export const HOOK_LETTERS_KEPT_MAX = 100;
export const HOOK_LETTERS_KEPT_MS = 7 * 86_400_000;
/** Events of a hook are dropped from memory while it waits longer than this, and read again. */
export const HOOK_HELD_MS_MAX = 60_000;
/** Events of a hook are read again before they are sent if they were read longer ago: what they hold may be erased by now. */
export const HOOK_FRESH_MS = 5_000;
/** How often the progress of deliveries is written; a crash repeats what was delivered since. */
export const HOOK_WRITE_MS = 1_000;
/** A hook's deliveries are counted in the audit trail this often, at most. */
export const HOOK_AUDIT_MS = 60_000;

/** Grains, and beliefs, of the samples that metrics compare with the whole memory. */
export const METRIC_SAMPLE = 1_000;
/** Bytes of a grain above which it is left out of the sample for duplicates. */
export const METRIC_SAMPLE_GRAIN_BYTES = 4_096;
/** The newest recall records, links of versions and audit entries that metrics read. */
export const METRIC_RECALLS_MAX = 20_000;
export const METRIC_LINKS_MAX = 200_000;
export const METRIC_AUDIT_ENTRIES_MAX = 10_000;
/** Stages of traced calls that a shard keeps until the server asks for them, and the time after which it asks. */
export const STAGE_TIMES_MAX = 16_384;
export const STAGES_GATHER_MS = 25;
/** Time for which computed metrics are answered again. */
export const METRICS_CACHED_MS = 30_000;
/** Sets of computed metrics that are kept. */
export const METRICS_CACHED_MAX = 1_000;
/** Measurements of memories that run at the same time; others wait for their turn. */
export const METRICS_RUNNING_MAX = 2;

/** Characters of a document's text, and chunks of it; beyond: LIM-E003. */
export const DOCUMENT_TEXT_CHARS_MAX = 100_000_000;
export const DOCUMENT_CHUNKS_MAX = 500_000;
/** Pages, slides or sheets of a document; beyond: LIM-E003. */
export const DOCUMENT_PAGES_MAX = 5_000;
/** Bytes that come out of the compressed parts of a document; beyond: LIM-E003. */
export const DOCUMENT_INFLATED_BYTES_MAX = 256 * 1_048_576;
/** Entries of an office file, and parts of an e-mail; beyond: LIM-E003. */
export const DOCUMENT_ENTRIES_MAX = 10_000;
/** Depth of nested elements of HTML and XML; beyond: LIM-E003. */
export const DOCUMENT_DEPTH_MAX = 2_000;
/** Threads that read documents, and documents that wait for one; beyond: LIM-E001. A thread ends after this idle time. */
export const DOCUMENT_THREADS_MAX = 2;
export const DOCUMENTS_WAITING_MAX = 32;
export const DOCUMENT_IDLE_MS = 5_000;
/**
 * Time to read one document; the heap of its thread, and the part of it for new objects; and all memory of the thread,
 * which is looked at in this interval.
 */
export const DOCUMENT_READ_MS = 120_000;
export const DOCUMENT_HEAP_MB = 448;
export const DOCUMENT_YOUNG_HEAP_MB = 16;
export const DOCUMENT_MEMORY_BYTES_MAX = 512 * 1_048_576;
export const DOCUMENT_LOOK_MS = 100;
/** Bytes from which an upload is handed to its thread instead of copied, and most that are copied at once. */
export const HANDED_OVER_BYTES = 1_048_576;
/** Bytes of a request that are hashed in one turn of the event loop. */
export const HASHED_AT_ONCE_BYTES = 1_048_576;
/** Chunks, and characters of them, that a thread hands over at a time. */
export const DOCUMENT_BATCH_CHUNKS = 250;
export const DOCUMENT_BATCH_CHARS = 400_000;
/** Characters of a document's chunk: the default, its overlap, and the range of the option. */
export const CHUNK_CHARS_DEFAULT = 1_000;
export const CHUNK_OVERLAP_DEFAULT = 100;
export const CHUNK_CHARS_MIN = 20;
export const CHUNK_CHARS_MAX = 100_000;
/** Batches of chunks that are being stored while the next one is read. */
export const DOCUMENT_BATCHES_OUT_MAX = 4;
/** Versions of a chain that are still usual, and above which they are critical; beyond: `monitor.deep_chain`. */
export const DEEP_CHAIN_VERSIONS = 100;
export const DEEP_CHAIN_CRITICAL = 10 * DEEP_CHAIN_VERSIONS;
/** Chains of a shard whose length is kept in memory. The others are walked again. */
export const CHAIN_DEPTHS_KEPT_MAX = 10_000;
/** Requests of data subjects of a deployment, and of a memory: a key of one memory must not use up those of all. Beyond: LIM-E002. */
export const SUBJECT_REQUESTS_MAX = 100_000;
export const SUBJECT_REQUESTS_OF_MEMORY_MAX = 10_000;
/** Days of a request: by default (GDPR, Art. 12(3)), at most, and of its one extension. */
export const SUBJECT_REQUEST_DAYS_DEFAULT = 30;
export const SUBJECT_REQUEST_DAYS_MAX = 365;
export const SUBJECT_REQUEST_EXTENSION_DAYS_DEFAULT = 60;
/** For how long a request is kept after it was closed: three years, the usual period of limitation. */
export const SUBJECT_REQUEST_KEPT_MS = 1_095 * 86_400_000;
/** Characters of who asked, and of a note or a reason. */
export const SUBJECT_REQUESTER_CHARS_MAX = 512;
export const SUBJECT_REQUEST_NOTE_CHARS_MAX = 4_096;
/** Entries of the audit trail, consents and recalls that a report lists. It tells how many there are. */
export const REPORT_ACTS_MAX = 500;
export const REPORT_CONSENTS_MAX = 200;
export const REPORT_RECALLS_MAX = 20;
/**
 * Time for the PDF of a report, and heap of the thread that writes it (the longest report takes a second and 60 MB). Reports
 * that are written or wait; beyond: LIM-E001. The thread ends after this idle time.
 */
export const REPORT_WRITE_MS = 60_000;
export const REPORT_HEAP_MB = 256;
export const REPORTS_WAITING_MAX = 16;
export const REPORT_IDLE_MS = 5_000;
/** Import jobs that run at once, each with a thread that reads documents; others wait. */
export const IMPORT_JOBS_RUNNING_MAX = 2;
/** Import jobs that have not ended, of the deployment and of one memory, and the bytes of their files; beyond: LIM-E001. */
export const IMPORT_JOBS_OPEN_MAX = 1_000;
export const IMPORT_JOBS_OPEN_OF_MEMORY_MAX = 500;
export const IMPORT_FILES_BYTES_MAX = 4 * 1_073_741_824;
/** Jobs that have ended: for how long they are kept, and how many of the deployment. */
export const IMPORT_JOB_KEPT_MS = 7 * 86_400_000;
export const IMPORT_JOBS_KEPT_MAX = 2_000;
/** Hashes, and errors and warnings each, that a job's record lists. */
export const IMPORT_JOB_HASHES_MAX = 500;
export const IMPORT_JOB_PROBLEMS_MAX = 50;
/** Time for one call of a job, tries of it while its shard does not answer, and the wait between them. */
export const IMPORT_CALL_MS = 60_000;
export const IMPORT_TRIES_MAX = 30;
export const IMPORT_RETRY_MS = 1_000;
/** Wait before the end of a job is recorded again that its memory's audit trail did not take. */
export const IMPORT_END_RETRY_MS = 5_000;
/** Time that a reader of jobs waits for ends that are being recorded. */
export const IMPORT_END_WAIT_MS = 1_000;
/** Plain bytes of one piece of an uploaded file on disk. */
export const IMPORT_PIECE_BYTES = 1_048_576;
/** Streams of progress at once; beyond: LIM-E001. A stream may last this long. */
export const IMPORT_STREAMS_MAX = 1_000;
export const IMPORT_STREAM_MS = 3_600_000;
/** Characters of a document's file name that are kept. */
export const FILE_NAME_CHARS_MAX = 255;
/** Time that a turn of a harness waits for its caller before it expires (service contract, section 5). */
export const TURN_PAUSE_MS = 900_000;
/** Time that a turn may take between two waits for its caller. */
export const TURN_BUDGET_MS = 600_000;
/** Turns of a conversation whose records are kept, the last one included. */
export const TURNS_KEPT_MAX = 32;
/** Calls of tools that one answer of a model may ask for. */
export const TURN_CALLS_MAX = 32;
/** Of these, calls that run at the same time. */
export const TURN_CALLS_AT_ONCE_MAX = 8;
/** Turns that one call settles. */
export const TURNS_SETTLED_MAX = 1_000;
/** Time that one call of a tool may take (service contract, section 18.2). */
export const TOOL_CALL_MS = 30_000;
/** Bytes of the answer of an HTTP tool. */
export const TOOL_OUTPUT_BYTES_MAX = 262_144;
/** Connections to one host of tools. */
export const TOOL_CONNECTIONS_MAX = 16;
/** Named executors, the bytes of their file, and of the output of one. */
export const EXECUTORS_MAX = 256;
export const EXECUTOR_FILE_BYTES_MAX = 1_048_576;
export const EXECUTOR_OUTPUT_BYTES_MAX = 262_144;
/** Programs of executors that run at once. */
export const EXECUTORS_RUNNING_MAX = 16;
/** Tools of one turn, and those that a caller may offer for it. */
export const TURN_TOOLS_MAX = 128;
export const CLIENT_TOOLS_MAX = 32;
/** Characters of a tool's result that a model is shown. */
export const TOOL_RESULT_CHARS_MAX = 32_768;
/** Characters of a message to a harness, and of the id of its conversation. */
export const TURN_MESSAGE_CHARS_MAX = 262_144;
export const CONVERSATION_ID_CHARS_MAX = 256;
/** Messages of a conversation that a model is shown before the one that it answers. */
export const TURN_HISTORY_MAX = 12;
/** Turns that run at once. */
export const TURNS_RUNNING_MAX = 1_000;
