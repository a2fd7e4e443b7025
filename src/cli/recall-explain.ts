// Explains in words why each hit was found and why other grains were left out.

import { uncutSentence } from '../engine/cal/output/sentence.ts';
import type { ExclusionReason } from '../engine/govern/trail/exclusions.ts';
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import { type Analyzer, analyzer } from '../engine/index/text/analyze.ts';
import { unscoredTerms } from '../engine/index/text/question-words.ts';
import { number, printable, printLine, terminalColumns } from './output.ts';

/** A hit in the JSON answer. */
export interface ExplainedHit {
  readonly grainType: string;
  readonly fields: JsonObject;
  readonly explanation: string;
  /** The probability that the hit bears on the question; absent for hits by structure alone. */
  readonly relevance?: number | undefined;
  readonly breakdown: JsonObject;
  readonly recallSource: string;
  readonly conflictStatus?: string | undefined;
  readonly isSuperseded: boolean;
}

const MATCHED_MAX = 12;
const INDENT = 5;

/** The contract's exclusion reasons as text that follows a count. */
const REASONS: Readonly<Record<ExclusionReason, string>> = {
  processing_restricted: 'of users whose processing is restricted',
  consent_revoked: 'of users who revoked their consent',
  access_denied: 'not for this caller',
  ttl_expired: 'expired',
  scope_mismatch: 'outside the scope',
  namespace_mismatch: 'of another namespace',
  user_mismatch: 'of another user',
  type_mismatch: 'of another type',
  tag_mismatch: 'without a requested tag',
  tag_excluded: 'with an excluded tag',
  subject_mismatch: 'of another subject',
  relation_mismatch: 'of another relation',
  object_mismatch: 'of another object',
  entity_mismatch: 'about something else',
  time_out_of_range: 'of another time',
  below_confidence: 'below the confidence limit',
  below_importance: 'below the importance limit',
  below_min_score: 'below the relevance limit',
  superseded: 'replaced by a later version',
  supersession_demoted: 'ranked lower, as a later version replaced them',
  contradicted: 'ranked lower, as they are retracted or something newer contradicts them',
  contradicted_filtered: 'contradicted or retracted',
  conflict_resolved: 'overruled by something newer or more specific',
  deduplicated: 'repeating another hit',
  diversity_filtered: 'too similar to other hits',
  namespace_capped: 'of a namespace with worse hits',
  budget_capped: 'over the limit of an expansion',
  limit_exceeded: 'over the limit',
};

/** The hit's own words that match the query, each once, in text order. */
export function matchedWords(query: string, text: string, language: string): string[] {
  const spoken = analyzer(language);
  const all = new Set(spoken.analyze(query.replace(/(?:^|\s)-\S+/g, ' ')).terms);
  const scored = all.difference(unscoredTerms(query, spoken));
  const asked = scored.size > 0 ? scored : all;
  const matched = new Map<string, string>();
  for (const [word] of text.matchAll(/[\p{L}\p{N}\p{M}]+(?:['’][\p{L}\p{N}\p{M}]+)*/gu)) {
    const term = termOf(spoken, word, asked);
    if (term !== undefined && !matched.has(term)) matched.set(term, word);
    if (matched.size >= MATCHED_MAX) break;
  }
  return [...matched.values()];
}

function termOf(spoken: Analyzer, word: string, asked: ReadonlySet<string>): string | undefined {
  return spoken.analyze(word).terms.find((term) => asked.has(term));
}

/** The legs that found the hit. */
export function legsOf({ breakdown, recallSource }: ExplainedHit): string[] {
  const { bm25_rank: rank, vector_score: cosine, rrf_score: rrf } = breakdown;
  const legs = [
    ...(typeof rank === 'number' ? [`words (rank ${rank})`] : []),
    ...(typeof cosine === 'number' ? [`meaning (cosine ${cosine.toFixed(2)})`] : []),
  ];
  const isNeighbour =
    legs.length === 0 && ['near', 'answer', 'session'].some((term) => Number(breakdown[term] ?? 0) > 0);
  if (isNeighbour) legs.push('context of a match');
  if (recallSource === 'expansion') legs.push('an expansion of the query');
  else if (recallSource === 'census') legs.push('scan of all sessions');
  else if (Number(rrf ?? 0) > 0) legs.push('structure');
  return legs;
}

export function printExplained(query: string, language: string, hits: readonly ExplainedHit[]): void {
  printLine();
  for (const [at, hit] of hits.entries()) {
    const words = matchedWords(query, uncutSentence(hit), language);
    const found = [
      `found by ${legsOf(hit).join(', ') || 'conditions on its fields'}`,
      ...(words.length === 0 ? [] : [`matches ${words.join(', ')}`]),
      ...(hit.relevance === undefined ? [] : [`relevance ${hit.relevance.toFixed(2)}`]),
    ];
    const lines = [
      found.join('; '),
      hit.explanation,
      ...(hit.isSuperseded ? ['a later version has replaced it'] : []),
      ...(hit.conflictStatus === undefined ? [] : [`among contradicting hits it is ${hit.conflictStatus}`]),
    ];
    for (const [i, line] of lines.entries()) printWrapped(i === 0 ? `${at + 1}.` : '', printable(line));
  }
}

/** Prints nothing when the recall left nothing out. */
export function printExcluded(excluded: JsonValue | undefined): void {
  const counts = Object.entries(isObject(excluded) ? excluded : {}).sort((a, b) => Number(b[1]) - Number(a[1]));
  if (counts.length === 0) return;
  printLine();
  const reasons = counts.map(([reason, count]) => `${number(Number(count))} ${reasonText(reason)}`);
  printWrapped('', `Left out: ${reasons.join('; ')}.`, 0);
}

function reasonText(reason: string): string {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as ExclusionReason] : reason.replaceAll('_', ' '); // checked on this line
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Prints text wrapped to the terminal's width, after a mark. */
function printWrapped(mark: string, text: string, indent: number = INDENT): void {
  const width = terminalColumns() - indent;
  let line = '';
  let first = true;
  const flush = (): void => {
    printLine(`${(first ? mark : '').padEnd(indent)}${line}`);
    first = false;
    line = '';
  };
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) flush();
    line = line === '' ? word : `${line} ${word}`;
  }
  flush();
}
