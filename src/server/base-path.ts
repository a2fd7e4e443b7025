// The path under which a proxy shows this server.

/** Routes of the server begin with these: under such a base path they could not be told from it. */
const OWN = ['api', 'health', 'metrics', 'console', 'docs', 'mcp', 'openapi.json', '.well-known'];
const FORM = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/;

/** Parses an option: `/granary`, or nothing for none. Throws an Error that states the expected form. */
export function parseBasePath(text: string): string {
  const path = text.replace(/\/+$/, '');
  if (path === '') return '';
  if (!FORM.test(path)) throw new Error('must be a path such as /granary, of letters, digits, hyphens, dots and _ ~');
  const first = path.split('/')[1] ?? '';
  if (OWN.includes(first)) throw new Error(`must not begin with /${first}, which is a path of the server itself`);
  return path;
}

/**
 * The server's own path for a request's path. A path without the base stays as it is: some proxies remove the base, and
 * checks of this machine come without one.
 */
export function withoutBase(path: string, base: string): string {
  if (base === '' || !path.startsWith(base)) return path;
  if (path.length === base.length) return '/';
  return path[base.length] === '/' ? path.slice(base.length) : path;
}
