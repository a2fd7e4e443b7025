// The documents at /docs: a page for each Markdown file, at its path without the ending.
import type { Logger } from '../log.ts';
import { inlineScripts, securityHeaders } from './asset.ts';
import { BuiltSite, type Site, type SiteKind } from './site.ts';
import type { Recipe } from './source-build.ts';

export const DOCS_RECIPE: Recipe = {
  name: 'docs',
  program: 'scripts/build-docs.ts',
  madeOf: [
    'docs/*.md',
    'docs/llms.txt',
    'docs/{guide,images,paths,reference}/**/*',
    'docs/.vitepress/**/*.{ts,css}',
    'scripts/compress.ts',
  ],
};

const KIND: SiteKind = {
  said: 'The documentation is',
  recipe: DOCS_RECIPE,
  // The build names files and pages from the root of the server.
  placed: (text, _, basePath) => (basePath === '' ? text : text.replaceAll(/(["'`(])\/docs\//g, `$1${basePath}/docs/`)),
  // A page chooses its theme before its files are there, by scripts that it holds; no other script in it runs.
  safety: (page) =>
    securityHeaders(page === undefined ? {} : { 'script-src': ["'self'", ...inlineScripts(page)].join(' ') }),
  find: (files, path) => {
    const name = path === '' || path.endsWith('/') ? `${path}index` : path;
    return files.get(name) ?? files.get(`${name}.html`);
  },
};

export function documentSite(log: Pick<Logger, 'warn'>, basePath: string): Site {
  return new BuiltSite(KIND, log, basePath);
}
