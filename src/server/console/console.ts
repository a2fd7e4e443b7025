// Serves the console at /console: its built files from memory, and its one page for every address of the console.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EngineError } from '../../engine/base/errors.ts';
import { requestIdOf } from '../arrival.ts';
import { respondError } from '../http/errors.ts';
import type { HttpRequest, ResponseHeaders } from '../http/listener.ts';
import type { Logger } from '../log.ts';
import { type Asset, assetsIn, PAGE, respondAsset, SECURITY_HEADERS } from './asset.ts';
import { buildFromSources, type SourceBuild, sourceBuild } from './source-build.ts';

export const CONSOLE = '/console';
/** Files of the published package. */
const BUILT = fileURLToPath(new URL('../../console/', import.meta.url)).replace(/[/\\]$/, '');
/** Seconds until the page of a build that goes on asks again. */
const ASK_AGAIN_SECONDS = 1;

type State =
  | { readonly is: 'building' }
  | { readonly is: 'ready'; readonly assets: ReadonlyMap<string, Asset> }
  | { readonly is: 'failed'; readonly reason: string; readonly build: SourceBuild };

export class Console {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #basePath: string;
  #state: State | undefined;

  /** `basePath`: as the option of that name. */
  constructor(log: Pick<Logger, 'warn'>, basePath: string) {
    this.#log = log;
    this.#basePath = basePath;
  }

  /**
   * Answers a request for the console, or a browser's for the server itself. `path` is the request's, without the base path.
   * False for any other request.
   */
  answer(request: HttpRequest, path: string, always: ResponseHeaders): boolean {
    const { method } = request;
    const isOwn = path === CONSOLE || path.startsWith(`${CONSOLE}/`);
    const asksPage = method === 'GET' && path === '/' && request.header('accept')?.includes('text/html') === true;
    if (!isOwn && !asksPage) return false;
    if (method !== 'GET' && method !== 'HEAD') {
      this.#refuse(request, new EngineError('SYS-E004', 'method not allowed'), [...always, ['allow', 'GET, HEAD']]);
      return true;
    }
    if (path === CONSOLE || asksPage)
      request.respond(302, [...always, ['location', placeFrom(request.path)], ['cache-control', 'no-cache']]);
    else this.#serve(request, always, path.slice(CONSOLE.length + 1));
    return true;
  }

  #serve(request: HttpRequest, always: ResponseHeaders, path: string): void {
    const state = this.#current();
    if (state.is !== 'ready') {
      respondText(request, always, state.is === 'building' ? BUILDING : failedPage(state.reason));
      return;
    }
    const asset = state.assets.get(path) ?? (isFile(path) ? undefined : state.assets.get(PAGE));
    if (asset === undefined) this.#refuse(request, new EngineError('SYS-E003', 'no such file'), always);
    else respondAsset(request, asset, always);
  }

  /** The files, read with the first request. In the sources that request also starts the build, if one is needed. */
  #current(): State {
    const state = this.#state;
    // A changed source may have mended the build.
    if (state !== undefined && !(state.is === 'failed' && sourceBuild().folder !== state.build.folder)) return state;
    if (existsSync(BUILT)) return this.#ready(BUILT);
    const build = sourceBuild();
    if (build.isThere) return this.#ready(build.folder);
    this.#state = { is: 'building' };
    buildFromSources(build).then(
      () => this.#ready(build.folder),
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        this.#log.warn({ reason }, 'the console could not be built');
        this.#state = { is: 'failed', reason, build };
      },
    );
    return this.#state;
  }

  #ready(folder: string): State {
    this.#state = { is: 'ready', assets: assetsIn(folder, `${this.#basePath}${CONSOLE}`) };
    return this.#state;
  }

  #refuse(request: HttpRequest, error: EngineError, headers: ResponseHeaders): void {
    const id = requestIdOf(request.header('x-request-id'));
    respondError(request, error, id, [...headers, ['x-request-id', id]]);
  }
}

/**
 * The console's address relative to that of a request, which holds behind a proxy that removes the path under which it shows
 * the server.
 */
function placeFrom(asked: string): string {
  const last = asked.slice(asked.lastIndexOf('/') + 1);
  return last === '' || `/${last}` === CONSOLE ? 'console/' : `${last}/console/`;
}

/** All other addresses are the console's own. */
function isFile(path: string): boolean {
  return path.startsWith('assets/');
}

interface TextPage {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly html: string;
}

function respondText(request: HttpRequest, always: ResponseHeaders, { status, headers, html }: TextPage): void {
  const own: ResponseHeaders = [
    ['content-type', 'text/html; charset=utf-8'],
    ['cache-control', 'no-store'],
  ];
  request.respond(status, [...always, ...own, ...SECURITY_HEADERS, ...headers], html);
}

const BUILDING: TextPage = {
  status: 503,
  headers: [
    ['refresh', String(ASK_AGAIN_SECONDS)],
    ['retry-after', String(ASK_AGAIN_SECONDS)],
  ],
  html: textPage('The console is being built', 'That takes a few seconds, once. This page then shows it by itself.'),
};

function failedPage(reason: string): TextPage {
  return {
    status: 500,
    headers: [],
    html: textPage(
      'The console could not be built',
      'The server itself works. Run <code>npm ci</code>, and load this page again. The build said:',
      `<pre>${escaped(reason)}</pre>`,
    ),
  };
}

function textPage(title: string, text: string, more = ''): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>${title}</title><h1>${title}</h1><p>${text}</p>${more}</html>\n`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
