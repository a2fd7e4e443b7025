// Kinds of options: how each is shown, and how its text is read.
export interface Option<T> {
  /** Placeholder shown after the flag; absent for a switch. */
  readonly argument?: string | undefined;
  readonly help: string;
  /** The default. Without one the option is absent from the config unless it is set. */
  readonly fallback?: T | undefined;
  /** Text for a default that is computed at start. */
  readonly fallbackText?: string | undefined;
  /** Environment only: all users of a machine can see command lines. */
  readonly secret?: true | undefined;
  /** Parses the text of a flag or variable. Throws an Error that states the expected form. */
  readonly parse: (text: string) => T;
}

export function text(argument: string, help: string, fallback: string): Option<string> {
  return { argument, help, fallback, parse: (value) => value };
}

export function optionalText(argument: string, help: string): Option<string | undefined> {
  return { argument, help, parse: (value) => value };
}

/** `check` throws an Error that states the expected form. */
export function optionalChecked(
  argument: string,
  help: string,
  check: (text: string) => unknown,
): Option<string | undefined> {
  return {
    argument,
    help,
    parse: (value) => {
      check(value);
      return value;
    },
  };
}

export function secret(help: string): Option<string | undefined> {
  return { help, secret: true, parse: (value) => value };
}

export function integer(
  help: string,
  range: {
    readonly min: number;
    readonly max: number;
    readonly fallback: number;
    readonly fallbackText?: string | undefined;
  },
): Option<number> {
  return {
    argument: 'N',
    help,
    fallback: range.fallback,
    fallbackText: range.fallbackText,
    parse: (value) => {
      const number = Number(value);
      if (value.trim() === '' || !Number.isInteger(number) || number < range.min || number > range.max)
        throw new Error(`must be an integer from ${range.min} to ${range.max}`);
      return number;
    },
  };
}

export function optionalInteger(
  help: string,
  range: { readonly min: number; readonly max: number; readonly fallbackText: string },
): Option<number | undefined> {
  const { fallback: _, ...option } = integer(help, { ...range, fallback: range.min });
  return { ...option, fallbackText: range.fallbackText };
}

/** `earlier`: words of earlier versions, which mean a choice. */
export function choice<const T extends string>(
  help: string,
  choices: readonly T[],
  fallback: T,
  earlier: Readonly<Record<string, T>> = {},
): Option<T> {
  return {
    argument: choices.join('|'),
    help,
    fallback,
    parse: (value) => {
      const found = choices.find((one) => one === (Object.hasOwn(earlier, value) ? earlier[value] : value));
      if (found === undefined) throw new Error(`must be one of ${choices.join(', ')}`);
      return found;
    },
  };
}

export function onOff(help: string): Option<boolean> {
  return {
    help,
    fallback: false,
    parse: (value) => {
      if (value === 'true' || value === '1' || value === '') return true;
      if (value === 'false' || value === '0') return false;
      throw new Error('must be true or false');
    },
  };
}

/** Its flag is `--no-NAME`. */
export function onByDefault(help: string): Option<boolean> {
  return { ...onOff(help), fallback: true };
}

export function list(argument: string, help: string): Option<readonly string[]> {
  return {
    argument,
    help,
    fallback: Object.freeze([]),
    parse: (value) =>
      Object.freeze(
        value
          .split(',')
          .map((one) => one.trim())
          .filter((one) => one !== ''),
      ),
  };
}
