// The text of a grain that is read for facts or dates.
import type { JsonObject } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import type { TextTask } from '../../jobs/read-text.ts';

/** The parts of a grain that extraction reads; the grain may not be stored yet. */
export interface Source {
  readonly grainType: string;
  /** Includes `created_at` (see `datedNow`), which relative dates count from. */
  readonly fields: JsonObject;
}

/** Fields that hold a grain's text, in order of preference. */
const TEXT_FIELDS = ['content', 'description', 'conclusion', 'agreed_content'] as const;

/** A grain's text, or else its triple; '' without either. */
export function textOf({ fields }: Source): string {
  for (const name of TEXT_FIELDS) {
    const text = fields[name];
    if (typeof text === 'string' && text !== '') return text;
  }
  const triple = [fields['subject'], fields['relation'], fields['object']];
  return triple.filter((part) => typeof part === 'string').join(' ');
}

/** The job of a thread for a source. */
export function taskOf(source: Source, context: Context, wants: TextTask['wants']): TextTask {
  const { created_at: createdAt, user_id: user } = source.fields;
  const speaker = speakerOf(source);
  const userId = typeof user === 'string' && user !== '' ? user : context.userId;
  return {
    text: textOf(source),
    wants,
    nowMs: typeof createdAt === 'number' ? createdAt * 1000 : context.services.clock.nowMs(),
    speaker,
    userId,
  };
}

/** The speaker of the text; the user by default. */
function speakerOf({ fields: { speaker, role } }: Source): string | undefined {
  if (typeof speaker === 'string' && speaker !== '') return speaker;
  return typeof role === 'string' && role !== 'user' && role !== '' ? role : undefined;
}
