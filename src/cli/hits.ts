// Prints recall hits as a table, or as JSON.

import { defined } from '../engine/base/defined.ts';
import { sentenceOf } from '../engine/cal/output/sentence.ts';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { bar, clipped, printTable, terminalColumns, utc } from './output.ts';

export interface Hit {
  readonly hash: string;
  readonly grainType: string;
  readonly score: number;
  /** Absent for hits by structure alone, and from a search. */
  readonly relevance?: number | undefined;
  readonly fields: JsonObject;
}

const BAR_COLUMNS = 8;
/** Terminal columns of every table column except the grain's text. */
const FIXED_COLUMNS = 64;

/** Scores are bars relative to the best hit of the answer. */
export function printHits(hits: readonly Hit[]): void {
  const best = Math.max(...hits.map(({ score }) => score), Number.EPSILON);
  printTable(
    [
      { title: '#', align: 'right' },
      { title: 'score' },
      { title: '' },
      { title: 'said (UTC)' },
      { title: 'hash' },
      { title: 'type' },
      { title: 'says' },
    ],
    hits.map(({ hash, grainType, score, fields }, at) => [
      String(at + 1),
      score.toFixed(3),
      bar(score / best, BAR_COLUMNS),
      typeof fields['created_at'] === 'number' ? utc(fields['created_at']).slice(0, 16) : '',
      hash.slice(0, 12),
      grainType,
      clipped(sentenceOf({ grainType, fields }), terminalColumns() - FIXED_COLUMNS),
    ]),
  );
}

export function hitJson({ hash, grainType, score, relevance, fields }: Hit): unknown {
  return { hash, grain_type: grainType, score, ...defined({ relevance }), fields };
}
