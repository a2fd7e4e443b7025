// A second evaluator of CAL's reads: one array of grains, each condition tested on every grain. It shares the parser
// with the engine, but no code that runs queries.
import type {
  Condition,
  FieldCondition,
  LetBinding,
  Query,
  Recall,
  SetOperation,
  Stage,
  Value,
} from '../../src/engine/cal/ast.ts';
import { CATEGORY_RELATIONS } from '../../src/engine/cal/vocabulary/relations.ts';

/** A grain as an answer shows it. */
export interface Shown {
  readonly hash: string;
  readonly grain_type: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly superseded_by: string | null;
}

export type NaiveResult =
  | { readonly kind: 'grains'; readonly hashes: readonly string[]; readonly total: number }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'values'; readonly values: readonly string[] }
  | { readonly kind: 'groups'; readonly groups: readonly (readonly [key: string, count: number])[] };

const PLURALS: Readonly<Record<string, string>> = {
  beliefs: 'belief',
  events: 'event',
  goals: 'goal',
  actions: 'action',
};
const SAME_STATE: Readonly<Record<string, string>> = {
  completed: 'satisfied',
  abandoned: 'failed',
  blocked: 'suspended',
};
const DEFAULT_LIMIT = 20;

export class Naive {
  readonly #grains: readonly Shown[];
  readonly #contested: ReadonlySet<string>;
  #lets = new Map<string, readonly string[]>();

  constructor(grains: readonly Shown[]) {
    this.#grains = grains.toSorted((a, b) => (a.hash < b.hash ? -1 : 1));
    this.#contested = contestedOf(this.#grains);
  }

  answer({ lets, statement }: Query): NaiveResult {
    this.#lets = new Map();
    for (const one of lets) this.#lets.set(one.name, this.#values(one));
    if (statement.kind === 'recall') return this.#staged(this.#matching(statement), statement.stages, statement.recent);
    if (statement.kind === 'set_op') return this.#staged(this.#set(statement), statement.stages, undefined);
    throw new Error(`no ${statement.kind} here`);
  }

