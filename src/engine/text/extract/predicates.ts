// Patterns for the words after the subject of a clause, in the order in which they are tried. Each matches only what is
// certain.
import { bare, members, personName, proper, standalone, taste } from './objects.ts';

/** A relation and its object. */
export interface Said {
  readonly relation: string;
  readonly object: string;
}

interface Predicate {
  readonly pattern: RegExp;
  /**
   * The facts of a match; none when it is uncertain. `rest` is the last group, `whole` the clause with date and
   * remarks.
   */
  readonly read: (rest: string, match: RegExpExecArray, whole: string) => readonly Said[];
}

function said(relation: string, object: string | undefined): readonly Said[] {
  return object === undefined ? [] : [{ relation, object }];
}

const BE = '(?:am|is|are)';
const NOW_OR_SINCE = '(?:have been|has been|am|is|are)';

const PETS = 'dog|cat|parrot|hamster|rabbit|horse|puppy|kitten|turtle|goldfish|bird|snake|pony|guinea pig';
const FAMILY =
  'kid|kids|child|children|son|sons|daughter|daughters|brother|brothers|sister|sisters|sibling|siblings|grandchild|grandchildren|twin|twins';
const COUNT = 'a|an|one|two|three|four|five|six|seven|eight|nine|ten|\\d{1,2}';
const CONDITIONS =
  'diabetes|type [12] diabetes|asthma|adhd|autism|epilepsy|celiac disease|coeliac disease|hypertension|high blood pressure|migraines|dyslexia|arthritis|insomnia|eczema|psoriasis|tinnitus|anemia|ibs';
const STATES =
  'vegetarian|vegan|pescatarian|lactose[- ]intolerant|gluten[- ]intolerant|diabetic|asthmatic|left-handed|right-handed|colou?r-?blind|deaf|blind|dyslexic|autistic|epileptic|married|single|divorced|widowed|retired|engaged|unemployed|self-employed|bilingual|trilingual|pregnant|jewish|muslim|christian|catholic|hindu|buddhist|atheist|agnostic|protestant|sikh';
const NATIONALITIES =
  'American|Argentinian|Australian|Austrian|Bangladeshi|Belgian|Brazilian|British|Bulgarian|Canadian|Chilean|Chinese|Colombian|Croatian|Cuban|Czech|Danish|Dutch|Egyptian|English|Estonian|Ethiopian|Filipino|Finnish|French|German|Ghanaian|Greek|Hungarian|Icelandic|Indian|Indonesian|Iranian|Iraqi|Irish|Israeli|Italian|Jamaican|Japanese|Kenyan|Korean|Latvian|Lebanese|Lithuanian|Malaysian|Mexican|Moroccan|Nepalese|Nigerian|Norwegian|Pakistani|Palestinian|Peruvian|Polish|Portuguese|Romanian|Russian|Scottish|Serbian|Slovak|Slovenian|Spanish|Swedish|Swiss|Syrian|Taiwanese|Thai|Tunisian|Turkish|Ukrainian|Venezuelan|Vietnamese|Welsh';
const INSTRUMENTS =
  'piano|guitar|violin|cello|drums|flute|bass|saxophone|trumpet|clarinet|harp|ukulele|banjo|viola|oboe|organ|accordion|electric guitar|bass guitar|trombone';
const SPORTS =
  'tennis|football|soccer|basketball|volleyball|chess|golf|hockey|ice hockey|baseball|cricket|rugby|badminton|squash|table tennis|poker|handball|padel|bridge';
const FIELDS =
  'law|medicine|history|art|art history|music|philosophy|literature|math|maths|mathematics|architecture|business|design|nursing|psychology|education|anthropology|geography|journalism|chemistry|pharmacy|dentistry|theology|computer science|data science|political science|(?:[a-z]+ )?engineering|marketing|accounting|finance|[a-z]*(?:ology|ics|istry|onomy)';
const INDUSTRIES =
  'finance|marketing|sales|tech|it|healthcare|education|construction|retail|banking|insurance|advertising|hr|human resources|hospitality|logistics|real estate|publishing|politics|academia|research|manufacturing|agriculture|media|software|engineering|design|law|medicine|pharma|fashion|film|government|customer service|customer support|public relations|consulting|accounting|cyber ?security|biotech';
