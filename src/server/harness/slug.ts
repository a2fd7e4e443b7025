// The slug of a harness.
import { EngineError } from '../../engine/base/errors.ts';

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** HRN-E001 unless `slug` has the form of a slug. */
export function checkSlug(slug: string): string {
  if (SLUG.test(slug)) return slug;
  throw new EngineError(
    'HRN-E001',
    'a slug has 1 to 63 lower-case letters, digits and hyphens, and neither begins nor ends with a hyphen',
    { details: [{ field: 'slug', issue: 'not a slug' }] },
  );
}
