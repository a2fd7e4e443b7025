// The tables of a store in PostgreSQL, and the steps that make them. The statements are those that PostgreSQL 14 and later,
// CockroachDB and YugabyteDB share. Each table of shards begins with the shard, by which a database can spread it.
//
//   granary_store     one row: the version of the tables, the deployment's random mark, the number of shards, and since
//                     version 4 whether the keys are in a key store (key-store.ts); since version 5 the oldest version of
//                     the tables whose programs may serve with these
//   granary_shards    a shard's format, owner and lease; its newest append, its next sequence number, and the newest
//                     append whose changes were pruned
//   granary_owners    each taking of a shard: a random mark, the newest append at that moment, and since version 6 when it was
//   granary_records   sequence number → frame (../frame.ts), null when the record was removed
//   granary_changes   the records that an append replaced or removed
//   granary_key_files the small files of the deployment's keys, under the shard of the control log
//   granary_keys      key id → slot of a key store: a wrapped key, or a tombstone
//   granary_state     key → frame, null when it was deleted, and the append that wrote it
//   granary_nodes     the nodes of the deployment, since version 2: where the others reach one, its ports, the version of its
//                     program, since version 5 that of its protocol and the shards that it
//                     cannot open, its weight, whether it gives its shards away, and when it was last seen; since version 6
//                     how far its copies are (fleet.ts)
//   granary_segments  files that follow from the log, since version 3: path in the shard's folder → SHA-256 and bytes
//   granary_segment_parts SHA-256 of such a file and number of a part, from 0 → its bytes

/** The newest version of the tables. A step is added for each; a step that was published is never changed. */
export const SCHEMA_VERSION = 6;

/**
 * The oldest version whose programs serve with the tables of SCHEMA_VERSION, and so may go on while the tables are changed. A step that only
 * adds tables, or columns with a default, leaves it as it is. Any other step raises it to the version of the step: all nodes must then
 * end before the tables are changed.
 */
export const SCHEMA_SERVES_FROM = 5;

/** The statements that lead from the version before to the i-th version, from 1. */
export const SCHEMA_STEPS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE granary_store (
      id int4 PRIMARY KEY,
      version int4 NOT NULL,
      mark bytea NOT NULL,
      shards int4 NOT NULL
    )`,
    `CREATE TABLE granary_shards (
      shard int4 PRIMARY KEY,
      format int4 NOT NULL,
      token int8 NOT NULL,
      owner text,
      expires_at timestamptz,
      appends int8 NOT NULL,
      next int8 NOT NULL,
      pruned int8 NOT NULL
    )`,
    `CREATE TABLE granary_owners (
      shard int4 NOT NULL,
      token int8 NOT NULL,
      mark bytea NOT NULL,
      appends int8 NOT NULL,
      PRIMARY KEY (shard, token)
    )`,
    `CREATE TABLE granary_records (
      shard int4 NOT NULL,
      sequence int8 NOT NULL,
      frame bytea,
      PRIMARY KEY (shard, sequence)
    )`,
    `CREATE TABLE granary_changes (
      shard int4 NOT NULL,
      append int8 NOT NULL,
      sequence int8 NOT NULL,
      PRIMARY KEY (shard, append, sequence)
    )`,
    `CREATE TABLE granary_state (
      shard int4 NOT NULL,
      key bytea NOT NULL,
      frame bytea,
      append int8 NOT NULL,
      PRIMARY KEY (shard, key)
    )`,
    `CREATE TABLE granary_keys (
      shard int4 NOT NULL,
      id int8 NOT NULL,
      slot bytea NOT NULL,
      PRIMARY KEY (shard, id)
    )`,
    `CREATE TABLE granary_key_files (
      shard int4 NOT NULL,
      name text NOT NULL,
      content bytea NOT NULL,
      PRIMARY KEY (shard, name)
    )`,
  ],
  [
    `CREATE TABLE granary_nodes (
      node text PRIMARY KEY,
      address text NOT NULL,
      http_port int4 NOT NULL,
      grpc_port int4 NOT NULL,
      version text NOT NULL,
      weight int4 NOT NULL,
      draining boolean NOT NULL,
      seen_at timestamptz NOT NULL
    )`,
  ],
  [
    `CREATE TABLE granary_segments (
      shard int4 NOT NULL,
      name text NOT NULL,
      digest bytea NOT NULL,
      bytes int8 NOT NULL,
      PRIMARY KEY (shard, name)
    )`,
    `CREATE TABLE granary_segment_parts (
      shard int4 NOT NULL,
      digest bytea NOT NULL,
      part int4 NOT NULL,
      content bytea NOT NULL,
      PRIMARY KEY (shard, digest, part)
    )`,
  ],
  ['ALTER TABLE granary_store ADD COLUMN has_key_store boolean NOT NULL DEFAULT false'],
  [
    'ALTER TABLE granary_store ADD COLUMN serves_from int4 NOT NULL DEFAULT 5',
    'ALTER TABLE granary_nodes ADD COLUMN protocol int4 NOT NULL DEFAULT 1',
    `ALTER TABLE granary_nodes ADD COLUMN refused text NOT NULL DEFAULT '[]'`,
  ],
  [
    // Null for owners of before, whose time nobody knows.
    'ALTER TABLE granary_owners ADD COLUMN taken_at timestamptz',
    'ALTER TABLE granary_owners ALTER COLUMN taken_at SET DEFAULT now()',
    `ALTER TABLE granary_nodes ADD COLUMN copies text NOT NULL DEFAULT '{}'`,
  ],
];
