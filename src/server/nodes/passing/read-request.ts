// A request whose body has been read already, for handlers that read it again.
import { EngineError } from '../../../engine/base/errors.ts';
import type { HttpRequest, ResponseStream } from '../../http/listener.ts';

export class ReadRequest implements HttpRequest {
  readonly #request: HttpRequest;
  readonly #taken: Promise<Uint8Array>;
  constructor(request: HttpRequest, taken: Promise<Uint8Array>) {
    this.#request = request;
    this.#taken = taken;
  }
  get method(): string {
    return this.#request.method;
  }
  get path(): string {
    return this.#request.path;
  }
  get query(): string {
    return this.#request.query;
  }
  get authority(): string | undefined {
    return this.#request.authority;
  }
  get remoteAddress(): string {
    return this.#request.remoteAddress;
  }
  get aborted(): AbortSignal {
    return this.#request.aborted;
  }
  get headerList(): readonly string[] {
    return this.#request.headerList;
  }
  header(name: string): string | undefined {
    return this.#request.header(name);
  }
  only(name: string): string | undefined {
    return this.#request.only(name);
  }
  joined(name: string): string | undefined {
    return this.#request.joined(name);
  }
  async body(bytesMax: number): Promise<Uint8Array> {
    const bytes = await this.#taken;
    if (bytes.length > bytesMax) throw new EngineError('LIM-E003', `the body has more than ${bytesMax} bytes`);
    return bytes;
  }
  respond(...given: Parameters<HttpRequest['respond']>): void {
    this.#request.respond(...given);
  }
  whenOver(over: () => void): void {
    this.#request.whenOver(over);
  }
  cut(): void {
    this.#request.cut();
  }
  stream(...given: Parameters<HttpRequest['stream']>): ResponseStream {
    return this.#request.stream(...given);
  }
}
