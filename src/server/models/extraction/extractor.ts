// The extractor that asks a model for the facts of texts, under the policy of their memory and within its budget.
import { type Clock, steadyMs } from '../../../engine/base/clock.ts';
import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import {
  EXTRACT_BELIEFS_MAX,
  EXTRACT_DATE_LOOKUPS_MAX,
  EXTRACT_MODEL_TOKENS_MAX,
  EXTRACT_TEXT_CHARS_MAX,
} from '../../../engine/base/limits.ts';
import type { ExtractContext, ExtractedBelief, Extraction } from '../../../engine/text/extract/extraction.ts';
import type { Extractor } from '../../../engine/text/extract/extractor.ts';
import type { MemoryRecord } from '../../control/records.ts';
import type { TextOutcome, TextTask } from '../../jobs/read-text.ts';
import type { LanguageChoice, LanguageModels } from '../language.ts';
import { type Persons, personsOf } from '../persons.ts';
import type { Choosing } from '../providers.ts';
import { type BudgetLimits, ExtractionBudget } from './budget.ts';
import { type GroundedFact, grounded } from './grounding.ts';
import { ANSWER_SCHEMA, type ClaimedFact, type Piece, requestsOf, wordsOf } from './request.ts';

export interface TextInContext {
  readonly text: string;
  readonly context: ExtractContext;
}

/** An extractor of a model. It rejects with LLM-, POL- and LIM- codes when the model reads nothing. */
export interface ModelExtractor extends Extractor {
  /** Asks for several texts at once. The extractions are in the order of the texts. */
  extractAll(texts: readonly TextInContext[]): Promise<readonly Extraction[]>;
}

/** Counts since the start. */
export interface ExtractionCounts {
  /** Calls of models that gave a usable answer, and those that did not or were not allowed. */
  readonly answered: number;
  readonly failed: number;
  /** Facts of models that were kept, and those that were dropped because their text does not state them. */
  readonly kept: number;
  readonly dropped: number;
}

/** Confidence of extracted facts, as service.md specifies for extraction. */
const CONFIDENCE = 0.9;

export class ExtractionModels {
  readonly #providers: Choosing;
  readonly #models: LanguageModels;
  readonly #readText: (task: TextTask) => Promise<TextOutcome>;
  readonly #clock: Clock;
  readonly #budget: ExtractionBudget;
  readonly #counts = { answered: 0, failed: 0, kept: 0, dropped: 0 };

  constructor(parts: {
    readonly providers: Choosing;
    readonly models: LanguageModels;
    /** Finds dates. */
    readonly readText: (task: TextTask) => Promise<TextOutcome>;
    readonly clock: Clock;
    readonly limits: BudgetLimits;
  }) {
    this.#providers = parts.providers;
    this.#models = parts.models;
    this.#readText = parts.readText;
    this.#clock = parts.clock;
    this.#budget = new ExtractionBudget(parts.limits, () => parts.clock.nowMs());
  }

