// Why each hit is there, and why others are not, in words.

import type { ExclusionReason } from '../engine/govern/trail/exclusions.ts';
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import { type Analyzer, analyzer } from '../engine/index/text/analyze.ts';
import { pronounsOf } from '../engine/index/text/pronouns.ts';
import { sayingOf } from './grain-view.ts';
import { number, printable, printLine, terminalColumns } from './output.ts';

/** A hit as JSON tells it. */
export interface ExplainedHit {
  readonly grainType: string;
  readonly fields: JsonObject;
  readonly explanation: string;
  readonly breakdown: JsonObject;
  readonly recallSource: string;
  readonly conflictStatus?: string;
  readonly isSuperseded: boolean;
}

const MATCHED_MAX = 12;
const INDENT = 5;

/** What the contract calls a reason, as a person reads it behind a number. */
const REASONS: Readonly<Record<ExclusionReason, string>> = {
  processing_restricted: 'of users whose processing is restricted',
  consent_revoked: 'of users who revoked their consent',
  access_denied: 'not for this caller',
  ttl_expired: 'expired',
  scope_mismatch: 'outside of the scope',
  namespace_mismatch: 'of another namespace',
  user_mismatch: 'of another user',
  type_mismatch: 'of another type',
  tag_mismatch: 'without a tag that was asked for',
  tag_excluded: 'with a tag that was not wanted',
  subject_mismatch: 'of another subject',
  relation_mismatch: 'of another relation',
  object_mismatch: 'of another object',
  entity_mismatch: 'about something else',
  time_out_of_range: 'of another time',
  below_confidence: 'not sure enough',
  below_importance: 'not important enough',
  below_min_score: 'matching too little',
  superseded: 'replaced by a later version',
  supersession_demoted: 'behind others, as a later version replaced them',
  contradicted: 'behind others, as something newer contradicts them',
  contradicted_filtered: 'contradicted',
  conflict_resolved: 'overruled by something newer or nearer',
  deduplicated: 'saying what another hit says',
  diversity_filtered: 'too much like other hits',
  namespace_capped: 'of a namespace with worse hits',
  budget_capped: 'more than an expansion may add',
  limit_exceeded: 'behind the limit',
};

/** The hit's own words that the query asks for, each once, in the order of the text. */
export function matchedWords(query: string, text: string, language: string): string[] {
  const spoken = analyzer(language);
  const all = new Set(spoken.analyze(query.replace(/(?:^|\s)-\S+/g, ' ')).terms);
  const scored = all.difference(pronounsOf(spoken));
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

/** The ways in which it was found. */
export function legsOf({ breakdown, recallSource }: ExplainedHit): string[] {
  const { bm25_rank: rank, vector_score: cosine, rrf_score: rrf } = breakdown;
  const legs = [
    ...(typeof rank === 'number' ? [`words (rank ${rank})`] : []),
    ...(typeof cosine === 'number' ? [`meaning (cosine ${cosine.toFixed(2)})`] : []),
  ];
  const isNeighbour =
    legs.length === 0 && ['near', 'answer', 'session'].some((term) => Number(breakdown[term] ?? 0) > 0);
  if (isNeighbour) legs.push('what stands around a match');
  if (recallSource === 'expansion') legs.push('an expansion of the query');
  else if (recallSource === 'census') legs.push('the census of sessions');
  else if (Number(rrf ?? 0) > 0) legs.push('structure');
  return legs;
}

export function printExplained(query: string, language: string, hits: readonly ExplainedHit[]): void {
  printLine();
  for (const [at, hit] of hits.entries()) {
    const words = matchedWords(query, sayingOf(hit.grainType, hit.fields), language);
    const lines = [
      `found by ${legsOf(hit).join(', ') || 'what was asked of its fields'}${words.length === 0 ? '' : `; it says ${words.join(', ')}`}`,
      hit.explanation,
      ...(hit.isSuperseded ? ['a later version has replaced it'] : []),
      ...(hit.conflictStatus === undefined ? [] : [`among contradicting hits it is ${hit.conflictStatus}`]),
    ];
    for (const [i, line] of lines.entries()) printWrapped(i === 0 ? `${at + 1}.` : '', printable(line));
  }
}

/** Nothing for a recall that left nothing out. */
export function printExcluded(excluded: JsonValue | undefined): void {
  const counts = Object.entries(isObject(excluded) ? excluded : {}).sort((a, b) => Number(b[1]) - Number(a[1]));
  if (counts.length === 0) return;
  printLine();
  const told = counts.map(([reason, count]) => `${number(Number(count))} ${reasonText(reason)}`);
  printWrapped('', `Left out: ${told.join('; ')}.`, 0);
}

function reasonText(reason: string): string {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as ExclusionReason] : reason.replaceAll('_', ' '); // just looked up
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lines of the terminal's width behind a mark. */
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
