// Serves a built site below a path of the server: its files from memory. In the sources the first request builds it.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EngineError } from '../../engine/base/errors.ts';
import { requestIdOf } from '../arrival.ts';
import { respondError } from '../http/errors.ts';
import type { HttpRequest, ResponseHeaders } from '../http/listener.ts';
import type { Logger } from '../log.ts';
import { type Asset, type AssetKind, assetsIn, respondAsset, securityHeaders } from './asset.ts';
import { buildFromSources, type Recipe, type SourceBuild, sourceBuild } from './source-build.ts';

/** The published package holds each site in a folder of its name. */
const PACKAGE = new URL('../../', import.meta.url);
/** Seconds until the page of a build that goes on asks again. */
const ASK_AGAIN_SECONDS = 1;

export interface SiteKind extends AssetKind {
  /** As a sentence begins with it, such as `The console is`. */
  readonly said: string;
  readonly recipe: Recipe;
  /** The file that answers for a path within the site; undefined when there is none. */
  readonly find: (files: ReadonlyMap<string, Asset>, path: string) => Asset | undefined;
}

type State =
  | { readonly is: 'building' }
  | { readonly is: 'ready'; readonly assets: ReadonlyMap<string, Asset> }
  | { readonly is: 'failed'; readonly reason: string; readonly build: SourceBuild };

/** Something that answers some of the server's requests by itself. */
export interface Site {
  /** `path` is the request's, without the base path. False for a request that is not its own. */
  answer(request: HttpRequest, path: string, always: ResponseHeaders): boolean;
}

export class BuiltSite implements Site {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #kind: SiteKind;
  /** Such as `/console`. */
  readonly #at: string;
  readonly #built: string;
  readonly #basePath: string;
  #state: State | undefined;

  /** `basePath`: as the option of that name. */
  constructor(kind: SiteKind, log: Pick<Logger, 'warn'>, basePath: string) {
    this.#basePath = basePath;
    this.#kind = kind;
    this.#log = log;
    this.#at = `/${kind.recipe.name}`;
    this.#built = fileURLToPath(new URL(`${kind.recipe.name}/`, PACKAGE)).replace(/[/\\]$/, '');
  }

  answer(request: HttpRequest, path: string, always: ResponseHeaders): boolean {
    const { method } = request;
    if (path !== this.#at && !path.startsWith(`${this.#at}/`)) return false;
    if (method !== 'GET' && method !== 'HEAD')
      refuse(request, new EngineError('SYS-E004', 'method not allowed'), [...always, ['allow', 'GET, HEAD']]);
    else if (path === this.#at) redirect(request, always, this.#at);
    else this.#serve(request, always, path.slice(this.#at.length + 1));
    return true;
  }

  #serve(request: HttpRequest, always: ResponseHeaders, path: string): void {
    const state = this.#current();
    if (state.is !== 'ready') {
      const { said } = this.#kind;
      respondText(request, always, state.is === 'building' ? buildingPage(said) : failedPage(said, state.reason));
      return;
    }
    const asset = this.#kind.find(state.assets, path);
    if (asset === undefined) refuse(request, new EngineError('SYS-E003', 'no such file'), always);
    else respondAsset(request, asset, always);
  }

  /** The files, read with the first request. In the sources that request also starts the build, if one is needed. */
  #current(): State {
    const state = this.#state;
    const { recipe, said } = this.#kind;
    // A changed source may have mended the build.
    if (state !== undefined && !(state.is === 'failed' && sourceBuild(recipe).folder !== state.build.folder))
      return state;
    if (existsSync(this.#built)) return this.#ready(this.#built);
    const build = sourceBuild(recipe);
    if (build.isThere) return this.#ready(build.folder);
    this.#state = { is: 'building' };
    buildFromSources(build)
      .then(() => this.#ready(build.folder))
      // A built file that cannot be read is a failed build too.
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        this.#log.warn({ reason }, `${said.toLowerCase()} not built`);
        this.#state = { is: 'failed', reason, build };
      });
    return this.#state;
  }

  #ready(folder: string): State {
    this.#state = { is: 'ready', assets: assetsIn(folder, this.#kind, this.#basePath) };
    return this.#state;
  }
}

/**
 * Leads to a site by its address relative to that of the request, which holds behind a proxy that removes the path under which
 * it shows the server.
 */
export function redirect(request: HttpRequest, always: ResponseHeaders, at: string): void {
  const last = request.path.slice(request.path.lastIndexOf('/') + 1);
  const location = last === '' || `/${last}` === at ? `${at.slice(1)}/` : `${last}${at}/`;
  const headers: ResponseHeaders = [
    ['location', location],
    ['cache-control', 'no-cache'],
    ['content-type', 'text/plain'],
  ];
  request.respond(302, [...always, ...headers], `${location}\n`);
}

function refuse(request: HttpRequest, error: EngineError, headers: ResponseHeaders): void {
  const id = requestIdOf(request.header('x-request-id'));
  respondError(request, error, id, [...headers, ['x-request-id', id]]);
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
  request.respond(status, [...always, ...own, ...securityHeaders({}), ...headers], html);
}

function buildingPage(said: string): TextPage {
  return {
    status: 503,
    headers: [
      ['refresh', String(ASK_AGAIN_SECONDS)],
      ['retry-after', String(ASK_AGAIN_SECONDS)],
    ],
    html: textPage(`${said} being built`, 'That takes a few seconds, once. This page then shows it automatically.'),
  };
}

function failedPage(said: string, reason: string): TextPage {
  return {
    status: 500,
    headers: [],
    html: textPage(
      `${said} not built`,
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