  get counts(): ExtractionCounts {
    return { ...this.#counts };
  }

  /** The extractor for a memory's texts, which ends by `untilMs`, a time of `steadyMs`; undefined when no model has the role. */
  of(memory: MemoryRecord, untilMs: number): ModelExtractor | undefined {
    if (!this.#providers.has('extraction')) return undefined;
    const choice = this.#models.resolve('extraction');
    const extractAll = (texts: readonly TextInContext[]): Promise<readonly Extraction[]> =>
      this.#extracted(texts, choice, { memory, untilMs });
    return {
      name: `${choice.provider}/${choice.model}`,
      extractAll,
      extract: async (text, context) => (await extractAll([{ text, context }]))[0] ?? { beliefs: [], left: [] },
    };
  }

  async #extracted(
    texts: readonly TextInContext[],
    choice: LanguageChoice,
    limits: { readonly memory: MemoryRecord; readonly untilMs: number },
  ): Promise<readonly Extraction[]> {
    const found = texts.map(({ context, text }) => new Found(context, text.length > EXTRACT_TEXT_CHARS_MAX));
    const read = texts.map(({ text }) => text.slice(0, EXTRACT_TEXT_CHARS_MAX));
    for (const pieces of requestsOf(read)) {
      const persons = personsOf(pieces.map(({ of }) => texts[of]!.context));
      for (const fact of await this.#asked(pieces, choice, { ...limits, persons })) {
        // A fact of no text counts as one of the first.
        const piece = pieces[fact.text - 1] ?? { of: pieces[0]?.of ?? 0, text: '' };
        if (found[piece.of]?.take(fact, piece.text) === true) this.#counts.kept += 1;
        else this.#counts.dropped += 1;
      }
    }
    return Promise.all(found.map((one) => one.extraction(this.#readText)));
  }

  async #asked(
    pieces: readonly Piece[],
    choice: LanguageChoice,
    {
      memory,
      persons,
      untilMs,
    }: { readonly memory: MemoryRecord; readonly persons: Persons; readonly untilMs: number },
  ): Promise<readonly ClaimedFact[]> {
    const { system, user } = wordsOf(pieces);
    try {
      const timeoutMs = Math.floor(untilMs - steadyMs(this.#clock));
      if (timeoutMs < 1) throw new EngineError('LIM-E001', 'the request had no time left for the model');
      this.#budget.take(memory.number, user.length);
      const { object } = await this.#models.generateObject(choice, {
        memory,
        persons,
        system,
        messages: [{ role: 'user', text: user.toWellFormed() }],
        temperature: 0,
        maxTokens: EXTRACT_MODEL_TOKENS_MAX,
        timeoutMs,
        signal: NEVER,
        schema: ANSWER_SCHEMA,
      });
      this.#counts.answered += 1;
      this.#budget.succeeded();
      const { facts } = object as { readonly facts: readonly ClaimedFact[] }; // it fits the schema
      this.#counts.dropped += Math.max(0, facts.length - EXTRACT_BELIEFS_MAX);
      // Checking thousands of facts would hold the thread.
      return facts.slice(0, EXTRACT_BELIEFS_MAX);
    } catch (error) {
      this.#counts.failed += 1;
      if (error instanceof EngineError && error.code === 'LLM-E002') this.#budget.failed();
      throw error;
    }
  }
}

/** The timeout ends a call; callers do not cancel it. */
const NEVER = new AbortController().signal;

/** The facts of one text. */
class Found {
  readonly #context: ExtractContext;
  readonly #isCut: boolean;
  readonly #facts = new Map<string, GroundedFact>();
  #dropped = 0;
  #isFull = false;

  constructor(context: ExtractContext, isCut: boolean) {
    this.#context = context;
    this.#isCut = isCut;
  }

  /** False when the text does not state the fact. */
  take(claimed: ClaimedFact, piece: string): boolean {
    const { speaker, userId } = this.#context;
    const fact = grounded(claimed, piece, speaker ?? userId ?? 'user');
    if (fact === undefined) {
      this.#dropped += 1;
      return false;
    }
    const key = JSON.stringify([fact.subject, fact.relation, fact.object.toLowerCase()]);
    if (this.#facts.size < EXTRACT_BELIEFS_MAX || this.#facts.has(key)) this.#facts.set(key, fact);
    else this.#isFull = true;
    return true;
  }

  async extraction(readText: (task: TextTask) => Promise<TextOutcome>): Promise<Extraction> {
    const beliefs: ExtractedBelief[] = [];
    let dates = 0;
    for (const { subject, relation, object, when } of this.#facts.values()) {
      const validFromMs =
        when === undefined || ++dates > EXTRACT_DATE_LOOKUPS_MAX ? undefined : await this.#dateOf(when, readText);
      beliefs.push(defined({ subject, relation, object, confidence: CONFIDENCE, validFromMs }));
    }
    const left: string[] = [];
    if (this.#dropped > 0) left.push(`${this.#dropped} facts of the model were dropped: the text does not state them`);
    if (this.#isFull) left.push(`only the first ${EXTRACT_BELIEFS_MAX} facts were taken`);
    if (this.#isCut) left.push(`only the first ${EXTRACT_TEXT_CHARS_MAX} characters were read`);
    return { beliefs, left };
  }

  /** A date in the past. Without one the fact is stored undated. */
  async #dateOf(text: string, readText: (task: TextTask) => Promise<TextOutcome>): Promise<number | undefined> {
    const { nowMs } = this.#context;
    try {
      const { dateMs } = await readText({ text, wants: 'date', nowMs });
      return dateMs === undefined || dateMs > nowMs ? undefined : dateMs;
    } catch (error) {
      if (error instanceof EngineError) return undefined;
      throw error;
    }
  }
}
