// Calls a tool at an http(s) URL: a POST of {tool, arguments}. The URL comes from a client, so the rules of webhooks hold:
// every address of the host is checked where the socket takes it, and redirects are not followed.
import type { Agent } from 'undici';
import {
  TOOL_CALL_MS,
  TOOL_CONNECTIONS_MAX,
  TOOL_HEADER_BYTES_MAX,
  TOOL_OUTPUT_BYTES_MAX,
} from '../../engine/base/limits.ts';
import { onDemand } from '../../engine/base/on-demand.ts';
import {
  AddressRefused,
  type AddressRule,
  guardedLookup,
  literalAddress,
  mayReach,
  type Resolve,
} from '../hooks/addresses.ts';
import { VERSION } from '../version.ts';
import { failure, outputOf, type ToolInput, type ToolOutcome } from './outcome.ts';

/** Loaded with the first call: most deployments have no such tools. */
const undici = onDemand<typeof import('undici')>(import.meta.url, 'undici');

const KEEP_ALIVE_MS = 30_000;

export class HttpTools {
  readonly #rule: AddressRule;
  readonly #resolve: Resolve | undefined;
  #agent: Agent | undefined;

  constructor(rule: AddressRule, resolve?: Resolve) {
    this.#rule = rule;
    this.#resolve = resolve;
  }

  /** `callKey` is the same for every try of one call, and no two calls share it. Never rejects. */
  async call(
    { uri, callKey }: { readonly uri: string; readonly callKey: string },
    input: ToolInput,
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const url = URL.canParse(uri) ? new URL(uri) : undefined;
    if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
      return failure('executor_error', 'the location of the tool is not an http or https URL');
    const literal = literalAddress(url);
    // A socket to an address makes no lookup.
    if (literal !== undefined && !mayReach(literal, this.#rule)) return refused(url);
    const late = AbortSignal.timeout(TOOL_CALL_MS);
    try {
      const answer = await undici().request(url, {
        dispatcher: this.#connections(),
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/plain',
          'user-agent': `Granary/${VERSION}`,
          'idempotency-key': callKey,
        },
        body: JSON.stringify(input),
        signal: AbortSignal.any([late, signal]),
      });
      const { statusCode: status } = answer;
      if (status < 200 || status > 299) {
        await answer.body.dump({ limit: TOOL_HEADER_BYTES_MAX }).catch(() => undefined);
        return failure('executor_error', `the tool answered with status ${status}`);
      }
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of answer.body) {
        bytes += (chunk as Buffer).length;
        if (bytes > TOOL_OUTPUT_BYTES_MAX)
          return failure('executor_error', `the tool answered with more than ${TOOL_OUTPUT_BYTES_MAX} bytes`);
        chunks.push(chunk as Buffer); // bodies are read as bytes
      }
      return { ok: true, output: outputOf(Buffer.concat(chunks)) };
    } catch (error) {
      if (signal.aborted) return failure('unknown', 'the turn ended before the tool did');
      if (late.aborted) return failure('timeout', `the tool did not answer within ${TOOL_CALL_MS / 1000} seconds`);
      return isRefused(error) ? refused(url) : failure('executor_error', 'the connection to the tool failed');
    }
  }

  #connections(): Agent {
    this.#agent ??= new (undici().Agent)({
      connect: { lookup: guardedLookup(this.#rule, this.#resolve), timeout: TOOL_CALL_MS },
      connections: TOOL_CONNECTIONS_MAX,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: TOOL_CALL_MS,
      bodyTimeout: TOOL_CALL_MS,
      maxHeaderSize: TOOL_HEADER_BYTES_MAX,
    });
    return this.#agent;
  }

  async close(): Promise<void> {
    await this.#agent?.destroy();
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof AddressRefused || (error instanceof Error && error.cause instanceof AddressRefused);
}

/** Names the host, never its address: a client must not map the network by tools. */
function refused({ hostname }: URL): ToolOutcome {
  return failure('executor_error', new AddressRefused(hostname, 'tools').message);
}
