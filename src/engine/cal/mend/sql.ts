// Translates an SQL SELECT into a RECALL.
import { PLURALS, pluralOf, typeOfForeignWord, typeOfSingular } from '../vocabulary/grain-types.ts';

const SELECT =
  /\bSELECT\s+(DISTINCT\s+)?([\s\S]*?)\s+FROM\s+["`]?(\w+)["`]?(?:\s+(?:AS\s+)?(?!WHERE|ORDER|LIMIT|GROUP|HAVING|UNION|OFFSET)([a-z]\w*))?((?:\s+(?:WHERE|ORDER|LIMIT|GROUP|HAVING|OFFSET)\b[\s\S]*?)?)(?=\s*(?:;|\)|$))/i;

/** Corrected texts to try; empty without a SELECT … FROM. A SELECT in parentheses is translated before the one around it. */
export function fromSql(text: string): readonly string[] {
  const inner = /\(\s*(SELECT\b[^()]*)\)/i.exec(text);
  if (inner !== null) {
    const recalled = recallOf(inner[1]!, true);
    if (recalled !== undefined) return [text.replace(inner[0], `(${recalled})`)];
  }
  const match = SELECT.exec(text);
  if (match === null) return [];
  const recalled = recallOf(match[0], false);
  return recalled === undefined
    ? []
    : [text.slice(0, match.index) + recalled + text.slice(match.index + match[0].length)];
}

function recallOf(select: string, isInner: boolean): string | undefined {
  const match = SELECT.exec(select);
  if (match === null) return undefined;
  const [, distinct, columns = '*', table = '', alias, rest = ''] = match;
  const type = typeNamed(table.toLowerCase());
  const clauses = (alias === undefined ? rest : rest.replace(new RegExp(`\\b${alias}\\.`, 'g'), '')).trimEnd();
  const recall = `RECALL${type === undefined ? '' : ` ${type}`}${clauses}`;
  const wanted = columns
    .replace(/\b\w+\./g, '')
    .replace(/\s+AS\s+\w+/gi, '')
    .trim();
  if (/^COUNT\s*\(/i.test(wanted)) return `${recall} | COUNT`;
  if (isInner || distinct !== undefined) {
    if (/^subject$/i.test(wanted)) return `${recall} | SUBJECTS`;
    if (/^object$/i.test(wanted)) return `${recall} | OBJECTS`;
    if (/^(hash|id)$/i.test(wanted)) return `${recall} | HASHES`;
  }
  if (wanted === '*' || /[(]/.test(wanted) || /\bGROUP\s+BY\b/i.test(clauses)) return recall;
  return `${recall} | SELECT ${wanted}`;
}

function typeNamed(table: string): string | undefined {
  if (PLURALS.includes(table)) return table;
  const type = typeOfSingular(table) ?? typeOfForeignWord(table) ?? undefined;
  return type === undefined ? undefined : pluralOf(type);
}
