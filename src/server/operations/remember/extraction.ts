// Extracts beliefs from the plain statements of a stored text (service contract 8.11) and sets valid_from to its first
// date (8.12). The extraction thread reads the text; the beliefs are stored like any other grain.
import { EngineError } from '../../../engine/base/errors.ts';
import { EXTRACTED_BATCH_MAX, EXTRACTION_CALL_MS } from '../../../engine/base/limits.ts';
import type { AddItem, JsonObject } from '../../../shards/protocol.ts';
import type { CallExtras, Context } from '../../context.ts';
import type { TextTask } from '../../jobs/read-text.ts';
import type { AddOptionsInput } from '../grains/options.ts';

/** The parts of a grain that extraction reads; the grain may not be stored yet. */
export interface Source {
  readonly grainType: string;
  /** Includes `created_at` (see `datedNow`), which relative dates count from. */
  readonly fields: JsonObject;
}

export interface Extracted {
  /** Distinct hashes of the extracted beliefs, new and already stored, in the order of the texts. */
  readonly hashes: readonly string[];
  /** The hashes that the memory held already. */
  readonly duplicates: readonly string[];
  readonly warnings: readonly string[];
  /** True when a text was not read or a belief was not stored. */
  readonly failed: boolean;
}

/** Fields that extracted beliefs inherit from their source. */
const INHERITED = ['user_id', 'namespace', 'session_id', 'tags', 'source_type', 'created_at'] as const;

/** Fields that hold a grain's text, in order of preference. */
const TEXT_FIELDS = ['content', 'description', 'conclusion', 'agreed_content'] as const;

/** True for options that need more than one call on the shard. */
export function wantsMore(options: AddOptionsInput | undefined): boolean {
  return options?.extractEventDate === true || options?.extractMemories === true || options?.autoRelate === true;
}

/** The options with those that the main thread has handled switched off. */
export function moreDone(options: AddOptionsInput | undefined): AddOptionsInput {
  return { ...options, extractEventDate: false, extractMemories: false, autoRelate: false };
}

/** The fields with the current time as `created_at`, unless they set one. */
export function datedNow(fields: JsonObject, context: Context): JsonObject {
  const { created_at: given } = fields;
  if (given !== undefined && given !== null) return fields;
  return { ...fields, created_at: Math.floor(context.services.clock.nowMs() / 1000) };
}

/** A grain's text, or else its triple; '' without either. */
export function textOf({ fields }: Source): string {
  for (const name of TEXT_FIELDS) {
    const text = fields[name];
    if (typeof text === 'string' && text !== '') return text;
  }
  const triple = [fields['subject'], fields['relation'], fields['object']];
  return triple.filter((part) => typeof part === 'string').join(' ');
}

