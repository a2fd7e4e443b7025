// Patterns of tools' schemas. A pattern is a regular expression of ECMAScript with the flag `u`, without references back
// and without lookaround, which no linear machine decides. It becomes a machine that keeps all its states at once, so the
// time for a text is at most states × characters, whatever the pattern. The regular expressions of JavaScript go back
// instead, and a pattern of ten characters can hold a thread for years.
import { assert } from '../../../engine/base/assert.ts';
import { TOOL_PATTERN_CHARS_MAX, TOOL_PATTERN_STATES_MAX } from '../../../engine/base/limits.ts';

type Assertion = '^' | '$' | 'b' | 'B';

type Node =
  | { readonly kind: 'character'; readonly source: string }
  | { readonly kind: 'assertion'; readonly assertion: Assertion }
  | { readonly kind: 'sequence' | 'choice'; readonly of: readonly Node[] }
  | { readonly kind: 'repeat'; readonly of: Node; readonly min: number; readonly max: number };

/** A state. `next` and `other` are indexes of states. */
type State =
  | { readonly kind: 'character'; readonly has: (point: number) => boolean; next: number }
  | { readonly kind: 'assertion'; readonly assertion: Assertion; next: number }
  | { readonly kind: 'fork'; next: number; other: number }
  | { readonly kind: 'match' };

/** Counts work. False: there is no more to spend. */
export type Spend = (steps: number) => boolean;

/** Why a text is no pattern for a tool. */
export class PatternRefused extends Error {
  override name = 'PatternRefused';
}

export class Pattern {
  readonly #states: readonly State[];

  /** Throws PatternRefused. */
  constructor(source: string) {
    if (source.length > TOOL_PATTERN_CHARS_MAX)
      throw new PatternRefused(`it has more than ${TOOL_PATTERN_CHARS_MAX} characters`);
    try {
      new RegExp(source, 'u');
    } catch {
      throw new PatternRefused('it is not a regular expression');
    }
    this.#states = compile(new Parser(source).parse());
  }

  get size(): number {
    return this.#states.length;
  }

  /** True if the pattern is found in the text; undefined if `spend` ends before that is known. */
  isIn(text: string, spend: Spend): boolean | undefined {
    if (!spend(text.length)) return undefined;
    const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
    const states = this.#states;
    const seen = new Int32Array(states.length).fill(-1);
    let current: number[] = [];
    let entered = 0;
    for (let at = 0; at <= points.length; at += 1) {
      // The pattern may begin at every place.
      const here = { points, at, seen, entered };
      if (this.#enter(0, current, here)) return true;
      if (at === points.length) return false;
      // A state costs about as much as two values of a list.
      if (!spend(2 * current.length + Math.floor(here.entered / ENTERED_A_STEP))) return undefined;
      const next: number[] = [];
      const place = { points, at: at + 1, seen, entered: 0 };
      for (const index of current) {
        const state = states[index]!;
        if (state.kind === 'character' && state.has(points[at]!) && this.#enter(state.next, next, place)) return true;
      }
      current = next;
      entered = place.entered;
    }
    return false;
  }

  /** Adds the character states that are reached from `from` without a character. True if the match is reached. */
  #enter(from: number, into: number[], place: Place): boolean {
    const { points, at, seen } = place;
    const open = [from];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (seen[index] === at) continue;
      seen[index] = at;
      place.entered += 1;
      const state = this.#states[index]!;
      if (state.kind === 'match') return true;
      if (state.kind === 'character') into.push(index);
      else if (state.kind === 'fork') open.push(state.next, state.other);
      else if (holds(state.assertion, points, at)) open.push(state.next);
    }
    return false;
  }
}

interface Place {
  readonly points: readonly number[];
  readonly at: number;
  /** For each state, the place at which it was entered last. */
  readonly seen: Int32Array;
  /** States that were entered at this place. */
  entered: number;
}

/** Most patterns enter few states that test no character, which cost little. */
const ENTERED_A_STEP = 8;

function holds(assertion: Assertion, points: readonly number[], at: number): boolean {
  if (assertion === '^') return at === 0;
  if (assertion === '$') return at === points.length;
  return (isWord(points[at - 1]) !== isWord(points[at])) === (assertion === 'b');
}

function isWord(point: number | undefined): boolean {
  return point !== undefined && point < 128 && /\w/.test(String.fromCharCode(point));
}

