// The context of an event, taken from its fields (spec: ranking of text, section 2): speaker, role, and the turn flags
// of its text. The index stores it with the grain.

import { SPEAKER_CHARS_MAX } from '../base/limits.ts';
import { searchText } from '../grain/api/text.ts';
import type { Grain } from '../grain/grain.ts';
import { asks, leadingName, wordCues } from '../index/context/cues.ts';
import { ROLES, type Role, type Turn } from '../index/context/turn.ts';

/** Undefined for a grain that is not an event. */
export function turnOf(grain: Pick<Grain, 'type' | 'fields'>): Turn | undefined {
  if (grain.type !== 'event') return undefined;
  const { content, speaker, role } = grain.fields;
  const text = typeof content === 'string' && content !== '' ? content : searchText(grain);
  return {
    asks: asks(text),
    ...wordCues(text),
    role: roleNumber(role),
    speaker: speakerKey(speaker, text),
  };
}

function roleNumber(role: unknown): Role {
  if (typeof role !== 'string' || role === '') return ROLES.none;
  switch (role.toLowerCase()) {
    case 'user':
      return ROLES.user;
    case 'assistant':
      return ROLES.assistant;
    case 'system':
      return ROLES.system;
    case 'tool':
      return ROLES.tool;
    default:
      return ROLES.other;
  }
}

/**
 * The speaker in the field, or a name at the beginning of the text. That name keeps its colon, because it may be a
 * heading.
 */
function speakerKey(field: unknown, text: string): string | undefined {
  const named = typeof field === 'string' ? keyForm(field) : '';
  if (named !== '') return named;
  const leading = leadingName(text);
  return leading === undefined ? undefined : `${keyForm(leading)}:`;
}

function keyForm(name: string): string {
  return name.slice(0, SPEAKER_CHARS_MAX).toWellFormed().normalize('NFKC').trim().toLowerCase();
}
