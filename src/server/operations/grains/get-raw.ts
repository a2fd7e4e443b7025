import { defineOperation } from '../define.ts';
import { described, Type } from '../type.ts';
import { Hash } from './view.ts';

export const getRaw = defineOperation({
  name: 'get_raw',
  summary: 'Download the plaintext .mg blob of a grain, whose SHA-256 is the hash.',
  description: 'The answer has the hash as its ETag.',
  example: { hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  onAnyNode: true,
  mutates: false,
  input: Type.Object({ hash: described(Hash, 'Hash of the grain, in any version.') }),
  output: Type.Object({
    hash: described(Hash, 'Hash of the grain.'),
    blob: Type.Unsafe<Uint8Array>({ description: 'The plaintext .mg blob.' }),
  }),
  errors: ['MEM-E001', 'MEM-E006'],
  http: [
    {
      verb: 'GET',
      path: 'M/grains/{hash}/raw',
      answers: { 'application/octet-stream': { type: 'string', format: 'binary' } },
      otherStatuses: { 304: 'The caller has these bytes already.' },
      reply: ({ hash, blob }, { ifNoneMatch }) => {
        const etag = `"${hash}"`;
        const headers = { etag, 'cache-control': CACHING };
        const known = ifNoneMatch?.split(',').some((tag) => isMatch(tag.trim(), etag)) ?? false;
        return known
          ? { kind: 'bytes', status: 304, headers, body: new Uint8Array(0) }
          : {
              kind: 'bytes',
              status: 200,
              headers: { ...headers, 'content-type': 'application/octet-stream' },
              body: blob,
            };
      },
    },
  ],
  run: async ({ hash }, context) => ({ hash, blob: (await context.call('getRaw', { hash })).blob }),
});

/** The caller may keep the bytes, and asks each time whether they are still there. Proxies may not. */
const CACHING = 'private, no-cache';

/** RFC 9110, If-None-Match: `*` is every tag, and weak ones count. */
function isMatch(tag: string, etag: string): boolean {
  return tag === '*' || tag.replace(/^W\//, '') === etag;
}
