// The console at /console: one page for every address of it. A browser that opens the root of the server is redirected there.
import type { HttpRequest, ResponseHeaders } from '../http/listener.ts';
import type { Logger } from '../log.ts';
import { securityHeaders } from './asset.ts';
import { BuiltSite, redirect, type Site, type SiteKind } from './site.ts';
import type { Recipe } from './source-build.ts';

/** The page that every address of the console shows. */
const PAGE = 'index.html';

/** Only the policy `console-worker` may make a URL that is run, that of a worker. Nothing is inline. */
const SAFETY = securityHeaders({
  'worker-src': "'self'",
  'require-trusted-types-for': "'script'",
  'trusted-types': 'console-worker',
});

export const CONSOLE_RECIPE: Recipe = {
  name: 'console',
  program: 'scripts/build-console.ts',
  madeOf: ['console/**/*', 'src/client/**/*.ts', 'scripts/compress.ts'],
};

const KIND: SiteKind = {
  said: 'The console is',
  recipe: CONSOLE_RECIPE,
  // The page is shown at addresses of any depth, so it names its files from the root of the server.
  placed: (text, ending, basePath) => (ending === '.html' ? text.replaceAll('="./', `="${basePath}/console/`) : text),
  safety: () => SAFETY,
  find: (files, path) => files.get(path) ?? (path.startsWith('assets/') ? undefined : files.get(PAGE)),
};

export class Console implements Site {
  readonly #site: BuiltSite;

  constructor(log: Pick<Logger, 'warn'>, basePath: string) {
    this.#site = new BuiltSite(KIND, log, basePath);
  }

  answer(request: HttpRequest, path: string, always: ResponseHeaders): boolean {
    if (path !== '/' || request.method !== 'GET' || request.header('accept')?.includes('text/html') !== true)
      return this.#site.answer(request, path, always);
    redirect(request, always, '/console');
    return true;
  }
}
