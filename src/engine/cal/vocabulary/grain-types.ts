// The ten grain types as CAL spells them: plural after RECALL, singular after ADD and DESCRIBE and in `type = "…"`.

export const GRAIN_TYPES = [
  { singular: 'belief', plural: 'beliefs', code: 0x01 },
  { singular: 'event', plural: 'events', code: 0x02 },
  { singular: 'state', plural: 'states', code: 0x03 },
  { singular: 'workflow', plural: 'workflows', code: 0x04 },
  { singular: 'action', plural: 'actions', code: 0x05 },
  { singular: 'observation', plural: 'observations', code: 0x06 },
  { singular: 'goal', plural: 'goals', code: 0x07 },
  { singular: 'reasoning', plural: 'reasonings', code: 0x08 },
  { singular: 'consensus', plural: 'consensuses', code: 0x09 },
  { singular: 'consent', plural: 'consents', code: 0x0a },
] as const;

/** The singular, which is also the type's name in a grain. */
export type CalGrainType = (typeof GRAIN_TYPES)[number]['singular'];

export const SINGULARS: readonly CalGrainType[] = GRAIN_TYPES.map((type) => type.singular);
export const PLURALS: readonly string[] = GRAIN_TYPES.map((type) => type.plural);

const byPlural = new Map<string, CalGrainType>(GRAIN_TYPES.map((type) => [type.plural, type.singular]));
const bySingular = new Map<string, CalGrainType>(GRAIN_TYPES.map((type) => [type.singular, type.singular]));

/** The type of a plural in lower case; undefined: none. */
export function typeOfPlural(plural: string): CalGrainType | undefined {
  return byPlural.get(plural);
}

/** The type of a singular in lower case; undefined: none. */
export function typeOfSingular(singular: string): CalGrainType | undefined {
  return bySingular.get(singular);
}

export function pluralOf(type: CalGrainType): string {
  return GRAIN_TYPES.find((one) => one.singular === type)!.plural;
}

/** Words that other versions of CAL and other stores have for these types (D-14); null: no type of ours is meant. */
const FOREIGN = new Map<string, CalGrainType | null>([
  ['fact', 'belief'],
  ['tool', 'action'],
  ['tool_call', 'action'],
  ['episode', 'event'],
  ['checkpoint', 'state'],
  ['skill', null],
  ['recommendation', null],
  ['trigger', null],
]);

/** The type that a foreign word (in either number) means; null: known to mean none; undefined: not a foreign word. */
export function typeOfForeignWord(word: string): CalGrainType | null | undefined {
  return FOREIGN.get(word) ?? (word.endsWith('s') ? FOREIGN.get(word.slice(0, -1)) : FOREIGN.get(word));
}
