// The options of an add. What a later build brings, and what was not done where it was asked for, is warned about, never
// silently dropped.
import { type Static, Type } from '../type.ts';

export const AddOptionsInput = Type.Object({
  extractEventDate: Type.Optional(Type.Boolean()),
  autoRelate: Type.Optional(Type.Boolean()),
  extractMemories: Type.Optional(Type.Boolean()),
  sync: Type.Optional(Type.Boolean()),
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
