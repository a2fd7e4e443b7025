// Filters of a list. Each is a member of the address, so that a filtered list can be sent to somebody.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useQuery } from '../address.ts';
import { Icon } from './icon.tsx';

/** The filters of a list. On narrow pages they are folded away, unless one is set. */
export function Filters({
  names,
  children,
}: {
  readonly names: readonly string[];
  readonly children: ComponentChildren;
}) {
  const query = useQuery();
  const set = names.filter((name) => query.one(name) !== '').length;
  const [isOpen, setOpen] = useState(set > 0);
  return (
    <div class="filters-fold" data-open={isOpen}>
      <button type="button" class="fold-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="down" /> Filters{set > 0 ? ` (${set})` : ''}
      </button>
      <div class="filters">
        {children}
        {set > 0 && (
          <button
            type="button"
            class="quiet"
            onClick={() => query.set(Object.fromEntries(names.map((name) => [name, undefined])))}
          >
            Clear
          </button>
        )}
      </div>
    </div>
  );
}

interface FieldProps {
  /** Name in the address. */
  readonly name: string;
  readonly label: string;
}

/** Time after the last letter before the address changes. */
const TYPED_MS = 250;

export function TextFilter({ name, label, placeholder }: FieldProps & { readonly placeholder?: string | undefined }) {
  const query = useQuery();
  const id = useId();
  const value = query.one(name);
  const [typed, setTyped] = useState(value);
  // Another filter may change while the timer runs: what it set must stay.
  const latest = useRef(query);
  latest.current = query;
  // The address follows the field. Only an address that is not from here changes the field: a letter may be newer.
  const written = useRef(value);
  useEffect(() => {
    if (value === written.current) return;
    written.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed === written.current) return;
    const timer = setTimeout(() => {
      const isFirst = latest.current.one(name) === '';
      written.current = typed;
      latest.current.set({ [name]: typed }, !isFirst);
    }, TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        value={typed}
        placeholder={placeholder}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </div>
  );
}

interface ChoiceProps extends FieldProps {
  readonly choices: readonly string[];
  /** Words for no choice; without them, one is always chosen. */
  readonly none?: string | undefined;
  /** The choice that an address without one stands for. */
  readonly first?: string | undefined;
}

export function ChoiceFilter({ name, label, choices, none, first = '' }: ChoiceProps) {
  const query = useQuery();
  const id = useId();
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={query.one(name) || first}
        onChange={(event) => query.set({ [name]: event.currentTarget.value })}
      >
        {none !== undefined && <option value="">{none}</option>}
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A day; in the address as `2026-05-31`. */
export function DayFilter({ name, label }: FieldProps) {
  const query = useQuery();
  const id = useId();
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="date"
        value={query.one(name)}
        onChange={(event) => query.set({ [name]: event.currentTarget.value })}
      />
    </div>
  );
}

export function SwitchFilter({ name, label }: FieldProps) {
  const query = useQuery();
  return (
    <label class="filter switch">
      <input
        type="checkbox"
        checked={query.one(name) === '1'}
        onChange={(event) => query.set({ [name]: event.currentTarget.checked ? '1' : undefined })}
      />
      {label}
    </label>
  );
}

/** The local day's first or last moment; undefined for none. */
export function dayStart(day: string): Date | undefined {
  const at = new Date(`${day}T00:00:00`);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

export function dayEnd(day: string): Date | undefined {
  const at = new Date(`${day}T23:59:59`);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** The parts of a text with commas. One that is not typed yet is none. */
export function wordsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
