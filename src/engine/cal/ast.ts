// The syntax tree of a CAL query: the closed union of statements and their parts. The text form and the JSON form are both
// read into it and written from it. No statement can delete or overwrite a grain, and none that could may be added.
import { defined } from '../base/defined.ts';
import type { Comparator, Extractor } from '../calls/cal.ts';

/** A range of the source text, in UTF-16 units, `end` exclusive. Trees from the JSON form have none. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The source range of a node. It has no meaning: trees that differ only in it are equal. */
interface Placed {
  readonly at?: Span;
}

export interface Query extends Placed {
  readonly lets: readonly LetBinding[];
  readonly statement: Statement;
}

export interface LetBinding extends Placed {
  /** Without the `$`. */
  readonly name: string;
  readonly recall: Recall;
  readonly extract?: Extractor;
}

export type Statement =
  | Recall
  | SetOperation
  | Assemble
  | Exists
  | History
  | HistoryDiff
  | HistoryOfPair
  | Explain
  | Describe
  | Batch
  | Coalesce
  | DefineTemplate
  | Add
  | Supersede
  | Revert;

export type Value =
  | ({ readonly kind: 'string'; readonly value: string } & Placed)
  | ({ readonly kind: 'number'; readonly value: number } & Placed)
  | ({ readonly kind: 'boolean'; readonly value: boolean } & Placed)
  | ({ readonly kind: 'array'; readonly items: readonly Value[] } & Placed)
  | HashValue
  | ParameterValue;

export interface HashValue extends Placed {
  readonly kind: 'hash';
  /** 8 to 64 lower-case hex digits. Fewer than 64 are a prefix. */
  readonly hex: string;
}

export interface ParameterValue extends Placed {
  readonly kind: 'parameter';
  /** Without the `$`. */
  readonly name: string;
}

/** A reference to one grain: its address, or a parameter that holds one. */
export type GrainReference = HashValue | ParameterValue;

/** A word from a closed set, such as a field or a type, as written but in lower case. */
export interface Word extends Placed {
  readonly word: string;
}

// ---- RECALL

export interface Recall extends Placed {
  readonly kind: 'recall';
  readonly my?: boolean;
  /** The plural, as written, in lower case. */
  readonly grainType?: Word;
  readonly in?: InClause;
  readonly about?: string;
  readonly like?: string;
  readonly since?: Value;
  readonly between?: readonly [Value, Value];
  readonly thread?: { readonly session: string } | { readonly from: GrainReference };
  /** Empty: no WHERE. */
  readonly where: readonly Condition[];
  /** Empty: no WITH. */
  readonly with: readonly WithOption[];
  readonly stages: readonly Stage[];
  readonly recent?: number;
  readonly contradictions?: boolean;
  readonly format?: FormatChoice;
  /** The source range of each clause, by its first word in lower case (FORMAT as `as`). Like `at`, it has no meaning. */
  readonly places?: Readonly<Record<string, Span>>;
}

export interface InClause extends Placed {
  readonly name: string;
  /** True for `IN SCOPE "x"`. */
  readonly scope?: boolean;
}

export type Condition = FieldCondition | Junction;

/** `field` is in lower case. A domain field keeps its prefix (`hc:patient_id`). */
export type FieldCondition = Placed & { readonly field: Word } & (
    | { readonly op: Comparator; readonly value: Value }
    | { readonly op: 'between'; readonly value: readonly [Value, Value] }
    | { readonly op: 'in' | 'not_in'; readonly values: readonly Value[] }
    | { readonly op: 'in' | 'not_in'; readonly recall: Recall; readonly extract: Extractor }
    | { readonly op: 'include' | 'exclude'; readonly values: readonly Value[] }
    | { readonly op: 'is'; readonly category: Category }
  );

/**
 * Joined conditions. Each has one canonical form, so that a tree can be written and read back: `or` and `and` have two or
 * more members, none of their own kind. `and` occurs only inside `or` and `not`, because WHERE itself joins by AND.
 */
export type Junction = Placed &
  ({ readonly op: 'or' | 'and'; readonly of: readonly Condition[] } | { readonly op: 'not'; readonly of: Condition });

