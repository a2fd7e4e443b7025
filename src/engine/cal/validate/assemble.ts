// Checks ASSEMBLE: its sources, labels, budget, priority, format, stream and options.
import type { Assemble, Span, StreamOptions } from '../ast.ts';
import { CalError } from '../errors.ts';
import { didYouMean } from '../parser/spelling.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { STREAM_EVENTS } from '../vocabulary/words.ts';
import { checkFormat } from './formats.ts';
import { checkOptions } from './options.ts';
import { checkRecall, typeOf } from './recall.ts';
import type { Scope } from './scope.ts';
import { checkSetOperation } from './sets.ts';
import { expectGrains } from './stages.ts';

export function checkAssemble(assemble: Assemble, scope: Scope): void {
  const { sources, budget, format, stream, at } = assemble;
  checkLength('the name', assemble.name, CAL_LIMITS.contextNameMax, assemble);
  checkLength('FOR', assemble.for, CAL_LIMITS.intentMax, assemble);
  if (sources.length === 0) throw new CalError('CAL-E002', 'ASSEMBLE has no source', { at, expected: ['a source'] });
  if (sources.length > CAL_LIMITS.sourcesMax)
    throw new CalError('CAL-E032', `ASSEMBLE has ${sources.length} sources; the limit is ${CAL_LIMITS.sourcesMax}`, {
      at: sources[CAL_LIMITS.sourcesMax]?.at,
    });
  checkLabels(assemble);
  for (const { from, at } of sources) {
    if (from.kind === 'parameter') scope.expect(from, ['grains'], 'a source of ASSEMBLE must return grains');
    else if (from.kind === 'set_op') {
      scope.extensions.use('set_source', from.at);
      expectGrains(checkSetOperation(from, scope), 'a source of ASSEMBLE must return grains', at);
    } else expectGrains(checkRecall(from, scope), 'a source of ASSEMBLE must return grains', at);
  }
  if (budget !== undefined) {
    if (budget.unit === undefined) scope.extensions.use('budget_unit', budget.at);
    checkBudget(budget);
  }
  if (format !== undefined) checkFormat(format);
  if (stream !== undefined) checkStream(stream);
  // The grains of a LET can have any type. A field is refused only if no source can have it.
  const types = sources.map(({ from }) => (from.kind === 'recall' ? typeOf(from) : undefined));
  checkOptions(assemble.with, { types, scope });
}

/** The labels of the sources in the order of FROM. A source without one gets `s` and its index: `s0`. */
export function sourceLabels({ sources }: Pick<Assemble, 'sources'>): readonly string[] {
  return sources.map(({ label }, index) => label?.word ?? `s${index}`);
}

function checkLabels(assemble: Assemble): void {
  const labels = sourceLabels(assemble);
  const seen = new Set<string>();
  for (const [index, label] of labels.entries()) {
    if (seen.has(label))
      throw new CalError('CAL-E034', `two sources have the label ${label}`, {
        at: assemble.sources[index]!.label?.at ?? assemble.sources[index]!.at,
      });
    seen.add(label);
  }
  const ranked = new Set<string>();
  for (const { word, at } of assemble.priority) {
    if (!seen.has(word)) {
      const suggestion = didYouMean(word, labels);
      throw new CalError('CAL-E035', `PRIORITY names ${word}, but no source has this label`, {
        at,
        validValues: labels,
        suggestion,
      });
    }
    if (ranked.has(word)) throw new CalError('CAL-E034', `PRIORITY names ${word} twice`, { at });
    ranked.add(word);
  }
}

function checkBudget({ value, unit = 'tokens', at }: NonNullable<Assemble['budget']>): void {
  const most = unit === 'tokens' ? CAL_LIMITS.budgetTokensMax : CAL_LIMITS.budgetGrainsMax;
  if (Number.isInteger(value) && value >= 1 && value <= most) return;
  throw new CalError('CAL-E033', `BUDGET must be from 1 to ${most} ${unit}, not ${value}`, { at });
}

function checkStream({ events, chunkSize, at }: StreamOptions): void {
  const known: readonly string[] = STREAM_EVENTS;
  for (const event of events) {
    if (known.includes(event.word)) continue;
    const suggestion = didYouMean(event.word, [...known, 'chunk_size']);
    throw new CalError('CAL-E077', `unknown STREAM option ${event.word}`, {
      at: event.at,
      validValues: [...known, 'chunk_size'],
      suggestion,
    });
  }
  if (chunkSize === undefined) return;
  const { chunkSizeMin, chunkSizeMax } = CAL_LIMITS;
  if (Number.isInteger(chunkSize) && chunkSize >= chunkSizeMin && chunkSize <= chunkSizeMax) return;
  throw new CalError('CAL-E078', `chunk_size must be from ${chunkSizeMin} to ${chunkSizeMax}, not ${chunkSize}`, {
    at,
  });
}

/** Throws E002 for a text of more than `most` characters. */
export function checkLength(
  what: string,
  text: string | undefined,
  most: number,
  { at }: { readonly at?: Span | undefined },
): void {
  if (text === undefined || text.length <= most) return;
  const length = [...text].length;
  if (length > most)
    throw new CalError('CAL-E002', `${what} has ${length} characters; the limit is ${most}`, {
      at,
      suggestion: `Use at most ${most} characters.`,
    });
}
