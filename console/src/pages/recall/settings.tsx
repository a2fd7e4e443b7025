// The settings of one or two recalls: every field that a recall has, each with a value for A and, when two are compared, for B.
import { useId, useState } from 'preact/hooks';
import { useQuery } from '../../address.ts';
import type { Field } from './fields.ts';

export const SIDES = ['a', 'b'] as const;
export type Side = (typeof SIDES)[number];

interface Props {
  readonly fields: readonly Field[];
  readonly sides: readonly Side[];
}

export function SettingsTable({ fields, sides }: Props) {
  const query = useQuery();
  const id = useId();
  const [sought, setSought] = useState('');
  const isSet = (field: Field): boolean => sides.some((side) => query.one(`${side}.${field.name}`) !== '');
  const words = sought.toLowerCase();
  const fits = ({ name, description }: Field): boolean =>
    words === '' || name.replaceAll('_', ' ').includes(words) || description.toLowerCase().includes(words);
  // Those that are set stay in sight, in front.
  const shown = [...fields.filter(isSet), ...fields.filter((field) => !isSet(field) && fits(field))];
  return (
    <section class="settings" aria-label="Settings">
      <div class="settings-head">
        <label class="hidden-label" for={id}>
          Find a setting
        </label>
        <input
          id={id}
          type="search"
          placeholder={sides.length > 1 ? 'Find' : `Find one of ${fields.length} settings`}
          value={sought}
          onInput={(event) => setSought(event.currentTarget.value)}
        />
        {sides.length > 1 && (
          <p class="side-names" aria-hidden="true">
            <b>A</b>
            <b>B</b>
          </p>
        )}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <ul class="settings-list" tabIndex={0} aria-label="Fields of a recall">
        {shown.map((field) => (
          <li key={field.name} data-set={isSet(field)}>
            <div>
              <b>{field.name.replaceAll('_', ' ')}</b>
              <p>{field.description}</p>
            </div>
            {sides.map((side) => (
              <Value key={side} field={field} side={side} isAlone={sides.length === 1} />
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ValueProps {
  readonly field: Field;
  readonly side: Side;
  readonly isAlone: boolean;
}

function Value({ field, side, isAlone }: ValueProps) {
  const query = useQuery();
  const { name, kind, choices, fallback, min, max, isInteger } = field;
  const key = `${side}.${name}`;
  const value = query.one(key);
  const label = isAlone ? name.replaceAll('_', ' ') : `${name.replaceAll('_', ' ')}, ${side.toUpperCase()}`;
  const set = (text: string): void => query.set({ [key]: text }, value !== '');
  const options = kind === 'flag' ? ['true', 'false'] : choices;
  if (kind === 'flag' || kind === 'choice')
    return (
      <select aria-label={label} value={value} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">{fallback === '' ? '–' : `${fallback} (default)`}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    );
  if (kind === 'number')
    return (
      <input
        aria-label={label}
        type="number"
        step={isInteger ? 1 : 'any'}
        min={min}
        max={max}
        placeholder={fallback}
        value={value}
        onChange={(event) => set(event.currentTarget.value)}
      />
    );
  return (
    <input
      aria-label={label}
      type="text"
      placeholder={kind === 'texts' ? 'a, b' : kind === 'json' ? 'JSON' : ''}
      value={value}
      spellcheck={false}
      onChange={(event) => set(event.currentTarget.value)}
    />
  );
}