export function isJunction(condition: Condition): condition is Junction {
  return condition.op === 'or' || condition.op === 'and' || condition.op === 'not';
}

/** The conditions on fields at any depth, left to right. */
export function fieldConditions(conditions: readonly Condition[]): readonly FieldCondition[] {
  return conditions.flatMap((condition) => {
    if (!isJunction(condition)) return [condition];
    return fieldConditions(condition.op === 'not' ? [condition.of] : condition.of);
  });
}

/** The conditions joined by `op`, in canonical form. A single condition is returned as it is. */
export function joinedBy(op: 'or' | 'and', conditions: readonly Condition[], at?: Span): Condition {
  const [only, ...others] = conditions;
  if (only !== undefined && others.length === 0) return only;
  const of = conditions.flatMap((one) => (isJunction(one) && one.op !== 'not' && one.op === op ? one.of : [one]));
  return defined({ op, of, at });
}

/** The conditions of a WHERE. All of them must hold. */
export function whereOf(condition: Condition): readonly Condition[] {
  return condition.op === 'and' ? condition.of : [condition];
}

export const CATEGORIES = [
  'preference',
  'knowledge',
  'permission',
  'interaction',
  'agency',
  'lifecycle',
  'observation',
] as const;
export type Category = (typeof CATEGORIES)[number];

export const DISCLOSURE_LEVELS = ['summary', 'headlines', 'standard', 'full'] as const;
export type DisclosureLevel = (typeof DISCLOSURE_LEVELS)[number];

export type WithOption = Placed &
  (
    | {
        readonly option:
          | 'superseded'
          | 'score_breakdown'
          | 'explanation'
          | 'provenance'
          | 'contradiction_detection'
          | 'summarize'
          | 'iso_timestamps';
      }
    | { readonly option: 'progressive_disclosure'; readonly level?: DisclosureLevel }
    | { readonly option: 'diversity'; readonly by: 'mmr'; readonly lambda?: number }
    | { readonly option: 'diversity'; readonly by: 'threshold'; readonly threshold: number }
    | { readonly option: 'consistency'; readonly level: 'eventual' | 'linearizable' }
    | { readonly option: 'consistency'; readonly level: 'bounded'; readonly bound: number }
    | { readonly option: 'dedup'; readonly field: Word }
    | { readonly option: 'locale'; readonly locale: string }
    | { readonly option: 'cache'; readonly ttl: number }
    /** A vendor's hint, `x_name(values)`. `name` includes the `x_`. */
    | { readonly option: 'vendor'; readonly name: string; readonly values: readonly Value[] }
  );

export type Stage = Placed &
  (
    | { readonly stage: 'select'; readonly fields: readonly Word[] }
    /** Without `descending` the order is ascending. It is absent if the query has neither ASC nor DESC. */
    | {
        readonly stage: 'order_by';
        readonly field: Word;
        readonly descending?: boolean;
        /** Breaks ties of the first key. */
        readonly next?: { readonly field: Word; readonly descending?: boolean };
      }
    | { readonly stage: 'limit'; readonly count: number }
    | { readonly stage: 'offset'; readonly count: number | ParameterValue }
    | { readonly stage: 'count' | 'first' | Extractor }
    | { readonly stage: 'group_by'; readonly field: Word }
    | { readonly stage: 'project'; readonly parts: readonly ProjectPart[] }
  );

export interface ProjectPart extends Placed {
  readonly into: 'content' | 'attr';
  readonly fields: readonly Word[];
}

// ---- formats and templates

export const FORMATS = ['sml', 'markdown', 'text', 'json', 'yaml', 'triples', 'toon'] as const;
export type FormatName = (typeof FORMATS)[number];

/** Synonyms of formats. */
export const FORMAT_SYNONYMS: Readonly<Record<string, FormatName>> = {
  structured: 'sml',
  readable: 'markdown',
  compact: 'text',
  data: 'json',
};

export const SECTIONS = ['header', 'element', 'element_summary', 'element_omit', 'source_break', 'footer'] as const;
export type SectionName = (typeof SECTIONS)[number];
/** The bodies of a template, by section. */
export type Sections = Readonly<Partial<Record<SectionName, string>>>;

