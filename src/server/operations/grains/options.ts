// The options of an add. An option that this build does not support or could not apply causes a warning.
import { type Static, Type } from '../type.ts';

export const AddOptionsInput = Type.Object({
  extractEventDate: Type.Optional(
    Type.Boolean({
      description: 'Whether the first date in the text sets valid_from where that is unset; the default is false.',
      default: false,
    }),
  ),
  autoRelate: Type.Optional(
    Type.Boolean({
      description:
        'Whether up to 5 similar grains of the same user and namespace become related_to; the default is false.',
      default: false,
    }),
  ),
  extractMemories: Type.Optional(
    Type.Boolean({ description: 'Whether beliefs are extracted from the text; the default is false.', default: false }),
  ),
  sync: Type.Optional(
    Type.Boolean({
      description: 'Whether the answer waits until the indexes are sealed; the default is false.',
      default: false,
    }),
  ),
});
export type AddOptionsInput = Static<typeof AddOptionsInput>;

const LATER = [
  ['extractEventDate', 'extract_event_date'],
  ['autoRelate', 'auto_relate'],
  ['extractMemories', 'extract_memories'],
] as const;

export function optionWarnings(options: AddOptionsInput | undefined): string[] {
  return LATER.filter(([name]) => options?.[name] === true).map(
    ([, outside]) => `option ${outside} is not in this build and was ignored`,
  );
}