/** Roles of people who work where they "are". For a member or a guest, "at" means something else. */
const OCCUPATION =
  /(?:engineer|developer|manager|nurse|doctor|teacher|professor|analyst|designer|scientist|researcher|consultant|accountant|lawyer|chef|director|cashier|architect|programmer|editor|writer|journalist|librarian|technician|mechanic|barista|waiter|waitress|receptionist|assistant|intern|lecturer|lead|officer|driver|pilot|surgeon|therapist|pharmacist|recruiter|administrator|specialist|coordinator|executive|clerk|baker|bartender)$/i;
/** "a bit", "a minute": these do not describe a person. */
export const NO_KIND =
  /\b(bit|little|lot|few|couple|tad|minute|minutes|hour|hours|day|week|month|mess|fool|idiot|mile|block|step|while|half|dozen|person|someone|believer|fan|touch|wreck|failure|loser|disaster|genius|stranger|member|guest|hit|joy|pleasure|delight|problem|must|pain|nightmare|treat|shame|joke|legend|star|angel|saint|monster|good|great|nice|bad|big|huge|sucker|goner|victim|fraud|zombie|ghost|wizard|robot|bot|language model|part|result|kind|sort|type|way|thing|place|lover|hater|morning|night|early|late|choice|option|example|candidate|fit|match|idea|question|reminder|testament)\b/i;

function kindOfPerson(rest: string): readonly Said[] {
  const old = /^(\d{1,3})[- ]years?[- ]old /.exec(rest);
  const [kind = '', where] = rest.slice(old?.[0].length ?? 0).split(/ (?:at|for) (?=(?:the )?\p{Lu})/u);
  const bareKind = kind.split(
    / (?:in|by|from|on|who|with|at|for|living|working|based|known|named|called|specializing|whose|to) |,/,
  )[0]!;
  const object = standalone(bareKind, 5);
  if (object === undefined || NO_KIND.test(object) || /^(?:very|really|quite|total|complete)\b/.test(object)) return [];
  const from = / from (.+)$/.exec(kind);
  const is = [
    ...said('age', old?.[1]),
    ...said('is_a', object),
    ...said('from', from === null ? undefined : proper(from[1]!)),
  ];
  const place = where === undefined ? undefined : proper(where);
  if (place === undefined) return is;
  if (OCCUPATION.test(object)) return [...is, ...said('works_at', place)];
  return /student$/i.test(object) ? [...is, ...said('studies_at', place)] : is;
}

function employer(rest: string): string | undefined {
  const cut = rest.split(/ (?:as|because|where|with|from|doing|on|since) |,/)[0]!;
  if (
    /^(?:home|night|nights|myself|free|fun|living|the moment|a living|least|an? (?:desk|time|while|few|couple|(?:\p{L}+ )?(?:minute|hour|day|night|week|month|year)))\b/iu.test(
      cut,
    )
  )
    return undefined;
  const object = standalone(cut, 7);
  return object !== undefined && /^(?:(?:an?|the|my) \p{L}|\p{Lu})/u.test(object) ? object : undefined;
}

function each(relation: string, rest: string, read: (member: string) => string | undefined): readonly Said[] {
  const all = members(rest);
  // If one member is not understood, the text may not be a list at all.
  const objects = all.map(read);
  return objects.flatMap((object) => said(relation, object));
}

/** Marks a state that began in the past and still holds. */
const LASTING = / (?:since|for (?:\S+ ){1,4}(?:years?|months?|decades?))\b/;

const LIKE = '(?:like|likes|love|loves|enjoy|enjoys|adore|adores)';
const HATE = '(?:hate|hates|detest|detests|dislike|dislikes|despise|despises|loathe|loathes)';

