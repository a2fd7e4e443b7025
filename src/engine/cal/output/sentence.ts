// A grain as one plain sentence: who, then what. Hits, grains and versions carry it as `text`, and the command line prints
// it. It is made of the fields that the answer shows, so it never tells more than they do. The text of CAL's formats and
// the sentence are made by the same functions.
import { SENTENCE_CHARS_MAX } from '../../base/limits.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';
import type { GrainType } from '../../grain/grain.ts';
import { typeOfSingular } from '../vocabulary/grain-types.ts';
import { trimmedLine } from './clean.ts';
import { asText, fieldValue } from './fields.ts';
import type { CalGrain } from './grain.ts';
import { humanizeRelation } from './humanize.ts';
import { textOfGrain } from './projection.ts';

/** The parts of a grain that a sentence is made of. `fields` are an answer's, with the service's names. */
export type SentenceParts = Pick<CalGrain, 'grainType' | 'fields'>;

/** A grain that may have its sentence already, made of these fields. */
export type SentenceOrParts = SentenceParts & { readonly text?: string | undefined };

/** Functions that make the sentence, by type. */
const SENTENCES: Readonly<Record<GrainType, (grain: CalGrain) => string>> = {
  belief: triple,
  event: (grain) => led(shown(grain.fields, 'speaker') || shown(grain.fields, 'role'), spoken(grain)),
  state: (grain) => led(shown(grain.fields, 'subject'), textOfGrain(grain)),
  workflow: (grain) => led(shown(grain.fields, 'trigger'), textOfGrain(grain)),
  action: (grain) => led(shown(grain.fields, 'tool_name'), textOfGrain(grain)),
  observation: (grain) => led(shown(grain.fields, 'observer_id'), textOfGrain(grain)),
  goal: textOfGrain,
  reasoning: textOfGrain,
  consensus: textOfGrain,
  consent: granted,
};

/**
 * The sentence of a grain of any type, unknown types included: one line of at most SENTENCE_CHARS_MAX characters; an
 * ellipsis ends one that was cut. Never empty: a grain without words shows its type.
 */
export function sentenceOf(grain: SentenceOrParts): string {
  return grain.text ?? (clipped(uncutSentence(grain)) || grain.grainType);
}

/** The sentence as long as it is, with line breaks; empty for a grain without words. */
export function uncutSentence({ grainType, fields }: SentenceParts): string {
  const grain: CalGrain = { grainType, fields, hash: '', createdAtMs: 0, namespace: '', score: 0 };
  const type = typeOfSingular(grainType);
  const said = type === undefined ? textOfGrain(grain) : SENTENCES[type](grain);
  return said.trim() === '' ? triple(grain) : said;
}

/** The text in one line, cut at the bound. Only its beginning is read, because a content can have a megabyte. */
function clipped(text: string): string {
  // Twice the bound: blanks at the start and halves of surrogate pairs do not count.
  const line = trimmedLine(text.slice(0, 2 * SENTENCE_CHARS_MAX));
  if (line.length <= SENTENCE_CHARS_MAX) return line;
  const end = SENTENCE_CHARS_MAX - 1;
  return `${line.slice(0, isHighSurrogate(line.charCodeAt(end - 1)) ? end - 1 : end).trimEnd()}…`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function led(who: string, what: string): string {
  return who === '' || what === '' ? who || what : `${who}: ${what}`;
}

/** Subject, relation and object. The relation is in words: `works_at` becomes `works at`. */
function triple(grain: CalGrain): string {
  const relation = shown(grain.fields, 'relation');
  const object = fieldValue(grain, 'object');
  return joined(
    shown(grain.fields, 'subject'),
    humanizeRelation(relation),
    object === undefined ? '' : typeof object === 'object' ? object.join('; ') : String(object),
  );
}

/** The content of an event; its triple if it has no content. */
function spoken(grain: CalGrain): string {
  const { content, content_blocks: blocks } = grain.fields;
  return (content ?? '') === '' && blocks === undefined ? triple(grain) : textOfGrain(grain);
}

function granted(grain: CalGrain): string {
  const verb = grain.fields['is_withdrawal'] === true ? 'withdraws' : 'grants';
  return joined(
    shown(grain.fields, 'subject_did') || shown(grain.fields, 'user_id'),
    verb,
    textOfGrain(grain),
    joined(verb === 'grants' ? 'to' : 'from', shown(grain.fields, 'grantee_did')),
  );
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}

/** A field as text; empty where it is absent. */
function shown(fields: JsonObject, name: string): string {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return value === undefined || value === null ? '' : asText(value);
}
