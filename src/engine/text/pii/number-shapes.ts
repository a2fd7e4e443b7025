// Numbers that are stored as numbers, without separators and often without a cue.
import type { PiiFinding } from './finding.ts';
import { spoken } from './spoken.ts';

const SHAPE = /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/;
/** Keys for counts, measures, payments and other numbering. */
const OTHERWISE =
  /\b(?:count|counter|counts|total|totals|sum|size|bytes?|length|len|amount|price|cost|costs|revenue|income|budget|balance|fee|population|views|visitors|users|downloads|tokens?|ms|millis|milliseconds|micros|nanos|seconds|secs?|time|timestamp|ts|date|duration|latency|offset|limit|max|min|mean|median|average|seed|version|build|width|height|depth|weight|score|rank|index|position|port|lines?|rows?|pages?|hash|checksum|crc|salary|distance|area|volume|quantity|qty|capacity|frequency|rate|at|followers|subscribers|likes|hits|clicks|shares|stars|votes|members|people|employees|units|points|steps|requests|records|entries|items|messages|words|chars|characters|samples|iterations|parameters|params|pixels|ticks|cycles|sales|profit|loss|debt|turnover|usd|eur|gbp|cents|memory|storage|disk|ram|used|free|available|remaining|elapsed|uptime|altitude|elevation)\b/i;
/** `order_id` is the number of a thing. Keys of persons, and keys without a thing, are excluded. */
const OF_A_THING =
  /\b(?!(?:person|patient|user|customer|client|employee|member|citizen|tax|national|social|security|insurance|personal|subject|my|the|an?) )[a-z]+ (?:id|ids|no|nr|num|number|key|ref|code)$/i;

/** A finding when the nine digits could be a US social security number and the key indicates nothing else. */
export function socialSecurityNumber(digits: string, label: string | undefined): readonly PiiFinding[] {
  if (!SHAPE.test(digits)) return [];
  const words = label === undefined ? '' : spoken(label);
  if (OTHERWISE.test(words) || OF_A_THING.test(words)) return [];
  return [{ category: 'ssn', matchedText: digits, start: 0, end: digits.length, confidence: 0.7, source: 'regex' }];
}