export type Format =
  /** `name` as written, in lower case: a format or a synonym. */
  | ({ readonly kind: 'named'; readonly name: string } & Placed)
  | ({ readonly kind: 'template_reference'; readonly name: string } & Placed)
  | ({ readonly kind: 'template_text'; readonly text: string } & Placed)
  | ({ readonly kind: 'template_sections'; readonly sections: Sections } & Placed);

export type FormatChoice =
  | ({ readonly kind: 'one'; readonly format: Format } & Placed)
  | ({
      readonly kind: 'list';
      readonly formats: readonly { readonly format: Format; readonly alias?: string }[];
    } & Placed);

export interface DefineTemplate extends Placed {
  readonly kind: 'define_template';
  readonly name: string;
  readonly extends?: string;
  readonly body: { readonly text: string } | { readonly sections: Sections };
}

// ---- the other statements

export const SET_OPERATORS = ['union', 'intersect', 'except'] as const;

export interface SetOperation extends Placed {
  readonly kind: 'set_op';
  readonly operator: (typeof SET_OPERATORS)[number];
  /** At least two. */
  readonly operands: readonly (Recall | SetOperation)[];
  readonly stages: readonly Stage[];
}

export interface Assemble extends Placed {
  readonly kind: 'assemble';
  readonly name?: string;
  readonly for?: string;
  readonly sources: readonly AssembleSource[];
  /** The unit is tokens if absent. */
  readonly budget?: { readonly value: number; readonly unit?: 'tokens' | 'grains' } & Placed;
  /** Labels, most important first. Empty if there is no PRIORITY. */
  readonly priority: readonly Word[];
  readonly format?: FormatChoice;
  readonly stream?: StreamOptions;
  /** Empty: no WITH. */
  readonly with: readonly WithOption[];
}

export interface AssembleSource extends Placed {
  readonly label?: Word;
  readonly from: Recall | SetOperation | ParameterValue;
}

export interface StreamOptions extends Placed {
  /** Words as written, in lower case. Empty for a bare STREAM. */
  readonly events: readonly Word[];
  readonly chunkSize?: number;
}

export interface Exists extends Placed {
  readonly kind: 'exists';
  readonly grain: GrainReference;
}

export interface History extends Placed {
  readonly kind: 'history';
  readonly grain: GrainReference;
}

export interface HistoryDiff extends Placed {
  readonly kind: 'history_diff';
  readonly from: GrainReference;
  readonly to: GrainReference;
}

export interface HistoryOfPair extends Placed {
  readonly kind: 'history_of_pair';
  readonly in?: InClause;
  readonly subject: Value;
  readonly relation: Value;
  readonly asOf?: string;
}

export interface Explain extends Placed {
  readonly kind: 'explain';
  readonly statement: Recall | Assemble | SetOperation | Batch | Coalesce | Add | Supersede | Revert;
}

export const DESCRIBE_TARGETS = [
  'grain_types',
  'fields',
  'capabilities',
  'server',
  'templates',
  'grammar',
  'primer',
] as const;

export interface Describe extends Placed {
  readonly kind: 'describe';
  readonly target: (typeof DESCRIBE_TARGETS)[number];
  /** The singular. Only with `fields`. */
  readonly grainType?: Word;
}

export interface Batch extends Placed {
  readonly kind: 'batch';
  readonly entries: readonly { readonly label: Word; readonly statement: BatchStatement }[];
}

export type BatchStatement = Recall | Exists | History | HistoryDiff | HistoryOfPair | Describe | Coalesce;

export interface Coalesce extends Placed {
  readonly kind: 'coalesce';
  /** Two or more. */
  readonly branches: readonly Recall[];
}

/** In query order. The tree can hold a field twice; the validator refuses it. */
export type Assignments = readonly { readonly field: Word; readonly value: Value }[];

export interface Add extends Placed {
  readonly kind: 'add';
  readonly grainType: Word;
  readonly set: Assignments;
  readonly reason: string;
}

export interface Supersede extends Placed {
  readonly kind: 'supersede';
  readonly grain: GrainReference;
  readonly set: Assignments;
  readonly reason: string;
}

export interface Revert extends Placed {
  readonly kind: 'revert';
  readonly grain: GrainReference;
  readonly reason: string;
}
