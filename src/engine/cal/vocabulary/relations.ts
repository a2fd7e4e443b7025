// The relations that the specification knows: the members of each category word, and those in none.
import type { Category } from '../ast.ts';

/** What `relation IS CATEGORY` stands for, exactly: plain `prefers` is no preference. */
export const CATEGORY_RELATIONS: Readonly<Record<Category, readonly string[]>> = {
  preference: ['mg:prefers', 'mg:avoids', 'mg:requires'],
  knowledge: ['mg:knows', 'mg:infers'],
  permission: ['mg:permits', 'mg:revokes', 'mg:prohibits'],
  interaction: ['mg:said', 'mg:did', 'mg:handed_off_to'],
  agency: ['mg:delegates_to', 'mg:has_capability', 'mg:assigned_to', 'mg:capable_of'],
  lifecycle: ['mg:intends', 'mg:depends_on'],
  observation: ['mg:perceives', 'mg:state_at'],
};

/** All relations with the prefix `mg:` that are no mistake. */
export const KNOWN_RELATIONS: ReadonlySet<string> = new Set([
  ...Object.values(CATEGORY_RELATIONS).flat(),
  'mg:agrees_with',
  'mg:requires_steps',
  'mg:has_graph',
  'mg:owned_by',
]);