function compile(root: Node): readonly State[] {
  const states: State[] = [];
  const classes = new Map<string, (point: number) => boolean>();
  let writes = 0;
  const add = <S extends State>(state: S): S => {
    if (states.length >= TOOL_PATTERN_STATES_MAX)
      throw new PatternRefused(`it needs more than ${TOOL_PATTERN_STATES_MAX} states`);
    states.push(state);
    return state;
  };
  const classOf = (source: string): ((point: number) => boolean) => {
    const known = classes.get(source) ?? characterTest(source);
    classes.set(source, known);
    return known;
  };
  /** Adds the states of a node. The last of them lead to the state that is added after them. */
  const write = (node: Node): void => {
    writes += 1;
    // Repetitions of nothing add no states.
    if (writes > WRITES_MAX) throw new PatternRefused('it repeats too much');
    switch (node.kind) {
      case 'character':
        add({ kind: 'character', has: classOf(node.source), next: states.length + 1 });
        return;
      case 'assertion':
        add({ kind: 'assertion', assertion: node.assertion, next: states.length + 1 });
        return;
      case 'sequence':
        for (const one of node.of) write(one);
        return;
      case 'choice':
        writeChoice(node.of);
        return;
      case 'repeat':
        writeRepeat(node);
    }
  };
  const writeChoice = (of: readonly Node[]): void => {
    const ends: { next: number }[] = [];
    for (const [index, one] of of.entries()) {
      const isLast = index === of.length - 1;
      const fork = isLast ? undefined : add({ kind: 'fork', next: states.length + 1, other: 0 });
      write(one);
      // A fork whose two ways are the same is a jump.
      if (!isLast) ends.push(add({ kind: 'fork', next: 0, other: 0 }));
      if (fork !== undefined) fork.other = states.length;
    }
    for (const end of ends) {
      end.next = states.length;
      Object.assign(end, { other: states.length });
    }
  };
  const writeRepeat = ({ of, min, max }: Extract<Node, { kind: 'repeat' }>): void => {
    for (let count = 0; count < min; count += 1) write(of);
    if (max === Number.POSITIVE_INFINITY) {
      const fork = add({ kind: 'fork', next: states.length + 1, other: 0 });
      const start = states.length - 1;
      write(of);
      add({ kind: 'fork', next: start, other: start });
      fork.other = states.length;
      return;
    }
    const forks: { other: number }[] = [];
    for (let count = min; count < max; count += 1) {
      forks.push(add({ kind: 'fork', next: states.length + 1, other: 0 }));
      write(of);
    }
    for (const fork of forks) fork.other = states.length;
  };
  write(root);
  add({ kind: 'match' });
  return states;
}

/** A test of single characters, by the regular expression of one of them. It remembers the answers for ASCII. */
function characterTest(source: string): (point: number) => boolean {
  const test = new RegExp(`^${source}$`, 'u');
  const known = new Int8Array(128);
  return (point) => {
    if (point >= 128) return test.test(String.fromCodePoint(point));
    if (known[point] === 0) known[point] = test.test(String.fromCharCode(point)) ? 1 : -1;
    return known[point] === 1;
  };
}

const WRITES_MAX = 8 * TOOL_PATTERN_STATES_MAX;

const QUANTIFIERS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  '*': [0, Number.POSITIVE_INFINITY],
  '+': [1, Number.POSITIVE_INFINITY],
  '?': [0, 1],
};

/** Reads a text that is a regular expression with the flag `u`. */
class Parser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): Node {
    const node = this.#choice();
    assert(this.#at === this.#source.length, 'a valid expression is read to its end');
    return node;
  }

  #choice(): Node {
    const of: Node[] = [];
    do of.push(this.#sequence());
    while (this.#takes('|'));
    return of.length === 1 ? of[0]! : { kind: 'choice', of };
  }

  #sequence(): Node {
    const of: Node[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at]!)) of.push(this.#repeated());
    return { kind: 'sequence', of };
  }

  #repeated(): Node {
    const of = this.#atom();
    const range = this.#quantifier();
    // The lazy form decides which match is found, not whether there is one.
    if (range !== undefined) this.#takes('?');
    if (range === undefined || of.kind === 'assertion') return of;
    const [min, max] = range;
    return { kind: 'repeat', of, min, max };
  }

  #quantifier(): readonly [min: number, max: number] | undefined {
    const range = QUANTIFIERS[this.#source[this.#at] ?? ''];
    if (range !== undefined) {
      this.#at += 1;
      return range;
    }
    const [text, min = '', comma, max = ''] = this.#match(/\{(\d+)(,)?(\d*)\}/y);
    if (text === undefined) return undefined;
    if (Math.max(Number(min), Number(max)) > TOOL_PATTERN_STATES_MAX)
      throw new PatternRefused(`it repeats more than ${TOOL_PATTERN_STATES_MAX} times`);
    if (comma === undefined) return [Number(min), Number(min)];
    return [Number(min), max === '' ? Number.POSITIVE_INFINITY : Number(max)];
  }

  #atom(): Node {
    const character = this.#source[this.#at]!;
    if (character === '(') return this.#group();
    if (character === '^' || character === '$') {
      this.#at += 1;
      return { kind: 'assertion', assertion: character };
    }
    if (character === '[') return this.#characterClass();
    if (character === '\\') return this.#escape();
    const whole = String.fromCodePoint(this.#source.codePointAt(this.#at)!);
    this.#at += whole.length;
    return { kind: 'character', source: whole };
  }

  #group(): Node {
    const [opening = ''] = this.#match(/\((?:\?(?::|<(?![=!])[^>]*>|[^:<]|<[=!]))?/y);
    if (opening !== '(' && opening !== '(?:' && !opening.endsWith('>'))
      throw new PatternRefused('it looks ahead or back, or changes its flags');
    const node = this.#choice();
    this.#takes(')');
    return node;
  }

  #characterClass(): Node {
    const [source = ''] = this.#match(/\[(?:\\[\s\S]|[^\]\\])*\]/y);
    return { kind: 'character', source };
  }

  #escape(): Node {
    const [assertion] = this.#match(/\\[bB]/y);
    if (assertion !== undefined) return { kind: 'assertion', assertion: assertion === '\\b' ? 'b' : 'B' };
    if (this.#match(/\\[1-9k]/y)[0] !== undefined) throw new PatternRefused('it refers back to a group');
    const [source = ''] = this.#match(
      /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[\s\S])/y,
    );
    return { kind: 'character', source };
  }

  #takes(character: string): boolean {
    if (this.#source[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  /** Reads what the sticky expression finds here. */
  #match(expression: RegExp): readonly (string | undefined)[] {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#source);
    this.#at += found?.[0].length ?? 0;
    return found ?? [];
  }
}
