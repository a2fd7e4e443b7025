// Checks WITH: the values of options. Warns of options without effect.

import type { GrainType } from '../../grain/grain.ts';
import type { Value, WithOption } from '../ast.ts';
import { CalError } from '../errors.ts';
import { resolveField } from './fields.ts';
import type { Scope } from './scope.ts';

/**
 * Checks options. The field of `dedup` must belong to one of `types`. Warns (W004) of options that never have an
 * effect.
 */
export function checkOptions(
  options: readonly WithOption[],
  { types, scope }: { readonly types: readonly (GrainType | undefined)[]; readonly scope: Scope },
): void {
  for (const option of options) checkOption(option, types, scope);
}

function checkOption(option: WithOption, types: readonly (GrainType | undefined)[], scope: Scope): void {
  switch (option.option) {
    case 'superseded':
    case 'contradiction_detection':
    case 'score_breakdown':
    case 'explanation':
    case 'provenance':
    case 'summarize':
    case 'iso_timestamps':
    case 'progressive_disclosure':
      return;
    case 'diversity':
      if (option.by === 'mmr' && option.lambda !== undefined) checkShare('lambda', option.lambda, option);
      if (option.by === 'threshold') checkShare('threshold', option.threshold, option);
      return;
    case 'dedup':
      checkDedup(option, types);
      return;
    case 'consistency':
      if (option.level === 'bounded' && option.bound < 0)
        throw new CalError('CAL-E020', 'a bound must not be negative', { at: option.at });
      scope.warn('CAL-W004', 'consistency has no effect: every read sees all that was acknowledged before it');
      return;
    case 'locale':
      scope.warn('CAL-W004', 'locale has no effect: texts are ordered by code point');
      return;
    case 'cache':
      if (option.ttl < 0) throw new CalError('CAL-E020', 'ttl must not be negative', { at: option.at });
      scope.warn('CAL-W004', 'cache has no effect: answers are not kept');
      return;
    case 'vendor':
      for (const value of option.values) checkBound(value, scope);
      scope.warn('CAL-W004', `${option.name} has no effect: this server does not know it`);
      return;
  }
}

/** Throws E008 for an unbound parameter, at any depth of arrays. */
function checkBound(value: Value, scope: Scope): void {
  if (value.kind === 'parameter') scope.boundTo(value);
  if (value.kind === 'array') for (const item of value.items) checkBound(item, scope);
}

function checkShare(name: string, value: number, { at }: WithOption): void {
  if (value >= 0 && value <= 1) return;
  throw new CalError('CAL-E020', `${name} must be from 0 to 1, not ${value}`, { at });
}

/** Throws unless the field is a projectable field of at least one source's type. */
function checkDedup(
  option: WithOption & { readonly option: 'dedup' },
  types: readonly (GrainType | undefined)[],
): void {
  let refused: unknown;
  for (const type of types.length === 0 ? [undefined] : types) {
    try {
      const field = resolveField(option.field, type);
      if (field.projectable) return;
      refused = new CalError('CAL-E021', `dedup cannot compare grains by ${field.name}`, { at: option.field.at });
    } catch (error) {
      refused ??= error;
    }
  }
  throw refused;
}
