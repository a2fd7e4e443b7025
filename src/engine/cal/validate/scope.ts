// The state of a check: the bound parameters, and the warnings so far.
import type { Extractor } from '../../calls/cal.ts';
import type { ParameterValue } from '../ast.ts';
import { CalError, type CalWarningCode, calWarning } from '../errors.ts';
import { didYouMean, joined } from '../parser/spelling.ts';
import { Extensions } from '../vocabulary/extensions.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { CURRENT_USER_PARAMETER } from '../vocabulary/words.ts';

/** The kind of a parameter's value: the session's user, a list that a LET extracted, or grains. */
export type Bound = 'user' | Extractor | 'grains';

export class Scope {
  readonly #bound = new Map<string, Bound>([[CURRENT_USER_PARAMETER, 'user']]);
  readonly #used = new Set<string>();
  readonly #warnings = new Set<string>();

  readonly extensions: Extensions;

  constructor(extensions = new Extensions()) {
    this.extensions = extensions;
  }

  get warnings(): readonly string[] {
    return [...this.#warnings];
  }

  warn(code: CalWarningCode, text: string): void {
    this.#warnings.add(calWarning(code, text));
  }

  bind(name: string, bound: Bound): void {
    this.#bound.set(name, bound);
  }

  isBound(name: string): boolean {
    return this.#bound.has(name);
  }

  /** The kind of the parameter's value. Throws E008 if it is unbound, or if the query has too many parameters. */
  boundTo({ name, at }: ParameterValue): Bound {
    const bound = this.#bound.get(name);
    this.#used.add(name);
    if (this.#used.size > CAL_LIMITS.parametersMax)
      throw new CalError('CAL-E008', `a query has at most ${CAL_LIMITS.parametersMax} parameters`, { at });
    if (bound !== undefined) return bound;
    const suggestion = didYouMean(name, this.#bound.keys());
    throw new CalError('CAL-E008', `$${name} is not bound`, { at, suggestion });
  }

  /** Throws E020 unless the parameter holds one of `wanted`. */
  expect(parameter: ParameterValue, wanted: readonly Bound[], where: string): void {
    const bound = this.boundTo(parameter);
    if (wanted.includes(bound)) return;
    throw new CalError('CAL-E020', `$${parameter.name} holds ${NAMES[bound]}, but ${where}`, {
      at: parameter.at,
      suggestion:
        wanted.length === 0
          ? 'Write the value itself.'
          : `Use a parameter that holds ${joined([...new Set(wanted.map((one) => NAMES[one]))])}.`,
    });
  }
}

const NAMES: Readonly<Record<Bound, string>> = {
  user: 'the user of the session',
  subjects: 'a list of strings',
  objects: 'a list of strings',
  hashes: 'a list of hashes',
  grains: 'grains',
};
