// The SDK's handler of HTTP requests. Loaded with the first request to /mcp.
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { mcpServer } from '../../mcp/server.ts';
import type { Session } from '../../mcp/session.ts';

/** Open streams of clients that wait for changes of tools, of which there are none. */
const STREAMS_MAX = 256;

export interface SdkHandler {
  /** Answers a request for a session. */
  readonly fetch: (request: Request, session: Session) => Promise<Response>;
  readonly close: () => Promise<void>;
}

export function sdkHandler(onError: (error: Error) => void): SdkHandler {
  const handler: McpHttpHandler = createMcpHandler(
    ({ authInfo }) => mcpServer(() => authInfo?.extra?.['session'] as Session), // `fetch` below sets it
    { onerror: onError, maxSubscriptions: STREAMS_MAX },
  );
  return {
    // The token is not passed on: sessions send the caller's own headers.
    fetch: (request, session) =>
      handler.fetch(request, { authInfo: { token: '', clientId: '', scopes: [], extra: { session } } }),
    close: () => handler.close(),
  };
}
