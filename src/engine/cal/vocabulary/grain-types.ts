// The grain types as CAL spells them: plural after RECALL, singular after ADD and DESCRIBE and in `type = "…"`.
import { GRAIN_TYPE_NAMES, type GrainType } from '../../grain/grain.ts';
import { GRAIN_TYPES } from '../../grain/types/table.ts';

/** The singular is the name of the type. */
export const SINGULARS = GRAIN_TYPE_NAMES;
export const PLURALS: readonly string[] = SINGULARS.map(pluralOf);

const byPlural = new Map<string, GrainType>(SINGULARS.map((type) => [pluralOf(type), type]));
const bySingular = new Map<string, GrainType>(SINGULARS.map((type) => [type, type]));

/** The type of a plural in lower case; undefined if there is none. */
export function typeOfPlural(plural: string): GrainType | undefined {
  return byPlural.get(plural);
}

/** The type of a singular in lower case; undefined if there is none. */
export function typeOfSingular(singular: string): GrainType | undefined {
  return bySingular.get(singular);
}

export function pluralOf(type: GrainType): string {
  return GRAIN_TYPES[type].cal.plural;
}

/** Words of other CAL versions and other stores for grain types (D-14). Null: a known word without a type here. */
const FOREIGN = new Map<string, GrainType | null>([
  ...SINGULARS.flatMap((type) => GRAIN_TYPES[type].cal.foreign.map((word) => [word, type] as const)),
  ['skill', null],
  ['recommendation', null],
  ['trigger', null],
]);

/** The type of a foreign word, singular or plural. Null: a known word without a type here. Undefined: an unknown word. */
export function typeOfForeignWord(word: string): GrainType | null | undefined {
  return FOREIGN.get(word) ?? (word.endsWith('s') ? FOREIGN.get(word.slice(0, -1)) : FOREIGN.get(word));
}
