// Files of a built site in memory, each as it is and compressed, with the headers that it is sent with.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { brotliCompress, constants } from 'node:zlib';
import type { HttpRequest, ResponseHeaders } from '../http/listener.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** Files that may name others by their path. */
const TEXTS: ReadonlySet<string> = new Set(['.html', '.js', '.css']);

/** Beside a file, the build writes it compressed with this suffix. */
const COMPRESSED = '.br';
/** Files below this folder have a digest of their content in their name. */
const IMMUTABLE = 'assets/';

const FIXED_HEADERS: ResponseHeaders = [
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['permissions-policy', 'camera=(), geolocation=(), microphone=()'],
];

/** Scripts, styles and requests come from this origin alone. */
const OWN_ORIGIN: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** The headers of safety, with the directives that a site adds to the policy, or sets in place of the common ones. */
export function securityHeaders(directives: Readonly<Record<string, string>>): ResponseHeaders {
  const policy = Object.entries({ ...OWN_ORIGIN, ...directives }).map(([name, value]) => `${name} ${value}`);
  return [['content-security-policy', policy.join('; ')], ...FIXED_HEADERS];
}

/** The source expressions of the scripts that a page holds inline. */
export function inlineScripts(page: string): readonly string[] {
  return [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, code = '']) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`,
  );
}

/** Nearly as short as the build's, in a tenth of the time. */
const QUALITY = 9;

export interface Asset {
  readonly headers: ResponseHeaders;
  readonly etag: string;
  readonly body: Buffer;
  /** The body as brotli; undefined where that would not be shorter, or before a file below a base path was asked for. */
  brotli: Buffer | undefined;
  /** How far the compression of a file that a base path changed has come. */
  compression: 'none' | 'due' | 'begun';
}

export interface AssetKind {
  /** A text file (HTML, script, style) as it is served below a base path; one that this changes is compressed when it is asked for. */
  readonly placed: (text: string, ending: string, basePath: string) => string;
  /** Headers of safety of a file; `page` is undefined for what is no HTML. */
  readonly safety: (page: string | undefined) => ResponseHeaders;
}

/** Reads the files below a folder, by their paths within it, such as `assets/main.js`. */
export function assetsIn(folder: string, kind: AssetKind, basePath: string): ReadonlyMap<string, Asset> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  const known = new Set(paths);
  const assets = new Map<string, Asset>();
  for (const path of paths) {
    if (path.endsWith(COMPRESSED)) continue;
    const compressed = `${path}${COMPRESSED}`;
    const brotli = known.has(compressed) ? readFileSync(join(folder, compressed)) : undefined;
    assets.set(
      path.replaceAll(sep, '/'),
      assetOf(path, placedFile(readFileSync(join(folder, path)), path, kind, basePath), brotli, kind),
    );
  }
  return assets;
}

interface Placed {
  readonly body: Buffer;
  readonly isChanged: boolean;
}

function placedFile(body: Buffer, path: string, { placed }: AssetKind, basePath: string): Placed {
  const ending = extname(path);
  if (!TEXTS.has(ending)) return { body, isChanged: false };
  const built = body.toString();
  const text = placed(built, ending, basePath);
  return text === built ? { body, isChanged: false } : { body: Buffer.from(text), isChanged: true };
}

function assetOf(path: string, { body, isChanged }: Placed, brotli: Buffer | undefined, { safety }: AssetKind): Asset {
  const isImmutable = path.replaceAll(sep, '/').startsWith(IMMUTABLE);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers: ResponseHeaders = [
    ['content-type', TYPES[extname(path)] ?? 'application/octet-stream'],
    ['cache-control', isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache'],
    ['etag', etag],
    ['vary', 'Accept-Encoding'],
    ...safety(extname(path) === '.html' ? body.toString() : undefined),
  ];
  const isDue = isChanged && brotli !== undefined;
  return { headers, etag, body, brotli: isChanged ? undefined : brotli, compression: isDue ? 'due' : 'none' };
}

/** Answers with the asset, compressed if the caller takes it so, or with 304 if the caller has it. */
export function respondAsset(request: HttpRequest, asset: Asset, always: ResponseHeaders): void {
  const headers = [...always, ...asset.headers];
  const brotli = takesBrotli(request.header('accept-encoding')) ? asset.brotli : undefined;
  if (hasEtag(request.header('if-none-match'), asset.etag)) request.respond(304, headers, asset.body);
  else if (brotli !== undefined) request.respond(200, [...headers, ['content-encoding', 'br']], brotli);
  else {
    request.respond(200, headers, asset.body);
    if (asset.compression === 'due') compress(asset);
  }
}

/** In the pool of threads: the next answer is compressed. */
function compress(asset: Asset): void {
  asset.compression = 'begun';
  const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: asset.body.length };
  brotliCompress(asset.body, { params }, (error, compressed) => {
    if (error === null) asset.brotli = compressed;
  });
}

/** A proxy may have made the tag a weak one. */
function hasEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}

function takesBrotli(header: string | undefined): boolean {
  if (header === undefined) return false;
  return header.split(',').some((one) => /^\s*br\s*(?:;\s*q\s*=\s*(?!0(?:\.0*)?\s*$)[\d.]+\s*)?$/i.test(one));
}
