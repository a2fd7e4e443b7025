// Says whether a history of concurrent operations is linearizable: whether each operation can take effect at one moment between its
// call and its answer, so that all answers are those of one object that does one thing at a time.
//
// The search is that of Wing and Gong, "Testing and Verifying Concurrent Objects" (1993), which takes operations in every order that
// the times allow, with Lowe's improvement, "Testing for linearizability" (2017): a set of operations that led to a state once need
// not be tried again. Histories of different objects are checked apart (Herlihy and Wing, 1990).

export interface Operation<Call> {
  /** For people: who asked. */
  readonly client: string;
  /** The question, with its answer. */
  readonly call: Call;
  readonly calledMs: number;
  /** Infinity without an answer: it may take effect at any time after its call, or never. */
  readonly answeredMs: number;
}

export interface Model<State, Call> {
  readonly initial: State;
  /** The states after an operation that took effect in `state` and was answered so. None: that answer is wrong there. */
  step(state: State, call: Call): readonly State[];
  /** Equal for equal states. */
  keyOf(state: State): string;
  describe(call: Call): string;
}

export type Verdict<Call> =
  | { readonly isLinearizable: true }
  /** The longest order that was found, and the answered operations that fit nowhere after it. */
  | {
      readonly isLinearizable: false;
      readonly longest: readonly Operation<Call>[];
      readonly stuck: readonly Operation<Call>[];
    };

interface Choice<State> {
  readonly at: number;
  /** States that are left to try with the same operation. */
  readonly others: readonly State[];
  readonly before: State;
}

export function checkHistory<State, Call>(
  model: Model<State, Call>,
  history: readonly Operation<Call>[],
): Verdict<Call> {
  const operations = history.toSorted((a, b) => a.calledMs - b.calledMs);
  const taken = new Taken(operations);
  const tried = new Set<string>();
  const chosen: Choice<State>[] = [];
  let state = model.initial;
  let longest: readonly number[] = [];
  /** The next operation to try at this depth. */
  let from = 0;
  for (;;) {
    if (taken.answeredLeft === 0) return { isLinearizable: true };
    const choice = nextChoice(from);
    if (choice !== undefined) {
      chosen.push(choice.made);
      taken.take(choice.made.at);
      state = choice.state;
      from = 0;
      if (chosen.length > longest.length) longest = chosen.map(({ at }) => at);
      continue;
    }
    const last = chosen.pop();
    if (last === undefined) return refused();
    taken.giveBack(last.at);
    state = last.before;
    const other = pick(last.at, last.others, state);
    if (other === undefined) {
      from = last.at + 1;
      continue;
    }
    chosen.push(other.made);
    taken.take(last.at);
    state = other.state;
    from = 0;
  }

  /** The first operation from `first` on that can be the next one. */
  function nextChoice(first: number): { made: Choice<State>; state: State } | undefined {
    const endMs = taken.firstAnswerMs();
    for (let at = first; at < operations.length && operations[at]!.calledMs <= endMs; at++) {
      if (taken.has(at)) continue;
      const found = pick(at, model.step(state, operations[at]!.call), state);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The first of the states that was not reached with the same operations before. */
  function pick(
    at: number,
    states: readonly State[],
    before: State,
  ): { made: Choice<State>; state: State } | undefined {
    for (const [i, next] of states.entries()) {
      const key = `${taken.keyWith(at)} ${model.keyOf(next)}`;
      if (tried.has(key)) continue;
      tried.add(key);
      return { made: { at, others: states.slice(i + 1), before }, state: next };
    }
    return undefined;
  }

  function refused(): Verdict<Call> {
    const order = new Set(longest);
    return {
      isLinearizable: false,
      longest: longest.map((at) => operations[at]!),
      stuck: operations.filter(({ answeredMs }, at) => !order.has(at) && Number.isFinite(answeredMs)),
    };
  }
}

/** The operations that have been given a place. */
class Taken {
  readonly #operations: readonly Operation<unknown>[];
  readonly #bits: Uint8Array;
  answeredLeft: number;

  constructor(operations: readonly Operation<unknown>[]) {
    this.#operations = operations;
    this.#bits = new Uint8Array(Math.ceil(operations.length / 8));
    this.answeredLeft = operations.filter(({ answeredMs }) => Number.isFinite(answeredMs)).length;
  }

  has(at: number): boolean {
    return ((this.#bits[at >> 3]! >> (at & 7)) & 1) === 1;
  }

  take(at: number): void {
    this.#flip(at);
    if (this.#isAnswered(at)) this.answeredLeft -= 1;
  }

  giveBack(at: number): void {
    this.#flip(at);
    if (this.#isAnswered(at)) this.answeredLeft += 1;
  }

  /** The set with one more, as text. */
  keyWith(at: number): string {
    this.#flip(at);
    const key = Buffer.from(this.#bits).toString('latin1');
    this.#flip(at);
    return key;
  }

  /** Nothing that was called later can come before an operation that was answered by then. */
  firstAnswerMs(): number {
    return this.#operations.reduce(
      (first, { answeredMs }, at) => (this.has(at) ? first : Math.min(first, answeredMs)),
      Number.POSITIVE_INFINITY,
    );
  }

  #flip(at: number): void {
    this.#bits[at >> 3]! ^= 1 << (at & 7);
  }

  #isAnswered(at: number): boolean {
    return Number.isFinite(this.#operations[at]!.answeredMs);
  }
}

/** A history that fails, for people: times in ms from its first call, the longest order as numbers, and what fits nowhere. */
export function describeFailure<State, Call>(
  model: Model<State, Call>,
  history: readonly Operation<Call>[],
  verdict: Exclude<Verdict<Call>, { readonly isLinearizable: true }>,
): string {
  const operations = history.toSorted((a, b) => a.calledMs - b.calledMs);
  const startMs = operations[0]?.calledMs ?? 0;
  const places = new Map(verdict.longest.map((operation, place) => [operation, place + 1]));
  const lines = operations.map((operation) => {
    const { client, call, calledMs, answeredMs } = operation;
    const end = Number.isFinite(answeredMs) ? (answeredMs - startMs).toFixed(1) : '-';
    const place = places.get(operation) ?? (verdict.stuck.includes(operation) ? 'fits nowhere' : 'unused');
    return `  ${(calledMs - startMs).toFixed(1)} .. ${end}  ${client}  ${model.describe(call)}  [${place}]`;
  });
  return ['a history that is not linearizable (ms; place in the longest order):', ...lines].join('\n');
}
