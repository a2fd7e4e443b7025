// SQLite FTS5 as a peer: the words of the same grains under its porter stemmer, write-ahead log, every commit on disk.
import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import { batchesOf } from './engine.ts';

/**
 * `duties`: also the duties of a grain store, bodies stored and unique by SHA-256. `bare`: only the full-text insert.
 */
export type SqliteWork = 'duties' | 'bare';

export interface SqlitePeer {
  /** One transaction: the JSON text of one batch. Returns the grains inserted. */
  insert(text: string): number;
  /** Moves the write-ahead log into the database, as a seal does for a shard. */
  checkpoint(): void;
  /** Ranked row ids of grains that hold any of the words. */
  search(words: readonly string[], limit: number): number[];
  close(): void;
}

/** The texts are prepared before the clock starts. `perSecond` counts the checkpoint. */
export function insertedPerSecond(
  peer: SqlitePeer,
  items: readonly AddItem[],
  batchGrains: number,
): { readonly answeredPerSecond: number; readonly perSecond: number } {
  const texts = batchesOf(1, items, batchGrains).map((batch) => JSON.stringify(batch.items));
  const start = performance.now();
  let count = 0;
  for (const text of texts) count += peer.insert(text);
  const answeredMs = performance.now() - start;
  peer.checkpoint();
  const settledMs = performance.now() - start;
  if (count !== items.length) throw new Error(`SQLite took ${count} of ${items.length} grains`);
  return { answeredPerSecond: (count * 1_000) / answeredMs, perSecond: (count * 1_000) / settledMs };
}

export function openSqlite(path: string, work: SqliteWork): SqlitePeer {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE grains (id INTEGER PRIMARY KEY, hash BLOB UNIQUE, body TEXT)');
  database.exec("CREATE VIRTUAL TABLE words USING fts5(text, content = '', tokenize = 'porter unicode61')");
  const grain = database.prepare('INSERT INTO grains (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const text = database.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
  const ranked = database.prepare('SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?');
  let bareRows = 0;
  return {
    insert(json) {
      const items = JSON.parse(json) as AddItem[]; // the scenario's own text
      let inserted = 0;
      database.exec('BEGIN IMMEDIATE');
      for (const { fields } of items) {
        const words = `${fields['subject']} ${fields['relation']} ${fields['object']}`;
        if (work === 'bare') {
          text.run(++bareRows, words);
          inserted += 1;
          continue;
        }
        const body = JSON.stringify(fields);
        const { changes, lastInsertRowid } = grain.run(hash('sha256', body, 'buffer'), body);
        if (changes === 0) continue;
        text.run(lastInsertRowid, words);
        inserted += 1;
      }
      database.exec('COMMIT');
      return inserted;
    },
    checkpoint: () => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'),
    search: (words, limit) =>
      ranked.all(words.map((word) => `"${word}"`).join(' OR '), limit).map((row) => Number(row['rowid'])),
    close: () => database.close(),
  };
}
