// Extracts beliefs from the plain statements of a stored text (service contract 8.11) and sets valid_from to its first
// date (8.12). A model or the extraction thread reads the text; the beliefs are stored like any other grain.

import { steadyMs } from '../../../engine/base/clock.ts';
import { defined } from '../../../engine/base/defined.ts';
import { EXTRACTED_BATCH_MAX, EXTRACTION_CALL_MS } from '../../../engine/base/limits.ts';
import { SOURCE_USERS } from '../../../engine/grain/api/source-users.ts';
import type { AddItem, JsonObject, MemoryMethod } from '../../../shards/protocol.ts';
import type { CallExtras, Context } from '../../context.ts';
import type { AddOptionsInput } from '../grains/options.ts';
import { factsIn } from './facts.ts';
import { Problems } from './problems.ts';
import { type Source, taskOf } from './source.ts';

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
const INHERITED = ['user_id', 'namespace', 'session_id', 'tags', 'source_type', 'created_at', SOURCE_USERS] as const;

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
  /** A time of `steadyMs`. */
  readonly readUntilMs: number;
  /** Of the next call, which is made once. */
  readonly extras: (method: MemoryMethod) => CallExtras;
}

/** The pace while the caller waits: reserves a fifth of the remaining time, at most STORE_MS, for storing. */
export function withinRequest(context: Context, purpose: string | undefined): Pace {
  const left = context.deadlineMs - steadyMs(context.services.clock);
  return {
    readUntilMs: context.deadlineMs - Math.min(STORE_MS, left / 5),
    extras: () => defined({ purpose }),
  };
}

/** The pace after the answer: no limit for reading, and a deadline of its own for each call. */
export function afterAnswer(context: Context, purpose: string | undefined): Pace {
  const { clock } = context.services;
  return {
    readUntilMs: Number.POSITIVE_INFINITY,
    extras: () => ({
      deadlineMs: steadyMs(clock) + EXTRACTION_CALL_MS,
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
      const { outcomes } = await context.call('addBatch', { items: storing }, extras('addBatch'));
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
  for await (const { source, facts } of factsIn(sources, context, { readUntilMs, problems })) {
    for (const { subject, relation, object, confidence, validFromMs } of facts.beliefs) {
      const says = { subject, relation, object };
      if (isItself(source, says)) continue;
      const dated = validFromMs === undefined ? {} : { valid_from: Math.floor(validFromMs / 1000) };
      const by = facts.extractor === undefined ? {} : { extractor: facts.extractor };
      const sure = Math.min(confidence, surenessOf(source));
      const fields = { ...inherited(source), ...says, confidence: sure, derived_from: source.hash, ...dated, ...by };
      items.push({ grainType: 'belief', fields, event: 'memory.extracted' });
    }
    if (items.length >= EXTRACTED_BATCH_MAX) await store();
  }
  await store();
  const count = [...hashes].filter((hash) => !duplicates.has(hash)).length;
  if (count > 0)
    await problems.noted(() => context.call('note', { event: 'memory.extracted', details: { count } }, extras('note')));
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
