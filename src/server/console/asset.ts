// Files of the built console in memory, each as it is and compressed, with the headers that it is sent with.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import type { HttpRequest, ResponseHeaders } from '../http/listener.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/** Beside a file, the build writes it compressed with this suffix. */
const COMPRESSED = '.br';
/** Files below this folder have a digest of their content in their name. */
const IMMUTABLE = 'assets/';

/**
 * Scripts, styles and requests come from this origin alone, and none is inline. Only the policy `console-worker` may make
 * a URL that is run, that of a worker.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types console-worker',
].join('; ');

export const SECURITY_HEADERS: ResponseHeaders = [
  ['content-security-policy', CONTENT_SECURITY_POLICY],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['permissions-policy', 'camera=(), geolocation=(), microphone=()'],
];

export interface Asset {
  readonly headers: ResponseHeaders;
  readonly etag: string;
  readonly body: Buffer;
  /** The body as brotli; undefined where that would not be shorter. */
  readonly brotli: Buffer | undefined;
}

/** The page that every address of the console shows. */
export const PAGE = 'index.html';

/** Reads the files below a folder, by their paths within it, such as `assets/main.js`; `at` is where they are served. */
export function assetsIn(folder: string, at: string): ReadonlyMap<string, Asset> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  const assets = new Map<string, Asset>();
  for (const path of paths.filter((name) => !name.endsWith(COMPRESSED))) {
    const body =
      path === PAGE ? placed(readFileSync(join(folder, path), 'utf8'), at) : readFileSync(join(folder, path));
    const isCompressed = paths.includes(`${path}${COMPRESSED}`);
    assets.set(
      path.replaceAll(sep, '/'),
      assetOf(path, body, isCompressed ? readFileSync(join(folder, `${path}${COMPRESSED}`)) : undefined),
    );
  }
  return assets;
}

/** The page is shown at addresses of any depth, so it names its files from the root of the server. */
function placed(page: string, at: string): Buffer {
  return Buffer.from(page.replaceAll('="./', `="${at}/`));
}

function assetOf(path: string, body: Buffer, brotli: Buffer | undefined): Asset {
  const isImmutable = path.replaceAll(sep, '/').startsWith(IMMUTABLE);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers: ResponseHeaders = [
    ['content-type', TYPES[extname(path)] ?? 'application/octet-stream'],
    ['cache-control', isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache'],
    ['etag', etag],
    ['vary', 'Accept-Encoding'],
    ...SECURITY_HEADERS,
  ];
  return { headers, etag, body, brotli };
}

/** Answers with the asset, compressed if the caller takes it so, or with 304 if the caller has it. */
export function respondAsset(request: HttpRequest, asset: Asset, always: ResponseHeaders): void {
  const headers = [...always, ...asset.headers];
  if (hasEtag(request.header('if-none-match'), asset.etag)) request.respond(304, headers);
  else if (asset.brotli !== undefined && takesBrotli(request.header('accept-encoding')))
    request.respond(200, [...headers, ['content-encoding', 'br']], asset.brotli);
  else request.respond(200, headers, asset.body);
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
