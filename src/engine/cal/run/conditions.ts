// Splits the clauses of a RECALL into index conditions and tests on opened grains. Each condition becomes one of the
// two, or both if the index lets too much through. No condition is ever dropped.
import { unreachable } from '../../base/assert.ts';
import type { Comparator, FieldTest, LeafTest, Scalar } from '../../calls/cal.ts';
import type { GrainFilter, NumberTest } from '../../calls/grain.ts';
import { tripleForm } from '../../grain/api/text.ts';
import type { GrainType } from '../../grain/grain.ts';
import { GRAIN_TYPES } from '../../grain/types/table.ts';
import { type Facet, fieldKey, VERIFICATIONS } from '../../index/parts/part.ts';
import { scopeView } from '../../recall/filter/scope.ts';
import { isListed } from '../../store/indexed-fields.ts';
import {
  type Condition,
  type FieldCondition,
  fieldConditions,
  isJunction,
  type Junction,
  type Recall,
  type Value,
  whereOf,
} from '../ast.ts';
import { CalError } from '../errors.ts';
import { goalStatesLike } from '../output/fields.ts';
import { commonField, fieldNamed, typeField } from '../vocabulary/fields.ts';
import { typeOfPlural } from '../vocabulary/grain-types.ts';
import { CATEGORY_RELATIONS } from '../vocabulary/relations.ts';
import { addressesOf, ConditionValues, type Meaning } from './condition-values.ts';
import { checkWhole, type Subquery, testOf, timesOf } from './field-tests.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** How one condition is evaluated, for EXPLAIN. */
export interface Met {
  readonly name: string;
  /** The index that serves it; undefined: by opening grains. */
  readonly index: string | undefined;
  /** The condition as a filter of its own, if an index can count its grains. */
  readonly filter?: GrainFilter | undefined;
}

export interface Conditions {
  readonly filter: GrainFilter;
  readonly tests: readonly FieldTest[];
  /** Conditions on the score, applied after the search. */
  readonly scoreTests: readonly FieldTest[];
  /** The combined search text; undefined: no search. */
  readonly text: string | undefined;
  /** Addresses or address prefixes, one element for each condition on `hash`. */
  readonly addresses: readonly (readonly string[])[];
  /** True if two conditions contradict each other or one has no possible value. */
  readonly nothing: boolean;
  readonly met: readonly Met[];
}

/** True if the triple index holds CAL's value of this field. For other grain types it holds something else. */
function isIndexed(field: 'subject' | 'relation' | 'object', type: GrainType | undefined): boolean {
  if (field === 'subject') return true;
  if (type === undefined) return false;
  const { relationIndexed, objectIndexed } = GRAIN_TYPES[type].cal;
  return field === 'relation' ? relationIndexed : objectIndexed;
}

/** The conditions of a recall, without those on a subquery: their values come through `subquery`. */
export function conditionsOf(
  recall: Recall,
  meaning: Meaning,
  subquery: Subquery,
  options: { readonly aboutAsText: boolean } = { aboutAsText: false },
): Conditions {
  const builder = new Builder(recall, meaning);
  const { my, about, like, since, between, thread, contradictions } = recall;
  if (recall.in !== undefined) {
    if (recall.in.scope === true) builder.scope(recall.in.name);
    else builder.namespace(recall.in.name);
  }
  if (my === true) builder.user(meaning.userId);
  if (about !== undefined) {
    if (options.aboutAsText) builder.search(about, 'about');
    else builder.triple('subject', [about], 'about');
  }
  if (like !== undefined) builder.search(like, 'like');
  if (since !== undefined) builder.since(since, 'since');
  if (between !== undefined) builder.within('time', between, 'between');
  if (thread !== undefined) builder.events();
  if (thread !== undefined && 'session' in thread) builder.facet('session', [thread.session], 'thread');
  if (contradictions === true) builder.test({ field: 'contradicted', op: '=', value: true }, 'contradictions');
  for (const condition of recall.where) builder.condition(condition, subquery);
  return builder.done();
}

/** A branch that no grain can match. */
const NOTHING: GrainFilter = { anyOf: [{ facet: 'type', values: [] }] };

class Builder {
  readonly #meaning: Meaning;
  readonly #values: ConditionValues;
  readonly #recall: Recall;
  readonly #type: GrainType | undefined;
  readonly #filter: Mutable<GrainFilter> = {};
  readonly #anyOf: { facet: Facet; values: readonly string[] }[] = [];
  readonly #tests: FieldTest[] = [];
  readonly #scoreTests: FieldTest[] = [];
  readonly #texts: string[] = [];
  readonly #addressLists: (readonly string[])[] = [];
  readonly #met: Met[] = [];
  #nothing = false;

