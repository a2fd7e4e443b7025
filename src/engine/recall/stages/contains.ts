// Conditions on a grain's text that no index serves: substrings of the subject and of the object.

import { toNfc } from '../../base/nfc.ts';
import type { GrainView } from '../../calls/grain.ts';
import type { RecallOptions } from '../../calls/recall.ts';
import { textField } from './hit.ts';

/** The combined test for subject_contains and object_contains; undefined if neither is given. */
export function containsTest({
  subjectContains = '',
  objectContains = '',
}: RecallOptions): ((grain: GrainView) => boolean) | undefined {
  if (subjectContains === '' && objectContains === '') return undefined;
  const subject = folded(subjectContains);
  const object = folded(objectContains);
  const holds = (grain: GrainView, field: string, part: string): boolean =>
    part === '' || folded(textField(grain, field) ?? '').includes(part);
  return (grain) => holds(grain, 'subject', subject) && holds(grain, 'object', object);
}

function folded(text: string): string {
  return toNfc(text).toLowerCase();
}
