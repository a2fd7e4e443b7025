// The slug of a harness, and the namespace of its definition.
import { EngineError } from '../../engine/base/errors.ts';

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const DEF_NAMESPACE = /^harnesses\/([^/]+)\/def$/;

/** HRN-E001 unless `slug` has the form of a slug. */
export function checkSlug(slug: string): string {
  if (SLUG.test(slug)) return slug;
  throw new EngineError(
    'HRN-E001',
    'a slug has 1 to 63 lower-case letters, digits and hyphens, and neither begins nor ends with a hyphen',
    { details: [{ field: 'slug', issue: 'not a slug' }] },
  );
}

export function defNamespaceOf(slug: string): string {
  return `harnesses/${slug}/def`;
}

/** The slug of the harness whose definition lies in this namespace; undefined for another namespace. */
export function slugOfNamespace(namespace: string): string | undefined {
  const slug = DEF_NAMESPACE.exec(namespace)?.[1];
  return slug !== undefined && SLUG.test(slug) ? slug : undefined;
}
