// Rules for known slips. A rule proposes corrected texts. The reader refuses wrong ones, so rules need not be exact.
import { CATEGORIES } from '../ast.ts';
import { NOT_A_TIME } from '../errors.ts';
import { PLURALS, pluralOf, SINGULARS, typeOfPlural, typeOfSingular } from '../vocabulary/grain-types.ts';
import { fieldCandidates } from './fields.ts';
import type { Slip } from './slip.ts';
import { fromSql } from './sql.ts';

type Rule = (slip: Slip) => readonly string[];

/** Number of matches that one rule tries. */
const FOUND_MAX = 3;
/** Maximum distance, in characters, between an error's position and its slip. */
const REACH = 60;

/** A rule that replaces one match of `pattern` near the error. It proposes the nearest match first. */
function near(pattern: RegExp, give: string | ((...found: string[]) => string)): Rule {
  const all = new RegExp(pattern.source, 'gi');
  return ({ text, start, end }) => {
    const found = [...text.matchAll(all)].filter(
      (match) => match[0] !== '' && match.index <= end + REACH && match.index + match[0].length >= start - REACH,
    );
    const distance = (at: number, length: number): number => Math.max(0, start - at - length, at - end);
    return found
      .sort((a, b) => distance(a.index, a[0].length) - distance(b.index, b[0].length))
      .slice(0, FOUND_MAX)
      .map((match) => {
        const instead =
          typeof give === 'string'
            ? give.replace(/\$(\d)/g, (_, digit: string) => match[Number(digit)] ?? '')
            : give(...[...match].map((part) => part ?? ''));
        return text.slice(0, match.index) + instead + text.slice(match.index + match[0].length);
      });
  };
}

/** Like `near`, but only for errors with these codes. */
function on(codes: string, pattern: RegExp, give: Parameters<typeof near>[1]): Rule {
  const rule = near(pattern, give);
  const wanted = codes.split(' ').map((code) => `CAL-${code}`);
  return (slip) => (wanted.includes(slip.error.code) ? rule(slip) : []);
}

const replaced = ({ text, start, end }: Slip, instead: string): string =>
  text.slice(0, start) + instead + text.slice(end);

/** Replaces the wrong word by the one that the error suggests. */
const suggested: Rule = (slip) => {
  const word = /^Did you mean ([\w:]+)/.exec(slip.error.suggestion)?.[1];
  const written = slip.text.slice(slip.start, slip.end);
  if (word === undefined) return [];
  return [replaced(slip, written.startsWith('"') ? `"${word}"` : written.startsWith('$') ? `$${word}` : word)];
};

