// Calls a tool at an http(s) URL: a POST of {tool, arguments}. The URL comes from a client, so the rules of webhooks hold:
// every address of the host is checked where the socket takes it, and redirects are not followed.
import { TOOL_CALL_MS, TOOL_CONNECTIONS_MAX, TOOL_OUTPUT_BYTES_MAX } from '../../engine/base/limits.ts';
import { stringifyJson } from '../../engine/grain/api/json.ts';
import type { AddressRule, Resolve } from '../outgoing/addresses.ts';
import { discard, GuardedAgent, refusalOf } from '../outgoing/guarded-agent.ts';
import { failure, outputOf, type ToolInput, type ToolOutcome } from './outcome.ts';

export class HttpTools {
  readonly #agent: GuardedAgent;

  constructor(rule: AddressRule, resolve?: Resolve) {
    const limits = { connections: TOOL_CONNECTIONS_MAX, connectMs: TOOL_CALL_MS };
    this.#agent = new GuardedAgent({ ruleOf: () => ({ ...rule, what: 'tools' }), resolve, ...limits });
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
    const late = AbortSignal.timeout(TOOL_CALL_MS);
    try {
      const answer = await this.#agent.request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/plain',
          'idempotency-key': callKey,
        },
        body: stringifyJson(input),
        signal: AbortSignal.any([late, signal]),
        answerMs: TOOL_CALL_MS,
      });
      const { statusCode: status } = answer;
      if (status < 200 || status > 299) {
        await discard(answer);
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
      if (signal.aborted) return failure('unknown', 'the turn ended before the tool finished');
      if (late.aborted) return failure('timeout', `the tool did not answer within ${TOOL_CALL_MS / 1000} seconds`);
      return failure('executor_error', refusalOf(error)?.message ?? 'the connection to the tool failed');
    }
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }
}