/** For clauses without a denial. */
export const PREDICATES: readonly Predicate[] = [
  {
    pattern: new RegExp(
      `^(?:live|lives|reside|resides|${NOW_OR_SINCE} (?:living|based|residing)|have lived|has lived) in (.+)$`,
    ),
    // "has lived in Oslo" without a duration may be over.
    read: (rest, _match, whole) =>
      /^ha(?:ve|s) lived/.test(whole) && !LASTING.test(whole) ? [] : said('lives_in', proper(rest)),
  },
  {
    pattern: /^(?:work|works|(?:am|is|are) working|(?:am|is) employed) (?:at|for|by) (.+)$/,
    read: (rest) => said('works_at', employer(rest)),
  },
  {
    pattern: /^(?:have|has) (?:worked|been working) (?:at|for) (.+)$/,
    read: (rest, _match, whole) => (LASTING.test(whole) ? said('works_at', employer(rest)) : []),
  },
  {
    pattern: /^(?:work|works|(?:am|is|are) working) as (an? .+)$/,
    read: (rest) => {
      const [role = '', where] = bare(rest).split(/ (?:at|for) /);
      const object = standalone(role.split(/ in |,/)[0]!, 5);
      if (object === undefined) return [];
      return [...said('works_as', object), ...(where === undefined ? [] : said('works_at', employer(where)))];
    },
  },
  {
    pattern: new RegExp(`^(?:work|works) in (?:the )?(${INDUSTRIES})(?: (?:industry|sector|field))?$`, 'i'),
    read: (rest) => said('works_in', rest),
  },
  { pattern: /^(?:was|were) born in ((?:19|20)\d\d)$/, read: (_rest, match) => said('born_on', match[1]) },
  {
    pattern:
      /^(?:was|were) born (?:on|in) ((?:January|February|March|April|May|June|July|August|September|October|November|December)\b.*|\d.*)$/,
    read: (_rest, match) => {
      const [date = '', ...place] = match[1]!.split(/ (?:in|at|near) /);
      return [...said('born_on', standalone(date)), ...said('born_in', proper(place.at(-1) ?? ''))];
    },
  },
  {
    pattern: /^(?:was|were) born (?:and raised )?in (.+)$/,
    read: (rest) => said('born_in', proper(rest.split(/ (?:on|in) /)[0]!)),
  },
  {
    pattern: /^moved (?:back )?(?:from \p{Lu}[\p{L} ]+? )?to (.+)$/u,
    read: (rest) => said('moved_to', proper(rest.split(/ from /)[0]!)),
  },
  { pattern: /^(?:am|is|are|come|comes) (?:from|a native of) (.+)$/, read: (rest) => said('from', proper(rest)) },
  { pattern: /^(?:am|is|are|got) married to (.+)$/, read: (rest) => said('married_to', personName(rest)) },
  { pattern: /^(?:am|is|are) engaged to (.+)$/, read: (rest) => said('engaged_to', personName(rest)) },
  { pattern: /^married (.+)$/, read: (rest) => said('married_to', personName(rest)) },
  {
    pattern: /^(?:am|is|are) (?:severely |very |highly |deathly )?allergic to (.+)$/,
    read: (rest) =>
      each('allergic_to', rest, (member) => standalone(member.replace(/^(?:both|all|most|some) /, ''), 3)),
  },
  {
    pattern: /^(?:have|has) (?:a|an) (?:severe |bad |serious |mild )?([\p{L}-]+(?: [\p{L}-]+)?) allergy$/u,
    read: (rest) => said('allergic_to', standalone(rest.replace(/ allergy$/, ''), 2)),
  },
  {
    pattern: /^(?:have|has) an allergy to (.+)$/,
    read: (rest) => each('allergic_to', rest, (member) => standalone(member, 3)),
  },
  {
    pattern: new RegExp(
      `^(?:have|has) (?:a|an) (?:\\p{Ll}+ ){0,2}(${PETS}|son|daughter|brother|sister) (?:named|called) (.+)$`,
      'u',
    ),
    read: (rest, match) => said(match[1]!.replace(' ', '_'), personName(rest)),
  },
  {
    pattern: new RegExp(`^(?:have|has) ((?:${COUNT}) (?:\\p{Ll}+ ){0,2}(?:(?:${PETS})s?|${FAMILY}))$`, 'u'),
    read: (rest) => said('has', rest.replace(/^an? /, '')),
  },
  {
    pattern: new RegExp(`^(?:(?:was|have been|has been) diagnosed with|have|has) (${CONDITIONS})$`, 'i'),
    read: (rest) => said('has', rest),
  },
  {
    pattern: /^(?:own|owns) ((?:an?|one|two|three|four|five|several|the|\d{1,3}) .+|\p{Lu}.+)$/u,
    read: (rest) => said('owns', ownable(rest)),
  },
  {
    pattern: /^(?:drive|drives) (an? (?:\p{Ll}+ ){0,2}\p{Lu}.*)$/u,
    read: (rest) => said('drives', standalone(bare(rest), 5)),
  },
  {
    pattern: new RegExp(`^(?:play|plays) (?:the )?(${INSTRUMENTS}|${SPORTS})$`, 'i'),
    read: (rest) => said('plays', rest.replace(/^the /, '')),
  },
  {
    pattern: new RegExp(`^(?:study|studies|${BE} studying) (${FIELDS})(?: at (\\p{Lu}.*))?$`, 'u'),
    read: (rest, match) => {
      const place = match[2] === undefined ? undefined : proper(rest);
      return [...said('studies', match[1]), ...said('studies_at', place)];
    },
  },
  {
    pattern: new RegExp(`^(?:study|studies|${BE} studying) at (.+)$`),
    read: (rest) => said('studies_at', proper(rest)),
  },
  { pattern: /^graduated from (.+)$/, read: (rest) => said('graduated_from', proper(rest.split(/ (?:in|with) /)[0]!)) },
  {
    pattern: /^(?:speak|speaks) (?:fluent )?(.+)$/,
    read: (rest) =>
      each('speaks', rest, (member) => (/^\p{Lu}\p{L}+(?: Sign Language)?$/u.test(member) ? member : undefined)),
  },
  { pattern: new RegExp(`^${LIKE} (.+)$`), read: (rest) => said('likes', taste(rest)) },
  {
    pattern: /^(?:am|is) (?:a )?(?:(?:big|huge|great|massive|lifelong) )?fan of (.+)$/,
    read: (rest) => said('likes', taste(rest)),
  },
  {
    pattern: new RegExp(`^${HATE} (.+)$`),
    read: (rest) => said('dislikes', /^to /.test(rest) ? undefined : taste(rest)),
  },
  { pattern: /^(?:prefer|prefers) (.+)$/, read: (rest) => said('prefers', taste(rest)) },
  {
    pattern: /^(?:am|is) (\d{1,3}|[a-z]+(?:-[a-z]+)?) years? old$/,
    read: (_rest, match) => said('age', AGE.test(match[1]!) ? match[1] : undefined),
  },
  { pattern: new RegExp(`^${BE} (${STATES})$`, 'i'), read: (rest) => said('is', rest) },
  { pattern: new RegExp(`^${BE} (${NATIONALITIES})$`), read: (rest) => said('is', rest) },
  {
    pattern: new RegExp(`^${BE} (?:based|located|headquartered) in (.+)$`),
    read: (rest) => said('located_in', proper(rest)),
  },
  { pattern: /^(?:am|is) an? (.+)$/, read: kindOfPerson },
  {
    pattern: /^(?:am|is) (the [\p{L} -]{2,40} (?:of|at) (?:the )?\p{Lu}.*)$/u,
    read: (rest) => said('is', standalone(rest)),
  },
];

