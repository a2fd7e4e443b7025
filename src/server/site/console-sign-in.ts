// The addresses at which the console signs people in at the issuer of tokens: GET begins, and POST ends with a token.
import { EngineError } from '../../engine/base/errors.ts';
import { requestIdOf } from '../arrival.ts';
import type { Config } from '../config.ts';
import { respondError } from '../http/errors.ts';
import { type HttpRequest, RequestAborted, type ResponseHeaders } from '../http/listener.ts';
import type { Logger } from '../log.ts';
import { securityHeaders } from './asset.ts';
import { IssuerSignIn } from './issuer-sign-in.ts';

const PATH = '/console/sign-in';
/** A code, its verifier and an address. */
const BYTES_MAX = 16_384;

export class ConsoleSignIn {
  readonly #issuer: IssuerSignIn;
  readonly #log: Pick<Logger, 'warn'>;

  /** Undefined where there is no console, or where it has no client id at an issuer. */
  static of(config: Config, log: Pick<Logger, 'warn'>): ConsoleSignIn | undefined {
    const issuer = config.console ? IssuerSignIn.of(config, log) : undefined;
    return issuer && new ConsoleSignIn(issuer, log);
  }

  private constructor(issuer: IssuerSignIn, log: Pick<Logger, 'warn'>) {
    this.#issuer = issuer;
    this.#log = log;
  }

  takes(method: string, path: string): boolean {
    return path === PATH && (method === 'GET' || method === 'POST');
  }

  async answer(request: HttpRequest, always: ResponseHeaders): Promise<void> {
    try {
      const answer =
        request.method === 'GET'
          ? await this.#issuer.start()
          : await this.#issuer.token(jsonObject(await request.body(BYTES_MAX)));
      const headers: ResponseHeaders = [
        ['content-type', 'application/json'],
        ['cache-control', 'no-store'],
      ];
      request.respond(200, [...always, ...headers, ...securityHeaders({})], JSON.stringify(answer));
    } catch (error) {
      if (error instanceof RequestAborted) return;
      const shown = error instanceof EngineError ? error : new EngineError('SYS-E001', 'internal error');
      if (shown !== error) this.#log.warn({ err: error }, 'a sign-in to the console failed');
      const id = requestIdOf(request.header('x-request-id'));
      respondError(request, shown, id, [...always, ['x-request-id', id]]);
    }
  }
}

/** Throws VAL-E002 for anything else. */
function jsonObject(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The same refusal as for JSON that is no object.
  }
  throw new EngineError('VAL-E002', 'the body is not a JSON object');
}