  constructor(recall: Recall, meaning: Meaning) {
    this.#meaning = meaning;
    this.#values = new ConditionValues(meaning);
    this.#recall = recall;
    this.#type = recall.grainType === undefined ? undefined : typeOfPlural(recall.grainType.word);
    if (this.#type !== undefined) {
      this.#filter.grainTypes = [this.#type];
      this.#note('type', 'facet type', { grainTypes: [this.#type] });
    }
    if (recall.with.some(({ option }) => option === 'superseded')) this.#filter.includeSuperseded = true;
  }

  done(): Conditions {
    const filter: GrainFilter = this.#anyOf.length === 0 ? this.#filter : { ...this.#filter, anyOf: this.#anyOf };
    return {
      filter,
      tests: this.#tests,
      scoreTests: this.#scoreTests,
      text: this.#texts.length === 0 ? undefined : this.#texts.join(' '),
      addresses: this.#addressLists,
      nothing: this.#nothing,
      met: this.#met,
    };
  }

  #note(name: string, index: string | undefined, filter?: GrainFilter): void {
    this.#met.push({ name, index, filter });
  }

  test(test: LeafTest, name: string = test.field): void {
    this.#tests.push(test);
    this.#note(name, undefined);
  }

  search(text: string, name: string): void {
    this.#texts.push(text);
    this.#note(name, 'text');
  }

  facet(facet: Facet, values: readonly string[], name: string): void {
    if (values.length === 0) this.#nothing = true;
    const one = { facet, values };
    this.#anyOf.push(one);
    this.#note(name, `facet ${facet === 'field' ? name : facet}`, { anyOf: [one] });
  }

  /** A conversation consists of events even if the query names no type, because other grains can have a session too. */
  events(): void {
    if (this.#type === undefined) this.#filter.grainTypes = ['event'];
  }

  /** The session's namespace overrides this one; every read carries it anyway. */
  namespace(name: string): void {
    const { namespace } = this.#meaning;
    if (namespace !== undefined) this.#note('namespace', 'facet namespace');
    else this.facet('namespace', [name], 'namespace');
  }

  /** A namespace with its ancestors and descendants. A bound session uses its own namespace instead. */
  scope(path: string): void {
    const scope = this.#meaning.namespace === undefined ? scopeView(path, false) : undefined;
    if (scope === undefined) {
      if (this.#meaning.namespace === undefined) this.#nothing = true;
      this.#note('scope', 'facet namespace');
      return;
    }
    this.#filter.scope = scope;
    this.#note('scope', 'facet namespace', { scope });
  }

  user(userId: string | undefined): void {
    if (userId === undefined)
      throw new CalError('CAL-E008', 'MY needs a session that is bound to a user', {
        suggestion: 'Name the user with user_id = "…", or send x-user-id.',
      });
    this.facet('user', [userId], 'user_id');
  }

  /** Subject, relation or object is one of these. */
  triple(field: 'subject' | 'relation' | 'object', wanted: readonly string[], name: string = field): void {
    if (wanted.length === 0) this.#nothing = true;
    if (!isIndexed(field, this.#type)) {
      this.test({ field, op: 'in', values: wanted }, name);
      return;
    }
    // No side of a triple is blank. The index lists something else under a blank relation.
    const values = wanted.filter((value) => tripleForm(value) !== '');
    if (values.length === 0) this.#nothing = true;
    const [first] = values;
    const isSingle = values.length === 1 && first !== undefined;
    // The pair index serves a single subject with a single relation.
    if (isSingle && this.#filter[field] === undefined) {
      this.#filter[field] = first;
      this.#note(name, `facet ${field}`, { [field]: first });
      return;
    }
    if (isSingle && tripleForm(this.#filter[field]!) === tripleForm(first)) {
      this.#note(name, `facet ${field}`, { [field]: first });
      return;
    }
    this.facet(field, values, name);
  }

  since(value: Value, name: string): void {
    this.#time(this.#values.spanOf(value, undefined).startMs, this.#meaning.nowMs, name);
  }

  within(field: string, [from, to]: readonly [Value, Value], name: string): void {
    const low = this.#values.spanOf(from, undefined).startMs;
    const high = this.#values.spanOf(to, undefined).endMs;
    if (field === 'time') this.#time(low, high, name);
    else this.test({ field, op: 'between', low, high }, name);
  }

  #time(fromMs: number, toMs: number, name: string): void {
    const { timeFromMs = Number.NEGATIVE_INFINITY, timeToMs = Number.POSITIVE_INFINITY } = this.#filter;
    this.#filter.timeFromMs = Math.max(timeFromMs, fromMs);
    this.#filter.timeToMs = Math.min(timeToMs, toMs);
    if (this.#filter.timeFromMs > this.#filter.timeToMs) this.#nothing = true;
    this.#note(name, 'column time', { timeFromMs: fromMs, timeToMs: toMs });
  }

  condition(condition: Condition, subquery: Subquery): void {
    if (isJunction(condition)) this.#junction(condition, subquery);
    else this.#field(condition, subquery);
  }

  /** Uses indexes only if they serve every branch; otherwise one test on opened grains. */
  #junction(junction: Junction, subquery: Subquery): void {
    const name = `${junction.op}(${[...new Set(fieldConditions([junction]).map(({ field }) => field.word))].join(', ')})`;
    if (junction.op === 'or') {
      const branches = junction.of.map((branch) => this.#branch([branch], subquery));
      if (branches.every((branch) => branch !== undefined)) {
        const some = branches.filter((branch) => branch !== NOTHING);
        if (some.length === 0) this.#nothing = true;
        this.#filter.either = [...(this.#filter.either ?? []), some];
        this.#note(name, 'facets and columns', { either: [some] });
        return;
      }
    }
    if (junction.op === 'not' && this.#forUser(junction.of, name)) return;
    if (junction.op === 'not') {
      const branch = this.#branch(whereOf(junction.of), subquery);
      if (branch !== undefined) {
        if (branch !== NOTHING) this.#filter.except = [...(this.#filter.except ?? []), branch];
        this.#note(name, 'facets and columns');
        return;
      }
    }
    this.#tests.push(testOf(junction, { values: this.#values, namespace: this.#meaning.namespace, subquery }));
    this.#note(name, undefined);
  }

  /** `NOT user_id != "x"`: of this user, or of nobody. False for any other condition. */
  #forUser(negated: Condition, name: string): boolean {
    const [condition, ...others] = whereOf(negated);
    if (condition === undefined || others.length > 0 || isJunction(condition) || condition.op !== '!=') return false;
    if (fieldNamed(condition.field.word) !== 'user_id') return false;
    const forUser = this.#values.string(condition.value, condition);
    if (this.#filter.forUser !== undefined && this.#filter.forUser !== forUser) return false;
    this.#filter.forUser = forUser;
    this.#note(name, 'facet user', { forUser });
    return true;
  }

  /** The conditions as index filters; undefined if indexes alone cannot decide. */
  #branch(conditions: readonly Condition[], subquery: Subquery): GrainFilter | undefined {
    const builder = new Builder({ ...this.#recall, with: [] }, this.#meaning);
    for (const condition of conditions) builder.condition(condition, subquery);
    const { filter, tests, addresses, nothing, met } = builder.done();
    if (nothing) return NOTHING;
    return tests.length > 0 || addresses.length > 0 || met.some(({ index }) => index === undefined)
      ? undefined
      : filter;
  }

  #field(condition: FieldCondition, subquery: Subquery): void {
    const field = fieldNamed(condition.field.word);
    switch (condition.op) {
      case 'is':
        this.triple('relation', CATEGORY_RELATIONS[condition.category]);
        return;
      case 'include':
      case 'exclude': {
        const values = this.#values.strings(condition.values, condition);
        if (field !== 'tags') this.test({ field, op: condition.op, values });
        else this.#tags(condition.op, values);
        return;
      }
      case 'in':
      case 'not_in': {
        const isTime = (commonField(field) ?? typeField(field)?.field)?.type === 'temporal';
        if (isTime && 'values' in condition) {
          this.#tests.push(timesOf(field, condition.op, condition.values, condition, this.#values));
          this.#note(field, undefined);
          return;
        }
        const values = 'values' in condition ? this.#values.scalars(condition.values, condition) : subquery(condition);
        // Only in a query that is explained, not run.
        if (values === undefined) this.#note(field, undefined);
        else if (condition.op === 'in') this.#oneOf(field, values, condition);
        else {
          checkWhole(condition);
          this.#noneOf(field, values);
        }
        return;
      }
      case 'between':
        this.within(field, condition.value, field);
        return;
      case '=':
      case '!=':
      case '>=':
      case '<=':
      case '>':
      case '<':
        this.#compare(field, condition.op, condition.value, condition);
        return;
      default:
        unreachable(condition);
    }
  }

  #tags(op: 'include' | 'exclude', values: readonly string[]): void {
    if (op === 'include') this.#filter.tags = [...(this.#filter.tags ?? []), ...values];
    else this.#filter.excludeTags = [...(this.#filter.excludeTags ?? []), ...values];
    this.#note('tags', 'facet tag', op === 'include' ? { tags: values } : undefined);
  }

  #oneOf(field: string, values: readonly Scalar[], condition: FieldCondition): void {
    if (field === 'subject' || field === 'relation' || field === 'object') this.triple(field, values.map(String));
    else if (field === 'user_id') this.facet('user', values.map(String), field);
    else if (field === 'session_id') this.facet('session', values.map(String), field);
    else if (field === 'namespace' && this.#meaning.namespace !== undefined) this.namespace('');
    else if (field === 'namespace') this.facet('namespace', values.map(String), field);
    else if (field === 'type') this.#types(values.map(String));
    else if (field === 'hash') {
      this.#addressLists.push(addressesOf(values, condition));
      this.#note(field, 'address');
    } else if (values.length === 0) this.#nothing = true;
    else if (!this.#listed(field, '=', values)) this.test({ field, op: 'in', values });
  }

  #noneOf(field: string, values: readonly Scalar[]): void {
    if (field === 'namespace' && this.#meaning.namespace !== undefined) this.namespace('');
    else if (!this.#listed(field, '!=', values)) this.test({ field, op: 'not_in', values });
  }

  #compare(field: string, op: Comparator, value: Value, condition: FieldCondition): void {
    const known = commonField(field) ?? typeField(field)?.field;
    if (known?.search === true) {
      this.search(this.#values.string(value, condition), field);
      return;
    }
    if (known?.type === 'temporal') {
      const { low, high } = this.#values.rangeOf(field, op, value, condition);
      if (field === 'time') this.#time(low, high, field);
      else this.test({ field, op: 'between', low, high });
      return;
    }
    if (op === '=' && this.#equals(field, value, condition)) return;
    const wanted = this.#values.scalar(value, condition);
    if (field === 'score') {
      this.#scoreTests.push({ field, op, value: wanted });
      this.#note(field, 'score');
      return;
    }
    if ((field === 'confidence' || field === 'importance') && typeof wanted === 'number') {
      const one: NumberTest = { field, op, value: wanted };
      this.#filter.numbers = [...(this.#filter.numbers ?? []), one];
      this.#note(field, `column ${field}`, { numbers: [one] });
      return;
    }
    if ((op === '=' || op === '!=') && this.#listed(field, op, [wanted])) return;
    this.test({ field, op, value: wanted });
  }

  /** Served by a field's value lists or by verification flags; false if the field has neither. */
  #listed(field: string, op: '=' | '!=', wanted: readonly Scalar[]): boolean {
    if (field === 'verification_status') {
      const words = VERIFICATIONS.filter((word) => wanted.includes(word) === (op === '='));
      const known = this.#filter.verification ?? VERIFICATIONS;
      this.#filter.verification = known.filter((word) => words.includes(word));
      this.#note(field, 'bitmap verification', { verification: words });
      return true;
    }
    if (!isListed(field)) return false;
    const values = wanted.flatMap((value) => {
      const text = String(value).normalize('NFC');
      return field === 'goal_state' ? goalStatesLike(text) : [text];
    });
    if (op === '=')
      this.facet(
        'field',
        values.map((value) => fieldKey(field, value)),
        field,
      );
    else {
      const one = { field, values };
      this.#filter.otherThan = [...(this.#filter.otherThan ?? []), one];
      this.#note(field, `facet ${field}`, { otherThan: [one] });
    }
    return true;
  }

  /** The index condition for `=`; false if no index has the field. */
  #equals(field: string, value: Value, condition: FieldCondition): boolean {
    switch (field) {
      case 'subject':
      case 'relation':
      case 'object':
        this.triple(field, [this.#values.string(value, condition)]);
        return true;
      case 'namespace':
        this.namespace(this.#values.string(value, condition));
        return true;
      case 'user_id':
        this.facet('user', [this.#values.string(value, condition)], field);
        return true;
      case 'session_id':
        this.facet('session', [this.#values.string(value, condition)], field);
        return true;
      case 'type':
        this.#types([this.#values.string(value, condition)]);
        return true;
      case 'hash':
        this.#addressLists.push([this.#values.string(value, condition).replace(/^sha256:/i, '')]);
        this.#note(field, 'address');
        return true;
      default:
        return false;
    }
  }

  #types(wanted: readonly string[]): void {
    const types = (this.#filter.grainTypes ?? wanted).filter((type) => wanted.includes(type));
    if (types.length === 0) this.#nothing = true;
    this.#filter.grainTypes = types;
    this.#note('type', 'facet type', { grainTypes: wanted });
  }
}