const AGE =
  /^(?:\d{1,3}|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?))$/;

function ownable(rest: string): string | undefined {
  const object = standalone(bare(rest), 6);
  return object === undefined || /^(?:mistake|fault|place in|responsibility|way|time|pace|risk)\b/.test(object)
    ? undefined
    : object;
}

/** For clauses with a denial: only facts that a denial itself states. */
export const NEGATIVE_PREDICATES: readonly Predicate[] = [
  {
    pattern: /^(?:do|does) not (?:like|enjoy|care for) (.+)$/,
    read: (rest) => said('dislikes', /^to /.test(rest) ? undefined : taste(rest)),
  },
  { pattern: /^can not stand (.+)$/, read: (rest) => said('dislikes', taste(rest)) },
  {
    pattern: /^(?:am|is) not (?:a )?(?:(?:big|huge|great) )?fan of (.+)$/,
    read: (rest) => said('dislikes', taste(rest)),
  },
  {
    pattern: /^(?:(?:do|does) not|never) (eat|eats|drink|drinks) (.+)$/,
    read: (rest, match) => said(`does_not_${match[1]!.replace(/s$/, '')}`, foodOf(rest)),
  },
];

function foodOf(rest: string): string | undefined {
  const object = standalone(rest, 3);
  return object === undefined ||
    /^(?:the|an?|my|well|a|enough|at|in|before|after|on|with) /i.test(object) ||
    /^(?:well|out|alone|breakfast|lunch|dinner)$/i.test(object)
    ? undefined
    : object;
}
