// Composes presets and overrides into rules: for each field the strictest value (service contract 10.2).
import { EngineError } from '../../base/errors.ts';
import { BASELINE, type PresetName, presetsNamed, rulesOfPreset } from './presets.ts';
import { isRulePath, RULE_PATHS, RULES, type RulePath, type Rules, withLoosest } from './rules.ts';
import { isObject, type PolicyValue } from './values.ts';

/** Rules that an operator sets in addition to presets, by path. */
export type Overrides = Readonly<Partial<Record<RulePath, PolicyValue>>>;

export interface Composed {
  /** Sorted and distinct; empty when only the baseline applies. */
  readonly presets: readonly PresetName[];
  readonly overrides: Overrides;
  readonly rules: Rules;
}

/**
 * Composes the baseline, presets in any order, and overrides: each rule is the strictest that any of them states. The baseline
 * holds beneath every preset, so adding a preset never loosens a rule. Overrides with a `pii.write_action` but no
 * `pii.categories` mean all categories. An override that is looser than presets that were added later has no effect.
 *
 * Throws POL-E009 for an unknown preset and for regions without a common one, VAL-E001 for a value that a rule cannot have.
 */
export function compose(presets: readonly string[], overrides: Overrides = {}): Composed {
  const names = presetsNamed(presets);
  const rules: Partial<Record<RulePath, PolicyValue>> = { ...composedPresets(names) };
  for (const path of RULE_PATHS) {
    const value = path === 'pii.categories' ? categoriesOf(overrides) : overrides[path];
    if (value !== undefined) rules[path] = overridden(path, rules[path] ?? RULES[path].loosest, value);
  }
  return { presets: names, overrides, rules: withLoosest(rules) };
}

/** An override of the write action for personal data without categories covers all categories. */
function categoriesOf(overrides: Overrides): PolicyValue | undefined {
  const { 'pii.categories': named, 'pii.write_action': action } = overrides;
  return named === undefined && action !== undefined && action !== 'allow' ? '*' : named;
}

/** POL-E010 for each of `given` that is looser than what the presets say, in the order of the table. */
export function looserOverrides(presets: readonly string[], given: Overrides): readonly EngineError[] {
  const rules = composedPresets(presetsNamed(presets));
  const errors: EngineError[] = [];
  for (const path of RULE_PATHS) {
    const value = given[path];
    if (value === undefined || value === null) continue;
    const direction = RULES[path].kind.direction(rules[path], value);
    if (direction === 'looser' || direction === 'mixed')
      errors.push(refused('POL-E010', path, 'is looser than the presets'));
  }
  return errors;
}

function composedPresets(names: readonly PresetName[]): Rules {
  const rules: Partial<Record<RulePath, PolicyValue>> = { ...withLoosest({}) };
  for (const name of [BASELINE, ...names]) {
    const preset: Readonly<Partial<Record<RulePath, PolicyValue>>> = rulesOfPreset(name);
    for (const path of RULE_PATHS) {
      const value = preset[path];
      if (value !== undefined) rules[path] = joined(path, rules[path] ?? RULES[path].loosest, value);
    }
  }
  return withLoosest(rules);
}

function joined(path: RulePath, a: PolicyValue, b: PolicyValue): PolicyValue {
  const value = RULES[path].kind.join(a, b);
  if (value === undefined) throw refused('POL-E009', path, 'has no value that all presets and overrides permit');
  return value;
}

function overridden(path: RulePath, preset: PolicyValue, value: PolicyValue): PolicyValue {
  const { kind } = RULES[path];
  const problem = kind.problem(value);
  if (problem !== undefined) throw refused('VAL-E001', path, problem);
  return kind.direction(preset, value) === 'neutral' ? value : joined(path, preset, value);
}

/**
 * Overrides as a caller gives them: by path (`{"consent.mode": …}`), nested (`{"consent": {"mode": …}}`) or both. null
 * removes an override and stays null here. POL-E009 for an unknown rule, VAL-E001 for an invalid value.
 */
export function readOverrides(given: PolicyValue): Readonly<Partial<Record<RulePath, PolicyValue>>> {
  if (!isObject(given)) throw refused('VAL-E001', 'overrides', 'is not an object');
  const read: Partial<Record<RulePath, PolicyValue>> = {};
  const take = (path: RulePath, value: PolicyValue): void => {
    if (path in read) throw refused('VAL-E001', path, 'is given twice');
    read[path] = checked(path, value);
  };
  for (const [name, value] of Object.entries(given)) {
    if (isRulePath(name)) take(name, value);
    else if (isObject(value) && RULE_PATHS.some((path) => path.startsWith(`${name}.`)))
      for (const [member, inner] of Object.entries(value)) {
        const path = `${name}.${member}`;
        if (!isRulePath(path)) throw refused('POL-E009', path, 'is not a rule');
        take(path, inner);
      }
    else throw refused('POL-E009', name, 'is not a rule');
  }
  return read;
}

function checked(path: RulePath, value: PolicyValue): PolicyValue {
  if (value === null) return null;
  const problem = RULES[path].kind.problem(value);
  if (problem !== undefined) throw refused('VAL-E001', path, problem);
  return value;
}

function refused(code: 'VAL-E001' | 'POL-E009' | 'POL-E010', path: string, issue: string): EngineError {
  const field = path.slice(0, 128);
  return new EngineError(code, `${field} ${issue}`, { details: [{ field, issue }] });
}
