// Explains why a grain is in the answer, by the names of the matching clauses. The same for all grains of a statement.
import { fieldConditions, type Recall } from '../ast.ts';

export function whyOf(recall: Recall): string {
  const reasons: string[] = [];
  if (recall.grainType !== undefined) reasons.push(`is one of the ${recall.grainType.word}`);
  if (recall.my === true) reasons.push('belongs to the session’s user');
  if (recall.about !== undefined) reasons.push('is about what was asked');
  if (recall.like !== undefined) reasons.push('is like the text');
  if (recall.since !== undefined || recall.between !== undefined) reasons.push('is from the requested time');
  if (recall.thread !== undefined) reasons.push('belongs to the conversation');
  if (recall.contradictions === true) reasons.push('is contested');
  const fields = [...new Set(fieldConditions(recall.where).map(({ field }) => field.word))];
  if (fields.length > 0) reasons.push(`meets the conditions on ${fields.join(', ')}`);
  if (recall.recent !== undefined) reasons.push('is among the newest');
  return reasons.length === 0 ? 'the query sets no condition' : reasons.join('; ');
}
