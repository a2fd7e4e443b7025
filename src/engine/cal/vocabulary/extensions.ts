// Extensions of CAL that this server accepts. Each use causes a warning with a portable spelling. A strict server refuses
// it with the code of the specification.

import type { CalErrorCode } from '../../base/errors.ts';
import type { Span } from '../ast.ts';
import { CalError, calWarning } from '../errors.ts';

interface Extension {
  readonly says: string;
  /** A spelling that every engine accepts. */
  readonly portable: string;
  readonly code: CalErrorCode;
}

export const EXTENSIONS = {
  boolean: {
    says: 'OR, NOT and parentheses in WHERE',
    portable: 'ask for alternatives with IN ( … ) or UNION, and for the opposite with != or EXCLUDE',
    code: 'CAL-E002',
  },
  in_any: {
    says: 'IN on a field that takes = alone',
    portable: 'join one query for each value with UNION',
    code: 'CAL-E020',
  },
  not_in: { says: 'NOT IN', portable: 'write field != a AND field != b', code: 'CAL-E002' },
  in_parameter: { says: 'IN $name', portable: 'write IN ($name)', code: 'CAL-E002' },
  time_order: {
    says: '<, <=, > and >= on times',
    portable: 'write BETWEEN … AND …, or = for everything since a time',
    code: 'CAL-E020',
  },
  created_at: { says: 'created_at', portable: 'write time', code: 'CAL-E004' },
  sort_keys: { says: 'a second sort key', portable: 'sort by one field', code: 'CAL-E002' },
  values_stage: {
    says: 'COUNT and LIMIT after SUBJECTS, OBJECTS and HASHES',
    portable: 'count the values that come back',
    code: 'CAL-E021',
  },
  set_source: {
    says: 'a set operation as a source of ASSEMBLE',
    portable: 'write one source for each operand',
    code: 'CAL-E002',
  },
  budget_unit: { says: 'BUDGET without a unit', portable: 'write BUDGET n tokens', code: 'CAL-E002' },
  clause_order: {
    says: 'clauses of ASSEMBLE in another order',
    portable: 'write FOR, FROM, BUDGET, PRIORITY, FORMAT, STREAM, WITH in this order',
    code: 'CAL-E002',
  },
  primer: { says: 'DESCRIBE primer', portable: 'ask for DESCRIBE grammar', code: 'CAL-E002' },
} as const satisfies Readonly<Record<string, Extension>>;

export type ExtensionName = keyof typeof EXTENSIONS;

/** The extensions that one query uses. */
export class Extensions {
  readonly #isStrict: boolean;
  readonly #used = new Set<ExtensionName>();

  constructor(isStrict = false) {
    this.#isStrict = isStrict;
  }

  get isStrict(): boolean {
    return this.#isStrict;
  }

  /** Records the use of an extension. Throws its code if the server is strict. */
  use(name: ExtensionName, at?: Span): void {
    if (!this.#isStrict) {
      this.#used.add(name);
      return;
    }
    const { code, says, portable } = EXTENSIONS[name];
    throw new CalError(code, `${says}: an extension, which this server refuses (--cal-strict)`, {
      at,
      suggestion: `For every engine: ${portable}.`,
    });
  }

  /** In the order of their first use. */
  get used(): readonly ExtensionName[] {
    return [...this.#used];
  }

  get warnings(): readonly string[] {
    return this.used.map((name) => {
      const { says, portable } = EXTENSIONS[name];
      return calWarning('CAL-W008', `${says}: an extension of this server. For every engine: ${portable}`);
    });
  }
}