/** Adds quotes to a bare word where a value must stand. Corrects `relation =` before a category. */
const unquoted: Rule = (slip) => {
  const { text, start, end, error } = slip;
  const word = text.slice(start, end);
  if (error.code !== 'CAL-E002' || !/^[A-Za-z][\w-]*$/.test(word)) return [];
  const before = text.slice(0, start);
  if (/\brelation\s*=\s*$/i.test(before) && CATEGORIES.some((category) => category === word.toLowerCase()))
    return [`${before.replace(/=\s*$/, 'IS ')}${text.slice(start)}`];
  if (!/(=|<|>|\(|,|\[|\bABOUT|\bLIKE|\bSINCE|\bTHREAD|\bFOR|\bIN|\bBETWEEN|\bAND)\s*$/i.test(before)) return [];
  const rest = text
    .slice(start)
    .match(
      /^[A-Za-z][\w-]*(?:\s+(?!AND\b|OR\b|LIMIT\b|ORDER\b|WHERE\b|WITH\b|RECENT\b|SINCE\b|AS\b|FORMAT\b)[\w-]+)*/i,
    )?.[0];
  const quoted = (length: number): string =>
    `${before}"${text.slice(start, start + length)}"${text.slice(start + length)}`;
  return [...(rest === undefined ? [] : [quoted(rest.length)]), quoted(word.length)];
};

const field: Rule = (slip) => {
  const { error, text, start, end } = slip;
  const isField = ['CAL-E004', 'CAL-E060', 'CAL-E061'].includes(error.code) || error.expected?.[0] === 'a field';
  if (!isField) return [];
  const written = text.slice(start, end).toLowerCase();
  const recall = [...text.slice(0, start).matchAll(/\bRECALL(\s+MY)?(\s+([a-z]+))?/gi)].at(-1);
  const named = recall?.[3]?.toLowerCase();
  const type = named === undefined ? undefined : typeOfPlural(named);
  const found = fieldCandidates(written, type).map((word) => replaced(slip, word));
  const wanted =
    / (?:is a|no) field of (\w+)/.exec(` ${error.message}`)?.[1] ?? /RECALL (\w+)/.exec(error.suggestion)?.[1];
  if (recall === undefined || wanted === undefined || !PLURALS.includes(wanted)) return found;
  const head = recall[0].slice(
    0,
    recall[0].length - (type === undefined ? (recall[2]?.length ?? 0) : recall[2]!.length),
  );
  const rest = text.slice(recall.index + (type === undefined ? head.length : recall[0].length));
  return [...found, `${text.slice(0, recall.index)}${head} ${wanted}${rest}`];
};

/** Corrects a literal of the wrong kind: number, boolean or string. */
const literalKind: Rule = (slip) => {
  if (slip.error.code !== 'CAL-E020') return [];
  const { message, at } = slip.error;
  const written = slip.text.slice(slip.start, slip.end);
  if (at === undefined) return [];
  const bare = written.replace(/^"|"$/g, '');
  if (/takes a number/.test(message)) return [replaced(slip, bare)];
  if (/takes true or false/.test(message)) return [replaced(slip, /^(1|yes|true)$/i.test(bare) ? 'true' : 'false')];
  if (/takes a hash/.test(message)) return [replaced(slip, bare.startsWith('sha256:') ? bare : `sha256:${bare}`)];
  return /takes a string/.test(message) ? [replaced(slip, `"${written}"`)] : [];
};

const UNITS: Readonly<Record<string, string>> = { m: 'minutes', h: 'hours', d: 'days', w: 'weeks', y: 'years' };
const timeWords: Rule = (slip) => {
  const written = slip.text.slice(slip.start, slip.end);
  if (slip.error.code !== 'CAL-E020' || !slip.error.message.endsWith(NOT_A_TIME)) return [];
  const count = /(\d+)\s*(minute|hour|day|week|month|year|m|h|d|w|y)/i.exec(written);
  const unit = count?.[2]?.toLowerCase();
  if (count !== null && unit !== undefined) {
    const words = `"last ${count[1]} ${UNITS[unit] ?? `${unit}s`}"`;
    return [slip.text.slice(0, slip.start) + slip.text.slice(slip.start).replace(/"[^"]*"/, words)];
  }
  const one = /\b(hour|day|week|month|year)\b/i.exec(written)?.[1];
  const words = one === undefined ? '"last week"' : `"last ${one}"`;
  return [slip.text.slice(0, slip.start) + slip.text.slice(slip.start).replace(/"[^"]*"/, words)];
};

/** Other systems' words for goal states. */
const GOAL_WORDS: Readonly<Record<string, string>> = {
  done: 'completed',
  complete: 'completed',
  finished: 'completed',
  closed: 'completed',
  achieved: 'completed',
  open: 'active',
  pending: 'active',
  todo: 'active',
  in_progress: 'active',
  ongoing: 'active',
  cancelled: 'abandoned',
  canceled: 'abandoned',
  dropped: 'abandoned',
  paused: 'suspended',
  waiting: 'blocked',
};
const goalWord: Rule = (slip) => {
  const word = slip.text.slice(slip.start, slip.end).replace(/"/g, '').toLowerCase().replace(/[\s-]/g, '_');
  const meant = slip.error.code === 'CAL-E063' && Object.hasOwn(GOAL_WORDS, word) ? GOAL_WORDS[word] : undefined;
  return meant === undefined ? [] : [replaced(slip, `"${meant}"`)];
};

/** Adds the extractor to a subquery without one. */
const subqueryEnd: Rule = ({ text, start, error }) => {
  if (error.expected?.[0] !== 'SUBJECTS') return [];
  const field = /(\w+)\s+(?:NOT\s+)?IN\s*\([^()]*$/i.exec(text.slice(0, start))?.[1]?.toLowerCase();
  const word = field === 'object' ? 'OBJECTS' : field === 'hash' || field === 'depends_on' ? 'HASHES' : 'SUBJECTS';
  return [`${text.slice(0, start).trimEnd()} | ${word}${text.slice(start)}`];
};

/** Adds the `$` to the name of a parameter that a LET binds. */
const letName: Rule = (slip) => {
  const word = slip.text.slice(slip.start, slip.end);
  const isBound = /^[A-Za-z]\w*$/.test(word) && new RegExp(`\\bLET\\s+\\$${word}\\b`, 'i').test(slip.text);
  return isBound ? [replaced(slip, `$${word}`)] : [];
};

/** Adds parentheses to the operands of a set operation. */
const bareSets: Rule = ({ text }) => {
  const match =
    /^(\s*(?:LET[^;]*;\s*)*)\(?\s*(RECALL[\s\S]*?)\s*\)?\s+(UNION|INTERSECT|EXCEPT)\s+(?:ALL\s+)?\(?\s*(RECALL[\s\S]*?)\s*\)?\s*;?\s*$/i.exec(
      text,
    );
  return match === null ? [] : [`${match[1]}(${match[2]}) ${match[3]!.toUpperCase()} (${match[4]})`];
};

/** Adds parentheses to sources of ASSEMBLE: `FROM beliefs, goals`, `FROM a: RECALL beliefs, b: RECALL goals`. */
const bareSources: Rule = ({ text }) => {
  const match =
    /^([\s\S]*?\bASSEMBLE\b[\s\S]*?\bFROM\b)([\s\S]*?)(\s+(?:BUDGET|PRIORITY|FORMAT|WITH|STREAM)\b[\s\S]*)?$/i.exec(
      text,
    );
  if (match === null) return [];
  let depth = 0;
  const sources = [''];
  for (const char of match[2]!) {
    if (char === '(' || char === '[') depth++;
    if (char === ')' || char === ']') depth--;
    if (char === ',' && depth === 0) sources.push('');
    else sources[sources.length - 1] += char;
  }
  const written = sources.map((source) => {
    const [, label = '', body = ''] = /^\s*([A-Za-z]\w*\s*:)?\s*([\s\S]*?)\s*$/.exec(source) ?? [];
    const inner = PLURALS.includes(body.toLowerCase()) ? `RECALL ${body}` : body;
    return `${label}${label === '' ? '' : ' '}${/^[($]/.test(inner) ? inner : `(${inner})`}`;
  });
  return [`${match[1]} ${written.join(', ')}${match[3] ?? ''}`];
};

/** Turns several statements, or entries without labels, into a BATCH with labels. */
const several: Rule = ({ text }) => {
  const inside = /^\s*BATCH\s*[{[(]([\s\S]*)[}\])]\s*;?\s*$/i.exec(text)?.[1] ?? text;
  if (/\b(ASSEMBLE|LET|COALESCE|UNION|INTERSECT|EXCEPT)\b/i.test(inside)) return [];
  const parts = inside
    .split(/[;,\n]\s*(?=(?:\w+\s*:\s*)?(?:RECALL|EXISTS|HISTORY|DESCRIBE)\b)/i)
    .map((part) => part.replace(/[;,\s]+$/, '').trim());
  if (parts.length < 2) return [];
  return [`BATCH { ${parts.map((part, i) => (/^\w+\s*:/.test(part) ? part : `q${i + 1}: ${part}`)).join(', ')} }`];
};

const typeWord: Rule = (slip) => {
  const { text, start, end, error } = slip;
  if (error.code !== 'CAL-E003') return [];
  const word = text.slice(start, end).replace(/"/g, '').toLowerCase();
  const other = typeOfPlural(word) ?? typeOfSingular(word) ?? SINGULARS.find((one) => `${one}s` === word);
  if (other === undefined) return [];
  return [
    replaced(slip, text[start] === '"' ? `"${other}"` : typeOfSingular(word) === undefined ? other : pluralOf(other)),
  ];
};

const VALUE = '("[^"]*"|\\$\\w+|[\\w.+-]+)';

/** All rules, in the order in which they are tried. */
export const RULES: readonly Rule[] = [
  // Characters
  near(/[‘’']((?:[^'‘’"]|'')*)[‘’']/, '"$1"'),
  near(/[“”]([^“”"]*)[“”]/, '"$1"'),
  on('E005', /("[^"]*)$/, '$1"'),
  near(/={2,}/, '='),
  near(/<>/, '!='),
  near(/=>/, '>='),
  near(/=</, '<='),
  near(/&&/, ' AND '),
  near(/\|\|/, ' OR '),
  on('E002', /(?:\bNOT\s*|!)\(/, 'NOT ('),
  on('E006', /(^|[^\d])\.(\d+)/, '$10.$2'),
  on('E006 E002', /(\d+(?:\.\d+)?)\s*%/, (_, digits) => String(Number(digits) / 100)),
  on('E006', /(\d+)\s*(k|tokens?|t)\b/, (_, digits, unit) =>
    unit === 'k' ? `${digits}000 tokens` : `${digits} tokens`,
  ),
  on('E002', /\b(?:beliefs?|events?|goals?|actions?|[a-z])\.(\w+)/, '$1'),
  on('E002', /\/\*[\s\S]*?\*\//, ''),
  // SQL as a whole
  ({ text }) => fromSql(text),
  // The first word
  on(
    'E002',
    /^\s*(?:FIND|SEARCH|GET|FETCH|QUERY|RETRIEVE|LIST|LOOKUP|MATCH|READ|RECALLS?|REMEMBER|SHOW)\s+(?:ALL\s+|FOR\s+)?("[^"]*")/,
    'RECALL LIKE $1',
  ),
  on('E002', /^\s*(?:FIND|SEARCH|GET|FETCH|QUERY|RETRIEVE|LIST|LOOKUP|MATCH|READ|SHOW)\b/, 'RECALL'),
  on('E002', /^\s*SHOW\b/, 'DESCRIBE'),
  on('E002', /^\s*(\w+)(?=\s|$)/, (_, word) =>
    typeOfPlural(word.toLowerCase()) === undefined ? word : `RECALL ${word}`,
  ),
  on('E002', /^\s*COUNT\s+(\w+)([\s\S]*)$/, 'RECALL $1$2 | COUNT'),
  on('E002', /^\s*EXISTS\s*\(?\s*(?:RECALL\s+)?(\w+[\s\S]*?)\)?\s*$/, 'RECALL $1 | COUNT'),
  // Types
  near(/\bRECALL\s+(?:ALL|ANY|EVERYTHING|EVERY|GRAINS?|MEMOR(?:Y|IES)|\*)(?=\s|$)/, 'RECALL'),
  near(/\bRECALL\s+(MY\s+)?(?:THE\s+)?(?:TOP|FIRST)\s+(\d+)\s+(?!WHERE|ABOUT|LIKE)(\w+)/, 'RECALL $1$3 LIMIT $2'),
  near(
    /\bRECALL\s+(MY\s+)?(?:THE\s+)?(?:LAST|LATEST|NEWEST|RECENT)\s+(\d+)\s+(?!WHERE|ABOUT|LIKE)(\w+)/,
    'RECALL $1$3 RECENT $2',
  ),
  near(/\bRECALL\s+(?:FROM|DISTINCT)\b/, 'RECALL'),
  near(/\b(?:TOP|FIRST)\s+(\d+)/, 'LIMIT $1'),
  near(/\b(?:LAST|LATEST|NEWEST)\s+(\d+)/, 'RECENT $1'),
  on('E003', /\bRECALL\s+facts?\b/, 'RECALL beliefs'),
  typeWord,
  suggested,
  // Stages
  near(/\|?\s*SELECT\s+(?:ALL\s+)?\*/, ''),
  near(/\bRECALL\s+COUNT\s*\(\s*(\w+)\s*\)/, 'RECALL $1 COUNT'),
  near(/\bCOUNT\s*\([^)]*\)/, 'COUNT'),
  near(/\|?\s*SELECT\s+COUNT\b/, '| COUNT'),
  near(/\bSELECT\s+DISTINCT\s+(subject|object)\b/, (_, name) => `${name.toUpperCase()}S`),
  near(/\bDISTINCT\s+/, ''),
  near(/\bCOUNT\s+BY\b/, 'GROUP BY'),
  near(/\bSORT(?:ED)?\s+BY\b/, 'ORDER BY'),
  near(/\b(ORDER|GROUP)\s+(?!BY\b)/, '$1 BY '),
  near(/\bDESCENDING\b/, 'DESC'),
  near(/\bASCENDING\b/, 'ASC'),
  near(/\bORDER\s+BY\s+-\s*(\w+)/, 'ORDER BY $1 DESC'),
  near(/\s+NULLS\s+(?:FIRST|LAST)/, ''),
  near(
    /(\bORDER\s+BY\s+\w+(?:\s+(?:ASC|DESC))?\s*,\s*\w+(?:\s+(?:ASC|DESC))?)(?:\s*,\s*\w+(?:\s+(?:ASC|DESC))?)+/,
    '$1',
  ),
  near(/(\bGROUP\s+BY\s+\w+)\s+(?:HAVING\b|\|?\s*(?:COUNT|LIMIT|ORDER\s+BY|SELECT)\b)[\s\S]*$/, '$1'),
  near(/(\bGROUP\s+BY\s+\w+)\s*,\s*\w+/, '$1'),
  near(/(\bSELECT\b[^|]*?)\s+AS\s+\w+/, '$1'),
  near(/\bLIMIT\s+(\d+)\s*,\s*(\d+)/, 'OFFSET $1 LIMIT $2'),
  near(/\bLIMIT\s*(?:=|\()?\s*"?(\d+)"?\s*\)?/, 'LIMIT $1'),
  near(/\bLIMIT\s+(?:ALL|NONE|-1)\b/, 'LIMIT 1000'),
  on(
    'E010',
    /\b(LIMIT|RECENT)\s+-?(\d+)/,
    (_, word, digits) => `${word} ${Math.min(1_000, Math.max(1, Number(digits)))}`,
  ),
  near(/\bRECENT(?!\s+\d)/, 'RECENT 10'),
  on('E060', /\s+LIMIT\s+\d+/, ''),
  on('E060', /\s+ORDER\s+BY\s+\w+(?:\s+(?:ASC|DESC))?/, ''),
  on('E060', /\bABOUT\s+("[^"]*")\s+LIKE\s+("[^"]*")/, 'LIKE $2 WHERE subject = $1'),
  on('E022', /\|?\s*\b(SUBJECT|OBJECT)S\b/, (_, word) => ` | SELECT ${word.toLowerCase()}`),
  on('E060', /\bRECALL\s+MY\b/, 'RECALL'),
  on('E022 E060', /\bRECALL(?=\s*(?:WHERE|\||ABOUT|LIKE|SUBJECTS|OBJECTS))/, 'RECALL beliefs'),
  // Conditions
  near(/\b(\w+)\s+(?:IS\s+NOT\s+NULL|(?:!=|<>)\s*NULL|EXISTS)\b/, '$1 != ""'),
  near(/\b(\w+)\s+(?:IS\s+NULL|=\s*NULL|IS\s+EMPTY)\b/, 'NOT $1 != ""'),
  on('E020', /\b(\w+)\s*!=\s*""/, '$1 NOT IN ("")'),
  on('E020', /\b(confidence|importance)\s+(?:!=|NOT IN)\s*\(?""\)?/, '$1 >= 0'),
  on('E020', /\b(\w+)\s*!=\s*(\S+)/, 'NOT $1 = $2'),
  near(
    /\brelation\s*=\s*"?(PREFERENCE|KNOWLEDGE|PERMISSION|INTERACTION|AGENCY|LIFECYCLE|OBSERVATION)S?"?(?=\s|\)|$)/,
    'relation IS $1',
  ),
  near(/\brelation\s+IS\s+NOT\s+(\w+)/, 'NOT relation IS $1'),
  near(/\b(\w+)\s+IS\s+(?:NOT\s+)?(true|false)\b/, '$1 = $2'),
  near(/\b(\w+)\s+IS\s+("[^"]*")/, '$1 = $2'),
  near(/("[^"]*")\s+IN\s+tags\b/, 'tags INCLUDE [$1]'),
  near(/\btags\s*(?:IN|ANY)\s*\(\s*("[^"]*"(?:\s*,\s*"[^"]*")+)\s*\)/, (_, list) => {
    const each = list.split(/\s*,\s*(?=")/).map((one) => `tags INCLUDE [${one}]`);
    return `(${each.join(' OR ')})`;
  }),
  near(
    /\btags\s*(?:=|IN|INCLUDES?|CONTAINS|HAS|LIKE|ANY)\s*\(?\s*("[^"]*"(?:\s*,\s*"[^"]*")*)\s*\)?/,
    'tags INCLUDE [$1]',
  ),
  near(
    /\btags\s*(?:!=|NOT\s+IN|NOT\s+CONTAINS|EXCLUDES?)\s*\(?\s*("[^"]*"(?:\s*,\s*"[^"]*")*)\s*\)?/,
    'tags EXCLUDE [$1]',
  ),
  near(/\btag\b/, 'tags'),
  near(
    /\b(\w+)\s+(?:I?LIKE|CONTAINS|MATCH(?:ES)?|STARTS\s+WITH|ENDS\s+WITH|INCLUDES?|~)\s*"%?([^"%]*)%?"/,
    'query = "$2"',
  ),
  near(/\b(?:WHERE\s+)?\w+\s+NOT\s+(?:LIKE|CONTAINS)\s*"[^"]*"(?:\s+AND\s+)?/, ''),
  near(/\b(IN)\s*\[([^\]]*)\]/, '$1 ($2)'),
  near(/\b(INCLUDE|EXCLUDE)\s*\(([^)]*)\)/, '$1 [$2]'),
  near(/\b(INCLUDE|EXCLUDE)\s+("[^"]*"(?:\s*,\s*"[^"]*")*)/, '$1 [$2]'),
  near(/\bIN\s+("[^"]*")/, '= $1'),
  on(
    'E020',
    new RegExp(`\\b(confidence|importance|threshold|agreement_count)\\s+BETWEEN\\s+${VALUE}\\s+AND\\s+${VALUE}`),
    '$1 >= $2 AND $1 <= $3',
  ),
  near(
    /(?:NOW\s*\(\s*\)|CURRENT_(?:DATE|TIMESTAMP))\s*-\s*(?:INTERVAL\s*)?["']?(\d+)\s*(\w+?)s?["']?(?=\s|\)|$)/,
    (_, count, unit) => `"last ${count} ${unit.toLowerCase()}s"`,
  ),
  near(/\b(?:NOW|TODAY|CURDATE)\s*\(\s*\)|\bCURRENT_(?:DATE|TIMESTAMP)\b/, '"today"'),
  near(
    /\bSINCE\s+((?:last|yesterday|today|this|\d+)(?:\s+(?:\d+|hours?|days?|weeks?|months?|years?|minutes?|ago))*)/,
    'SINCE "$1"',
  ),
  near(/\bSINCE\s+(\d{4}-\d\d(?:-\d\d)?)/, 'SINCE "$1"'),
  near(/([=<>]\s*)(\d{4}-\d\d-\d\d)\b/, '$1"$2"'),
  near(/\b(?:AFTER)\s+("[^"]*")/, 'SINCE $1'),
  timeWords,
  goalWord,
  subqueryEnd,
  literalKind,
  letName,
  unquoted,
  field,
  on('E002', /(\bWHERE\b[\s\S]*?)\bWHERE\b/, '$1AND'),
  on('E002', /("[^"]*"|\d|\)|\])\s*,\s*(?=\w+\s*(?:[=<>!]|IN\b|INCLUDE\b))/, '$1 AND '),
  on(
    'E002',
    /\b(RECALL(?:\s+MY)?(?:\s+[a-z]+s)?)\s+(?:THAT\s+|WITH\s+|IF\s+|HAVING\s+|AND\s+)?(?=\w+\s*(?:[=<>!]|IN\b|INCLUDE\b|IS\b))/,
    '$1 WHERE ',
  ),
  on('E002', /\b(ORDER\s+BY\s+\w+(?:\s+(?:ASC|DESC))?|LIMIT\s+\d+)\s+AND\b/, '$1 WHERE'),
  on('E002', /\bWHERE\s+(?=ABOUT|LIKE|SINCE|ORDER|LIMIT|RECENT|GROUP|\||$)/, ''),
  on('E002', /\bAND\s+(?=ABOUT|LIKE|SINCE|ORDER|LIMIT|RECENT|THREAD|WITH)/, ''),
  on('E002', /\s+(?:AND|OR|,)\s*$/, ''),
  on('E002', /\bFROM\s+"([^"]*)"/, 'IN "$1"'),
  on('E002', /\b(?:FROM|FOR)\s+(?:USER\s+)?("[^"]*")/, 'ABOUT $1'),
  on('E002', /\b(ABOUT|LIKE|THREAD)\s*[=:(]\s*("[^"]*")\s*\)?/, '$1 $2'),
  on('E002', /\bABOUT\s+\$current_user_id/, 'WHERE subject = $current_user_id'),
  on('E002', /\b(?:REGARDING|CONCERNING)\b/, 'ABOUT'),
  on('E002', /\bSIMILAR(?:\s+TO)?\b|\bNEAR\b|\bMATCHING\b/, 'LIKE'),
  on('E002', /\bTAGGED\s+("[^"]*")/, 'WHERE tags INCLUDE [$1]'),
  on('E002', /\bUNTIL\s+("[^"]*")/, 'BETWEEN 0 AND $1'),
  on('E002', /\s+HAVING\b[\s\S]*$/, ''),
  on('E008', /\$(?:user|me|user_id|current_user|self)\b/, '$current_user_id'),
  on('E008', /\$(\w+)/, '"$1"'),
  // Options and formats
  on('E002', /\b(?:INCLUDE|INCLUDING|WITH)\s+(?:SUPERSEDED|OLD\s+VERSIONS|HISTORY)\b/, 'WITH superseded'),
  on('E002', /\bWITH\s+(?=LIMIT|ORDER|RECENT|ABOUT|LIKE|SINCE)/, ''),
  near(
    /\b(?:AS|FORMAT|OUTPUT|IN\s+FORMAT|RETURN)\s*[=:]?\s*"?(markdown|json|yaml|text|sml|triples|toon)"?/,
    'FORMAT $1',
  ),
  near(/\b(AS|FORMAT)\s+"?(?:table|csv)"?/, '$1 toon'),
  near(/\b(AS|FORMAT)\s+"?md"?(?=\s|$)/, '$1 markdown'),
  near(/\b(AS|FORMAT)\s+"?(?:xml|html)"?/, '$1 sml'),
  // Sets
  near(/\bUNION\s+ALL\b/, 'UNION'),
  near(/\bMINUS\b/, 'EXCEPT'),
  near(/\bINTERSECTION\b/, 'INTERSECT'),
  bareSets,
  // LET
  near(/\bLET\s+([A-Za-z]\w*)\s*=/, 'LET $$1 ='),
  near(/\bLET\s+(\$\w+)\s*(?::=|AS\b|:)/, 'LET $1 ='),
  near(/\bLET\s+(\$\w+)\s*=\s*\(\s*([\s\S]*?)\s*\)\s*;/, 'LET $1 = $2;'),
  near(/(\bLET\s+\$\w+\s*=\s*RECALL[\s\S]*?)\s*;?\s*\n\s*(?=RECALL|ASSEMBLE|LET|\()/, '$1;\n'),
  // ASSEMBLE
  on('E002', /\bASSEMBLE\s+("[^"]*")(?=\s+FROM)/, 'ASSEMBLE FOR $1'),
  on('E002', /\bASSEMBLE\s+(?:CONTEXT\s+)?(?:ABOUT|WITH)?\s*("[^"]*")/, 'ASSEMBLE FOR $1'),
  on('E002', /(\bASSEMBLE\b[\s\S]*?\bFROM\b[\s\S]*?)\s+FOR\s+("[^"]*")/, (_, body, intent) =>
    body.replace(/\bFROM\b/i, `FOR ${intent} FROM`),
  ),
  near(/\b(?:MAX_?TOKENS|TOKENS|TOKEN_BUDGET|MAX)\s*[=:]?\s*(\d+)(?:\s+tokens)?/, 'BUDGET $1 tokens'),
  near(/\bBUDGET\s*[=:]?\s*(?:tokens\s+)?(\d+)\s*(?:token|tok|words?)?(?=\s|$)/, 'BUDGET $1 tokens'),
  on('E033', /\bBUDGET\s+(\d+)(\s+tokens)?(?=\s|$)/, 'BUDGET 16000 tokens'),
  on('E033', /\bBUDGET\s+\d+\s+grains/, 'BUDGET 200 grains'),
  near(
    /\bPRIORITY\s+((?:"?\w+"?\s*(?::\s*[\d.]+|=\s*[\d.]+)?\s*(?:,|>|$|(?=\s(?:BUDGET|FORMAT|WITH|STREAM)))\s*)+)/,
    (_, chain) =>
      `PRIORITY ${chain
        .split(/[,>]/)
        .map((one) => one.replace(/[:=]\s*[\d.]+|"/g, '').trim())
        .filter((one) => one !== '')
        .join(' > ')} `,
  ),
  on('E079', /\s*\bSTREAM\b(?:\s*\{[^}]*\})?/, ''),
  bareSources,
  // The other statements
  near(/\bDESCRIBE\s+(?:SCHEMA|TYPES?|TABLES?|ALL)\b/, 'DESCRIBE grain_types'),
  near(/\bDESCRIBE\s+(?:HELP|SYNTAX)\b/, 'DESCRIBE grammar'),
  near(/\bDESCRIBE\s+(?:FIELDS\s+(?:OF\s+|FOR\s+)?)?([a-z]+)\b/, (_, word) => {
    const type = typeOfPlural(word.toLowerCase()) ?? typeOfSingular(word.toLowerCase());
    return type === undefined ? 'DESCRIBE fields' : `DESCRIBE fields ${type}`;
  }),
  near(
    /\bHISTORY\s+(?:OF\s+|FOR\s+)?(?:beliefs?\s+)?(?:WHERE\s+)?relation\s*=\s*("[^"]*")\s+AND\s+subject\s*=\s*("[^"]*")/,
    'HISTORY WHERE subject = $2 AND relation = $1',
  ),
  near(/\bHISTORY\s+(?:OF\s+|FOR\s+|beliefs?\s+)*(?:WHERE\s+)?(?=subject\s*=)/, 'HISTORY WHERE '),
  near(/\bHISTORY\s+(?:OF\s+|FOR\s+)/, 'HISTORY '),
  near(/\b(HISTORY|EXISTS|SUPERSEDE|REVERT)\s+(?:hash\s*=\s*)?"(sha256:[0-9a-f]+)"/, '$1 $2'),
  near(/\b(HISTORY|EXISTS)\s+"?([0-9a-f]{8,64})"?(?=\s|$)/, '$1 sha256:$2'),
  near(/\bCOALESCE\s*[{[]([\s\S]*)[}\]]/, 'COALESCE ($1)'),
  near(/(\bCOALESCE\s*\([\s\S]*?)\)\s*,\s*\(/, '$1, '),
  near(/\bCOALESCE\s*\(\s*\(([\s\S]*)\)\s*\)/, 'COALESCE ($1)'),
  several,
];
