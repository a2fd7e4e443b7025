// What a stored text says plainly becomes beliefs (service contract 8.11), and its first date the time from which it
// holds (8.12). The text is read in the extraction thread; the beliefs are stored like any others.
import { EngineError } from '../../../engine/base/errors.ts';
import { EXTRACTED_BATCH_MAX, EXTRACTION_CALL_MS } from '../../../engine/base/limits.ts';
import type { AddItem, JsonObject } from '../../../shards/protocol.ts';
import type { CallExtras, Context } from '../../context.ts';
import type { TextTask } from '../../jobs/read-text.ts';
import type { AddOptionsInput } from '../grains/options.ts';

/** A grain that is stored, or about to be, as far as extraction looks at it. */
export interface Source {
  readonly grainType: string;
  /** `created_at` is set (`datedNow`): relative dates are seen from there. */
  readonly fields: JsonObject;
}

export interface Extracted {
  /** Distinct, in the order of the texts: of what was stored, and of what was there already. */
  readonly hashes: readonly string[];
  /** Those of them that were there already. */
  readonly duplicates: readonly string[];
  readonly warnings: readonly string[];
  /** True when some text was not read, or some belief not stored. */
  readonly failed: boolean;
}

/** What extracted beliefs take over from their source. */
const INHERITED = ['user_id', 'namespace', 'session_id', 'tags', 'source_type', 'created_at'] as const;

/** Fields that hold a grain's own words, the first that is there. */
const TEXT_FIELDS = ['content', 'description', 'conclusion', 'agreed_content'] as const;

/** True for options that are more than one call on the shard. */
export function wantsMore(options: AddOptionsInput | undefined): boolean {
  return options?.extractEventDate === true || options?.extractMemories === true || options?.autoRelate === true;
}

/** The options without what was done for them. */
export function moreDone(options: AddOptionsInput | undefined): AddOptionsInput {
  return { ...options, extractEventDate: false, extractMemories: false, autoRelate: false };
}

/** The fields with the present as `created_at`, unless they say another time. */
export function datedNow(fields: JsonObject, context: Context): JsonObject {
  const { created_at: given } = fields;
  if (given !== undefined && given !== null) return fields;
  return { ...fields, created_at: Math.floor(context.services.clock.nowMs() / 1000) };
}

/** The words that a grain brings: its text, or its triple; '' for none. */
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
    ...(speaker === undefined ? {} : { speaker }),
    ...(userId === undefined ? {} : { userId }),
  };
}

/** Whose words these are; the user's when nothing says otherwise. */
function speakerOf({ fields: { speaker, role } }: Source): string | undefined {
  if (typeof speaker === 'string' && speaker !== '') return speaker;
  return typeof role === 'string' && role !== 'user' && role !== '' ? role : undefined;
}

/**
 * The fields with the text's first date as `valid_from`, unless they have one, or a `valid_to` before it. Rejects as
 * `Services.readText` does.
 */
export async function withEventDate(source: Source, context: Context): Promise<JsonObject> {
  const { valid_from: from, valid_to: to } = source.fields;
  if (from !== undefined && from !== null) return source.fields;
  const { dateMs } = await context.services.readText(taskOf(source, context, 'date'));
  if (dateMs === undefined) return source.fields;
  const seconds = Math.floor(dateMs / 1000);
  return typeof to === 'number' && to < seconds ? source.fields : { ...source.fields, valid_from: seconds };
}

/** How long texts are read, and what goes with each call that stores what they say. */
export interface Pace {
  /** Milliseconds since 1970. */
  readonly readUntilMs: number;
  readonly extras: () => CallExtras;
}

/** The pace of what its caller waits for: some of the time that is left is for storing. */
export function withinRequest(context: Context, purpose: string | undefined): Pace {
  const left = context.deadlineMs - context.services.clock.nowMs();
  return {
    readUntilMs: context.deadlineMs - Math.min(STORE_MS, left / 5),
    extras: () => (purpose === undefined ? {} : { purpose }),
  };
}

/** The pace of what nobody waits for: each call has its own time from when it is made. */
export function afterAnswer(context: Context, purpose: string | undefined): Pace {
  const { clock } = context.services;
  return {
    readUntilMs: Number.POSITIVE_INFINITY,
    extras: () => ({
      deadlineMs: clock.nowMs() + EXTRACTION_CALL_MS,
      ...(purpose === undefined ? {} : { purpose }),
    }),
  };
}

const STORE_MS = 5_000;

/**
 * Reads these sources, one after the other, and stores what they say. What went wrong is a warning, as the sources
 * themselves are stored; rejects with bugs alone.
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
          if (outcome.duplicate) for (const warning of outcome.warnings) problems.tell(warning);
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
      for (const text of left) problems.tell(text);
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

/** What is read from a grain is no surer than the grain. */
function surenessOf({ fields: { confidence } }: Source): number {
  return typeof confidence === 'number' ? confidence : 1;
}

/** A belief that says no more than the belief it was read from. */
function isItself({ grainType, fields }: Source, says: Readonly<Record<string, string>>): boolean {
  return grainType === 'belief' && Object.entries(says).every(([name, text]) => fields[name] === text);
}

/** Each once, so that a thousand grains with the same trouble make one warning. */
class Problems {
  readonly #texts = new Set<string>();
  readonly #told = new Set<string>();
  #hasMore = false;

  note(text: string): void {
    this.#add(this.#texts, text);
  }

  /** What is no failure: asked again, it would come out the same. */
  tell(text: string): void {
    this.#add(this.#told, text);
  }

  #add(texts: Set<string>, text: string): void {
    if (texts.size < PROBLEMS_MAX || texts.has(text)) texts.add(text);
    else this.#hasMore = true;
  }

  /** Runs `work`; what it is refused is noted. */
  async noted(work: () => Promise<void>): Promise<void> {
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
    return [...this.#texts, ...this.#told, ...(this.#hasMore ? ['there is more of this kind'] : [])].map(
      (text) => `extraction: ${text}`,
    );
  }
}

const PROBLEMS_MAX = 10;
