// A request that a scripted model server got.
import type { IncomingHttpHeaders } from 'node:http';

export type Endpoint = 'chat' | 'embeddings' | 'rerank' | 'models';

export interface Seen {
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body; undefined without one. */
  // biome-ignore lint/suspicious/noExplicitAny: members are asserted one by one where they are used
  readonly body: any;
  /** Resolves when the client goes away before the end of the answer. */
  readonly gone: Promise<void>;
  /** How the answer ended; undefined while it is sent. */
  readonly ended: 'whole' | 'gone' | undefined;
  /** Bytes of the answer that were handed to the connection. */
  readonly sentBytes: number;
}
