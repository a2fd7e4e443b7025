// Explains a score in plain English. Every number in the sentence comes from the score breakdown.
import { CHANGES, type Change } from '../../calls/recall.ts';
import { type StageBreakdown, type StageHit, TEXT_TERMS, type TextTerm } from './hit.ts';

const TERMS: Readonly<Record<TextTerm, string>> = {
  bm25: 'its words',
  phrase: 'words that stand side by side as in the query',
  vector: 'its meaning',
  near: 'what was said right before and after it',
  answer: 'answering a question that matches',
  session: 'the best match of its session',
  pooled: 'the words of its whole session',
  role: 'not being said by the assistant',
  speaker: 'being said by somebody whom the query names',
  time: 'naming a time, which the query asks for',
  self: 'speaking in the first person',
};

const REASONS: Readonly<Record<Change, (amount: number) => string>> = {
  recencyDecay: () => 'for its age',
  temporalDecayBoost: () => 'for being near the target date',
  targetDateProximity: () => 'for its distance from the target date',
  sessionAffinity: (amount) =>
    amount === 0 ? 'as it is not of the namespace that leads' : 'for being of the namespace that leads',
  subjectAffinity: (amount) =>
    amount === 0 ? 'as it is not about the subject that leads' : 'for being about the subject that leads',
  interferencePenalty: () => 'since it is retracted or a newer grain contradicts it',
  supersessionDemotion: () => 'since a later version replaced it',
};

const DIGITS = 3;

/** "Score 0.612: 0.762 from 0.700 for its words and 0.062 for …; -0.150 since a later version replaced it." */
export function explain({
  score,
  breakdown,
  recallSource,
}: Pick<StageHit, 'score' | 'breakdown' | 'recallSource'>): string {
  const changes = CHANGES.flatMap((stage) => {
    const amount = breakdown.changes[stage];
    return amount === undefined ? [] : [`${signed(amount)} ${REASONS[stage](amount)}`];
  });
  const added = { primary: '', expansion: 'added by an expansion', census: 'added by the census of sessions' };
  const origin = added[recallSource] === '' ? [] : [added[recallSource]];
  return `Score ${number(score)}: ${[baseText(breakdown), ...changes, ...origin].join('; ')}.`;
}

function baseText({ base, rrf, legs, bm25Rank, vectorScore, reranked, terms }: StageBreakdown): string {
  const inform = [
    ...(bm25Rank === undefined ? [] : [`rank ${bm25Rank} by words`]),
    ...(vectorScore === undefined ? [] : [`cosine ${number(vectorScore)} with the query`]),
  ];
  const aside = inform.length === 0 ? '' : ` (${inform.join(', ')})`;
  if (reranked === true) return `${number(base)} for the place that the model gave it${aside}`;
  if (rrf !== undefined) {
    const from = legs === undefined || legs.count < 2 ? '' : ` for its ranks in ${legs.count} rankings`;
    return `${number(base)}${from}${aside}`;
  }
  const parts = TEXT_TERMS.flatMap((term) => {
    const amount = terms?.[term] ?? 0;
    const reason =
      term === 'vector' && vectorScore === undefined ? 'a typical similarity, as it has no vector' : TERMS[term];
    return amount === 0 ? [] : [`${number(amount)} for ${reason}`];
  });
  return parts.length === 0 ? `${number(base)}${aside}` : `${parts.join(', ')}${aside}`;
}

function number(value: number): string {
  return value.toFixed(DIGITS);
}

function signed(value: number): string {
  return value < 0 ? number(value) : `+${number(value)}`;
}
