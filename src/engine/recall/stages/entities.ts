// Finds the entities of a grain by rules: its subject and object, and names in its text, in reading order and limited
// in number.
import type { GrainView } from '../../calls/grain.ts';
import { exact, type StageHit, textField } from './hit.ts';

const ENTITY_CHARS_MAX = 128;
const NAMES_MAX = 8;
const TEXT_CHARS_READ = 4_096;

/** At most `limit` distinct entities, in hit order. */
export function entitiesOfHits(hits: readonly StageHit[], limit: number): string[] {
  const entities = new Set<string>();
  for (const { grain } of hits) {
    for (const entity of entitiesOf(grain)) {
      if (entities.size >= limit) return [...entities];
      entities.add(entity);
    }
  }
  return [...entities];
}

export function entitiesOf(grain: GrainView): string[] {
  const entities = new Set<string>();
  for (const field of ['subject', 'object']) {
    const value = textField(grain, field);
    if (value !== undefined && value.length <= ENTITY_CHARS_MAX && exact(value) !== '') entities.add(exact(value));
  }
  const content = textField(grain, 'content') ?? textField(grain, 'description');
  if (content !== undefined) for (const name of namesIn(content)) entities.add(name);
  return [...entities];
}

/** Words that often start a sentence and are not names, even if capitalised. */
const NO_NAMES = new Set(
  (
    "a an the i i'm i've i'll he she it we you they his her its our your their my this that these those who whom whose what " +
    'which where when why how is are was were do does did has have had can could will would should may might if and or ' +
    'but not no yes in on at of to for from with by as so then there here after before ok okay hi hello thanks ' +
    'compare tell list show give name find'
  ).split(' '),
);

/** Sequences of capitalised words, without words that are capitalised only as the start of a sentence. */
export function namesIn(text: string): string[] {
  const names = new Set<string>();
  const words = text
    .slice(0, TEXT_CHARS_READ)
    .matchAll(/(?<gap>[^\p{L}\p{N}]*)(?<word>[\p{L}\p{N}][\p{L}\p{N}'’-]*)/gu);
  let name: string[] = [];
  const close = (): void => {
    if (name.length > 0 && names.size < NAMES_MAX) names.add(name.join(' '));
    name = [];
  };
  for (const { groups } of words) {
    const { gap = '', word = '' } = groups ?? {};
    if (/[^\s]/.test(gap)) close();
    const bare = word.replace(/['’]s$/, '');
    if (/^\p{Lu}/u.test(bare) && !NO_NAMES.has(bare.toLowerCase())) {
      name.push(bare);
      if (bare !== word) close();
    } else close();
  }
  close();
  return [...names];
}
