// The connections of one thread to the database, and the meaning of its errors.
import { connect, type Socket } from 'node:net';
import type { ISql, Sql as Pool, PostgresError } from 'postgres';
import { EngineError } from '../../base/errors.ts';
import { DATABASE_ANSWER_MS, DATABASE_GOODBYE_MS } from '../../base/limits.ts';
import { clientOptionsOf } from './connection.ts';

/** The connections of a thread, or one of them within a transaction. */
export type Sql = ISql;

/** The state of a statement that failed. */
export type Failure =
  /** The database rolled it back because of other transactions: it may succeed at once. Nothing was written. */
  | 'conflict'
  /** The database refused the statement. Nothing was written. */
  | 'refused'
  /** Like `refused`: it has no room. */
  | 'full'
  /** The connection failed, or no answer came in time: the statement may have been committed, or may still be. */
  | 'unknown';

/** A statement got no answer in time, or before its connections were closed. */
class NoAnswer extends Error {
  override name = 'NoAnswer';
}

type Client = typeof import('postgres');

/** Those of this thread that logs share, by URL. */
const shared = new Map<string, Database>();

export class Database {
  readonly #client: Client;
  readonly #url: string;
  /** How many users must close it. */
  #users = 1;
  /** Ends each statement that waits for an answer. */
  readonly #waiting = new Set<(reason: NoAnswer) => void>();
  #sql: Pool;
  /** Of the connections. A network that passes nothing keeps them open, and with them the process, until the system gives up. */
  #sockets = new Set<Socket>();
  /** A connection that was opened for `askAfresh`, and how many wait for it. */
  #fresh: { readonly sql: Pool; readonly sockets: Set<Socket>; users: number } | undefined;

  /** `url` as `parseDatabaseUrl` reads it. Connects when something is asked. Rejects with STO-E001. */
  static async open(url: string): Promise<Database> {
    const { default: client } = await import('postgres');
    return new Database(client, url);
  }

  /** One for all users of the URL in this thread. Each of them closes it. */
  static async shared(url: string): Promise<Database> {
    const { default: client } = await import('postgres');
    // It is counted in the turn that finds it, so that nobody closes it in between.
    const known = shared.get(url);
    if (known !== undefined) return known.retain();
    const database = new Database(client, url);
    shared.set(url, database);
    return database;
  }

  private constructor(client: Client, url: string) {
    this.#client = client;
    this.#url = url;
    this.#sql = this.#connect();
  }

  #connect(): Pool {
    this.#sockets = new Set();
    return this.#connectTo(this.#sockets);
  }

  #connectTo(sockets: Set<Socket>, max?: number): Pool {
    const options = { ...clientOptionsOf(this.#url), socket: (to: ConnectTo) => opened(to, sockets) };
    return this.#client(max === undefined ? options : { ...options, max });
  }

  /**
   * Runs `ask` with the connections. Rejects with the library's error, or when there is no answer in time: every
   * connection is then given up, since nobody knows which of them still answers.
   */
  async ask<T>(ask: (sql: Pool) => Promise<T>): Promise<T> {
    const sql = this.#sql;
    try {
      return await this.#untilLate(ask(sql));
    } catch (error) {
      if (error instanceof NoAnswer) this.#giveUp(sql);
      throw error;
    }
  }

  /**
   * Like `ask`, on a connection that is opened for it: those that are there may have died in silence, which is certain only after
   * DATABASE_ANSWER_MS. A slow network must not cost the others their connections.
   */
  async askAfresh<T>(ask: (sql: Pool) => Promise<T>): Promise<T> {
    if (this.#fresh === undefined) {
      const sockets = new Set<Socket>();
      this.#fresh = { sql: this.#connectTo(sockets, 1), sockets, users: 0 };
    }
    const fresh = this.#fresh;
    fresh.users += 1;
    try {
      return await this.#untilLate(ask(fresh.sql));
    } finally {
      fresh.users -= 1;
      if (fresh.users === 0) {
        this.#fresh = undefined;
        end(fresh.sql, fresh.sockets).catch(() => undefined);
      }
    }
  }

  async #untilLate<T>(answer: Promise<T>): Promise<T> {
    const { promise: unanswered, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new NoAnswer(`no answer within ${DATABASE_ANSWER_MS} ms`)),
      DATABASE_ANSWER_MS,
    );
    this.#waiting.add(reject);
    try {
      return await Promise.race([answer, unanswered]);
    } finally {
      this.#waiting.delete(reject);
      clearTimeout(timer);
    }
  }

  #giveUp(sql: Pool): void {
    if (this.#sql !== sql || this.#users === 0) return;
    const sockets = this.#sockets;
    this.#sql = this.#connect();
    end(sql, sockets).catch(() => undefined);
  }

  /** For one more user, who closes it too. */
  retain(): Database {
    this.#users += 1;
    return this;
  }

  /** Ends the connections when the last user closes it. Statements under way fail. */
  async close(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    if (shared.get(this.#url) === this) shared.delete(this.#url);
    for (const refuse of this.#waiting) refuse(new NoAnswer('the connections to the database were closed'));
    await end(this.#sql, this.#sockets);
  }
}

/** The library's options, as it gives them to a maker of sockets. */
interface ConnectTo {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Of a Unix socket. */
  readonly path: string | false | undefined;
}

function opened({ host, port, path }: ConnectTo, sockets: Set<Socket>): Socket {
  const at = { host: host[0]!, port: port[0]! };
  const socket = path ? connect(path) : connect(at);
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  // The library looks there for the name of the server in TLS.
  return Object.assign(socket, at);
}

/** Tells the database that they end, and waits for nothing. */
async function end(sql: Pool, sockets: ReadonlySet<Socket>): Promise<void> {
  await sql.end({ timeout: 0 });
  setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, DATABASE_GOODBYE_MS);
}

/** Statements that a server ends with these codes were rolled back because of others. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01']);
/** Of SQLSTATE: no room on disk, and the limits of the server. */
const FULL: ReadonlySet<string> = new Set(['53100']);
/** The server ends or begins, or does not know what became of the commit. */
const UNKNOWN = /^(08|57P0|40003|53300|58|XX)/;

export function failureOf(error: unknown): Failure {
  const code = sqlState(error);
  // Errors of sockets and of the library have codes of their own, such as ECONNRESET.
  if (code === undefined || UNKNOWN.test(code)) return 'unknown';
  if (CONFLICTS.has(code)) return 'conflict';
  return FULL.has(code) ? 'full' : 'refused';
}

/** The five characters by which the database names an error; undefined for an error of the connection. */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'PostgresError') return undefined;
  return (error as PostgresError).code;
}

/** An STO-E001 that names the failed action and its cause, without the URL, which holds a password. */
export function databaseError(what: string, cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause;
  const failure = isOfFile(cause) ? 'refused' : failureOf(cause);
  return new EngineError('STO-E001', `${what}: ${reasonOf(cause)}`, {
    retryable: failure === 'unknown' || failure === 'full',
  });
}

/** An error of the system about a file of the node, and not about a connection. */
function isOfFile(cause: unknown): boolean {
  return cause instanceof Error && 'syscall' in cause && 'path' in cause;
}

export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause ? String(cause.code) : '';
  // An error of several attempts to connect has no message.
  return cause.message === '' ? code : cause.message;
}