function taskOf(source: Source, context: Context, wants: TextTask['wants']): TextTask {
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

/**
 * The fields with the text's first date as `valid_from`, unless they have one or their `valid_to` is earlier. Rejects
 * with the errors of `Services.readText`.
 */
export async function withEventDate(source: Source, context: Context): Promise<JsonObject> {
  const { valid_from: from, valid_to: to } = source.fields;
  if (from !== undefined && from !== null) return source.fields;
  const { dateMs } = await context.services.readText(taskOf(source, context, 'date'));
  if (dateMs === undefined) return source.fields;
  const seconds = Math.floor(dateMs / 1000);
  return typeof to === 'number' && to < seconds ? source.fields : { ...source.fields, valid_from: seconds };
}

/** The time limit for reading texts, and the options of each call that stores beliefs. */
export interface Pace {
  /** Milliseconds since 1970. */
  readonly readUntilMs: number;
  readonly extras: () => CallExtras;
}

/** The pace while the caller waits: reserves a fifth of the remaining time, at most STORE_MS, for storing. */
export function withinRequest(context: Context, purpose: string | undefined): Pace {
  const left = context.deadlineMs - context.services.clock.nowMs();
  return {
    readUntilMs: context.deadlineMs - Math.min(STORE_MS, left / 5),
    extras: () => (purpose === undefined ? {} : { purpose }),
  };
}

/** The pace after the answer: no limit for reading, and a deadline of its own for each call. */
export function afterAnswer(context: Context, purpose: string | undefined): Pace {
  const { clock } = context.services;
  return {
    readUntilMs: Number.POSITIVE_INFINITY,
    extras: () => ({
      deadlineMs: clock.nowMs() + EXTRACTION_CALL_MS,
      purpose,
    }),
  };
}

const STORE_MS = 5_000;

/**
 * Reads the sources one after another and stores the extracted beliefs. Failures become warnings, because the sources
 * are stored already; only bugs reject.
 */
export async function extractFrom(
  sources: readonly (Source & { readonly hash: string })[],
  context: Context,
  { readUntilMs, extras }: Pace,
): Promise<Extracted> {
  const hashes = new Set<string>();
  const duplicates = new Set<string>();
  const problems = new Problems();
  let items: AddItem[] = [];
  const store = async (): Promise<void> => {
    const storing = items;
    items = [];
    if (storing.length === 0) return;
    await problems.noted(async () => {
      const { outcomes } = await context.call('addBatch', { items: storing }, extras());
      for (const outcome of outcomes) {
        if ('error' in outcome) problems.note(outcome.error.message);
        else {
          if (outcome.duplicate) for (const warning of outcome.warnings) problems.addNotice(warning);
          if (outcome.duplicate && !hashes.has(outcome.hash)) duplicates.add(outcome.hash);
          hashes.add(outcome.hash);
        }
      }
    });
  };
  for (const [index, source] of sources.entries()) {
    if (context.services.clock.nowMs() >= readUntilMs) {
      problems.note(`no time was left for ${sources.length - index} of ${sources.length} grains`);
      break;
    }
    await problems.noted(async () => {
      const { beliefs, left = [] } = await context.services.readText(taskOf(source, context, 'beliefs'));
      for (const text of left) problems.addNotice(text);
      for (const { subject, relation, object, confidence, validFromMs } of beliefs) {
        const says = { subject, relation, object };
        if (isItself(source, says)) continue;
        const dated = validFromMs === undefined ? {} : { valid_from: Math.floor(validFromMs / 1000) };
        const sure = Math.min(confidence, surenessOf(source));
        const fields = { ...inherited(source), ...says, confidence: sure, derived_from: source.hash, ...dated };
        items.push({ grainType: 'belief', fields, event: 'memory.extracted' });
      }
    });
    if (items.length >= EXTRACTED_BATCH_MAX) await store();
  }
  await store();
  const count = [...hashes].filter((hash) => !duplicates.has(hash)).length;
  if (count > 0)
    await problems.noted(() => context.call('note', { event: 'memory.extracted', details: { count } }, extras()));
  return { hashes: [...hashes], duplicates: [...duplicates], warnings: problems.warnings, failed: problems.any };
}

function inherited({ fields }: Source): JsonObject {
  const taken: JsonObject = {};
  for (const name of INHERITED) {
    const value = fields[name];
    if (value !== undefined && value !== null) taken[name] = value;
  }
  return taken;
}

/** Upper bound of an extracted belief's confidence: that of its source. */
function surenessOf({ fields: { confidence } }: Source): number {
  return typeof confidence === 'number' ? confidence : 1;
}

/** True when the extracted belief only repeats the belief that it was read from. */
function isItself({ grainType, fields }: Source, says: Readonly<Record<string, string>>): boolean {
  return grainType === 'belief' && Object.entries(says).every(([name, text]) => fields[name] === text);
}

/** Collects distinct problems, so that a thousand grains with the same problem cause one warning. */
class Problems {
  readonly #texts = new Set<string>();
  readonly #notices = new Set<string>();
  #hasMore = false;

  note(text: string): void {
    this.#add(this.#texts, text);
  }

  /** Adds a warning that is no failure: a retry would give the same result. */
  addNotice(text: string): void {
    this.#add(this.#notices, text);
  }

  #add(texts: Set<string>, text: string): void {
    if (texts.size < PROBLEMS_MAX || texts.has(text)) texts.add(text);
    else this.#hasMore = true;
  }

  /** Runs `work` and notes an EngineError as a problem. */
  async noted(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.note(error.message);
    }
  }

  get any(): boolean {
    return this.#texts.size > 0;
  }

  get warnings(): string[] {
    return [...this.#texts, ...this.#notices, ...(this.#hasMore ? ['further problems were omitted'] : [])].map(
      (text) => `extraction: ${text}`,
    );
  }
}

const PROBLEMS_MAX = 10;
