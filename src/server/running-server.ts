// A server that has started, as its starter sees it.

export interface RunningServer {
  readonly httpPort: number;
  readonly grpcPort: number;
  /** Port of --http10-port. */
  readonly http10Port: number | undefined;
  /** `http://host:port` or `https://…`, as reachable from this machine. */
  readonly http: string;
  /** `host:port`. */
  readonly grpc: string;
  readonly httpListener: 'uws' | 'node';
  /** The first key, if this start created it. It is returned only here. */
  readonly firstKey: string | undefined;
  /** Warnings for the operator. */
  readonly warnings: readonly string[];
  /** The part that `close` waits for; undefined when it waits for none. */
  readonly closing: () => string | undefined;
  /** Drains and closes everything; every call returns the same promise. */
  close(): Promise<void>;
}