  #values({ recall, extract }: Pick<LetBinding, 'recall' | 'extract'>): readonly string[] {
    const staged = this.#staged(this.#matching(recall), [...recall.stages, { stage: extract! }], recall.recent);
    return staged.kind === 'values' ? staged.values : [];
  }

  #matching(recall: Recall): readonly Shown[] {
    const type = recall.grainType === undefined ? undefined : PLURALS[recall.grainType.word];
    const withOld = recall.with.some(({ option }) => option === 'superseded');
    return this.#grains.filter(
      (grain) =>
        (type === undefined || grain.grain_type === type) &&
        (withOld || grain.superseded_by === null) &&
        (recall.about === undefined || this.value(grain, 'subject') === recall.about) &&
        (recall.contradictions !== true || this.value(grain, 'contradicted') === true) &&
        recall.where.every((condition) => this.#holds(grain, condition)),
    );
  }

  #set({ operator, operands }: SetOperation): readonly Shown[] {
    const [first = [], ...others] = operands.map((operand) =>
      operand.kind === 'recall' ? this.#cut(this.#matching(operand), operand) : this.#set(operand),
    );
    return others
      .reduce<readonly Shown[]>((left, right) => {
        const there = new Set(right.map(({ hash }) => hash));
        if (operator === 'intersect') return left.filter(({ hash }) => there.has(hash));
        if (operator === 'except') return left.filter(({ hash }) => !there.has(hash));
        const here = new Set(left.map(({ hash }) => hash));
        return left.concat(right.filter(({ hash }) => !here.has(hash)));
      }, first)
      .toSorted((a, b) => (a.hash < b.hash ? -1 : 1));
  }

  /** An operand with a limit of its own. */
  #cut(grains: readonly Shown[], { stages, recent }: Recall): readonly Shown[] {
    let cut =
      recent === undefined ? grains : this.#sorted(grains, [{ field: 'time', descending: true }]).slice(0, recent);
    for (const stage of stages) {
      if (stage.stage === 'order_by') cut = this.#sorted(cut, keysOf(stage));
      else if (stage.stage === 'limit') cut = cut.slice(0, stage.count);
    }
    return cut;
  }

  #staged(grains: readonly Shown[], stages: readonly Stage[], recent: number | undefined): NaiveResult {
    let left = grains;
    let isCut = recent !== undefined;
    let values: readonly string[] | undefined;
    if (recent !== undefined) left = this.#sorted(left, [{ field: 'time', descending: true }]).slice(0, recent);
    for (const stage of stages) {
      switch (stage.stage) {
        case 'order_by':
          left = this.#sorted(left, keysOf(stage));
          break;
        case 'limit':
          isCut = true;
          if (values === undefined) left = left.slice(0, stage.count);
          else values = values.slice(0, stage.count);
          break;
        case 'offset':
          left = left.slice(Number(stage.count));
          break;
        case 'first':
          isCut = true;
          left = left.slice(0, 1);
          break;
        case 'count':
          return { kind: 'count', count: (values ?? left).length };
        case 'group_by': {
          const groups = new Map<string, number>();
          for (const grain of left) {
            const value = this.value(grain, stage.field.word);
            if (value !== undefined) groups.set(String(value), (groups.get(String(value)) ?? 0) + 1);
          }
          return { kind: 'groups', groups: [...groups].sort(([a], [b]) => (a < b ? -1 : 1)) };
        }
        case 'subjects':
        case 'objects':
        case 'hashes': {
          const field = stage.stage === 'hashes' ? 'hash' : stage.stage.slice(0, -1);
          values = [...new Set(left.flatMap((grain) => (this.value(grain, field) as string | undefined) ?? []))];
          break;
        }
        default:
          break;
      }
    }
    if (values !== undefined) return { kind: 'values', values };
    const shown = isCut ? left : left.slice(0, DEFAULT_LIMIT);
    return { kind: 'grains', hashes: shown.map(({ hash }) => hash), total: grains.length };
  }

  #sorted(
    grains: readonly Shown[],
    keys: readonly { readonly field: string; readonly descending: boolean }[],
  ): readonly Shown[] {
    return grains.toSorted((a, b) => {
      for (const { field, descending } of keys) {
        const [x, y] = [this.value(a, field), this.value(b, field)];
        if (x === y) continue;
        if (x === undefined) return 1;
        if (y === undefined) return -1;
        return (x < y ? -1 : 1) * (descending ? -1 : 1);
      }
      return a.hash < b.hash ? -1 : 1;
    });
  }

  #holds(grain: Shown, condition: Condition): boolean {
    if (condition.op === 'or') return condition.of.some((one) => this.#holds(grain, one));
    if (condition.op === 'and') return condition.of.every((one) => this.#holds(grain, one));
    if (condition.op === 'not') return !this.#holds(grain, condition.of);
    return this.#fits(grain, condition as FieldCondition); // The others are junctions.
  }

  #fits(grain: Shown, condition: FieldCondition): boolean {
    const field = condition.field.word === 'created_at' ? 'time' : condition.field.word;
    // Queries here give times in seconds.
    const unit = field === 'time' || field === 'deadline' ? 1_000 : 1;
    const value = this.value(grain, field);
    if (condition.op === 'exclude')
      return !this.#texts(condition.values).some((one) => (value as string[]).includes(one));
    if (value === undefined) return false;
    const like = (wanted: unknown): boolean =>
      field === 'goal_state' ? stateOf(String(value)) === stateOf(String(wanted)) : value === wanted;
    switch (condition.op) {
      case 'include':
        return this.#texts(condition.values).every((one) => (value as string[]).includes(one));
      case 'is':
        return CATEGORY_RELATIONS[condition.category].includes(String(value));
      case 'in':
      case 'not_in':
        return this.#wanted(condition).some(like) === (condition.op === 'in');
      case 'between': {
        const [low, high] = condition.value.map((one) => Number(literal(one)) * unit);
        return Number(value) >= low! && Number(value) <= high!;
      }
      default: {
        const said = literal((condition as { readonly value: Value }).value); // Only comparisons are left.
        const wanted = typeof said === 'number' ? said * unit : (said as string);
        if (condition.op === '=') return like(wanted);
        if (condition.op === '!=') return !like(wanted);
        if (condition.op === '<') return value < wanted;
        if (condition.op === '<=') return value <= wanted;
        return condition.op === '>' ? value > wanted : value >= wanted;
      }
    }
  }

  #wanted(condition: Extract<FieldCondition, { op: 'in' | 'not_in' }>): readonly unknown[] {
    if ('recall' in condition) return this.#values(condition);
    const wanted: unknown[] = [];
    for (const value of condition.values) {
      if (value.kind === 'parameter') wanted.push(...this.#lets.get(value.name)!);
      else wanted.push(literal(value));
    }
    return wanted;
  }

  #texts(values: readonly Value[]): readonly string[] {
    return values.map((value) => String(literal(value)));
  }

  /** The value of a field; names map to stored fields as the specification says. */
  value({ hash, grain_type, fields }: Shown, field: string): string | number | boolean | readonly string[] | undefined {
    const text = (name: string): string | undefined => (typeof fields[name] === 'string' ? fields[name] : undefined);
    switch (field) {
      case 'hash':
        return hash;
      case 'type':
        return grain_type;
      case 'time':
        return Number(fields['timestamp_ms'] ?? Number(fields['created_at']) * 1_000);
      case 'deadline':
        return grain_type === 'goal' && fields['deadline'] !== undefined
          ? Number(fields['deadline']) * 1_000
          : undefined;
      case 'tags':
        return (fields['tags'] ?? []) as readonly string[];
      case 'confidence':
      case 'importance':
        return fields[field] as number | undefined;
      case 'contradicted':
        return fields['verification_status'] === 'contested' || this.#contested.has(hash);
      case 'object':
        return grain_type === 'goal' ? text('description') : grain_type === 'action' ? text('content') : text('object');
      default:
        return text(field);
    }
  }
}

function stateOf(word: string): string {
  return SAME_STATE[word] ?? word;
}

function keysOf(stage: Extract<Stage, { stage: 'order_by' }>) {
  return [stage, ...(stage.next === undefined ? [] : [stage.next])].map(({ field, descending }) => ({
    field: field.word === 'created_at' ? 'time' : field.word,
    descending: descending === true,
  }));
}

function literal(value: Value): unknown {
  switch (value.kind) {
    case 'hash':
      return `sha256:${value.hex}`;
    case 'string':
    case 'number':
    case 'boolean':
      return value.value;
    default:
      throw new Error(`no ${value.kind} here`);
  }
}

/** Live beliefs of the same namespace and user that state something else about the same thing. */
function contestedOf(grains: readonly Shown[]): ReadonlySet<string> {
  const live = grains.filter(
    ({ grain_type, superseded_by, fields }) =>
      grain_type === 'belief' && superseded_by === null && fields['verification_status'] !== 'retracted',
  );
  const contested = new Set<string>();
  for (const a of live)
    for (const b of live) {
      const same = ['subject', 'relation', 'namespace', 'user_id'].every((name) => a.fields[name] === b.fields[name]);
      if (same && a.fields['object'] !== b.fields['object']) contested.add(a.hash);
    }
  return contested;
}
