// The relations of the specification: the members of each category, and those without one.
import type { Category } from '../ast.ts';

/** The relations that `relation IS CATEGORY` matches. The match is exact: `prefers` without `mg:` is no preference. */
export const CATEGORY_RELATIONS: Readonly<Record<Category, readonly string[]>> = {
  preference: ['mg:prefers', 'mg:avoids', 'mg:requires'],
  knowledge: ['mg:knows', 'mg:infers'],
  permission: ['mg:permits', 'mg:revokes', 'mg:prohibits'],
  interaction: ['mg:said', 'mg:did', 'mg:handed_off_to'],
  agency: ['mg:delegates_to', 'mg:has_capability', 'mg:assigned_to', 'mg:capable_of'],
  lifecycle: ['mg:intends', 'mg:depends_on'],
  observation: ['mg:perceives', 'mg:state_at'],
};

/** All known relations with the prefix `mg:`. Others are probably mistakes. */
export const KNOWN_RELATIONS: ReadonlySet<string> = new Set([
  ...Object.values(CATEGORY_RELATIONS).flat(),
  'mg:agrees_with',
  'mg:requires_steps',
  'mg:has_graph',
  'mg:owned_by',
]);
