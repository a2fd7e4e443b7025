// Finds the search texts of a recall that are known before it runs.
import { fieldConditions, type Recall } from '../ast.ts';
import { commonField, typeField } from '../vocabulary/fields.ts';

/** The search text of a recall, known before it runs. */
export interface SearchTexts {
  readonly text: string | undefined;
  /** Searched only if the subject of ABOUT matches no grain. */
  readonly fallback: string | undefined;
}

export function searchTextsOf(recall: Recall): SearchTexts {
  const texts: string[] = [];
  if (recall.like !== undefined) texts.push(recall.like);
  for (const { field, ...condition } of fieldConditions(recall.where)) {
    const known = commonField(field.word) ?? typeField(field.word)?.field;
    if (known?.search === true && condition.op === '=' && condition.value.kind === 'string')
      texts.push(condition.value.value);
  }
  return {
    text: texts.length === 0 ? undefined : texts.join(' '),
    fallback: recall.about === undefined ? undefined : [recall.about, ...texts].join(' '),
  };
}
