// Whether a word is known as a given name or as a family name. Words are `folded`.
import { AMBIGUOUS, FAMILY_NAMES, GIVEN_NAMES } from './name-lists.ts';

/** Endings of family names in other alphabets, for runs of several words. */
const OTHER_FAMILY_SHAPE =
  /(?:οπουλος|οπουλου|ιδης|ιδου|αδης|ακης|ακη|(?<=\p{Script=Cyrillic}{3})(?:ов|ова|ову|овым|овой|ев|ева|евой|енко|ский|ская|ской|ського|чук|швили|дзе))$/u;
/** Beginnings and endings that only family names have. */
const FAMILY_SHAPE =
  /^(?:o'|mc)\p{L}{4,}$|(?:opoulos|opoulou|iewicz|owska|owski|enko|ovich|shvili|sson|dottir|escu|ovic|oglu)$/u;

export function isGiven(key: string): boolean {
  if (GIVEN_NAMES.has(key) || isInflected(key)) return true;
  if (!key.includes('-')) return false;
  const [first = '', ...others] = partsOf(key);
  return GIVEN_NAMES.has(first) && (!AMBIGUOUS.has(first) || others.every((part) => GIVEN_NAMES.has(part)));
}

/** True for an inflected Cyrillic name: "Ольге" is "Ольга". */
function isInflected(key: string): boolean {
  return key.length > 3 && key.charCodeAt(0) >= 0x400 && key.charCodeAt(0) < 0x530 && CYRILLIC_STEMS.has(stemOf(key));
}

function stemOf(key: string): string {
  return key.replace(/(?:ом|ем|ой|ей|ою|[аяуюеиыйьоії])$/u, '');
}

const CYRILLIC_STEMS: ReadonlySet<string> = new Set(
  [...GIVEN_NAMES]
    .filter((key) => /^\p{Script=Cyrillic}{4,}$/u.test(key))
    .map(stemOf)
    .filter((stem) => stem.length > 2),
);

export function isFamily(key: string): boolean {
  if (FAMILY_NAMES.has(key)) return true;
  if (key.includes('-') && partsOf(key).some((part) => part.length > 2 && FAMILY_NAMES.has(part))) return true;
  return FAMILY_SHAPE.test(key) || (key.charCodeAt(0) >= 0x370 && OTHER_FAMILY_SHAPE.test(key));
}

function partsOf(key: string): string[] {
  return key.split('-');
}
