// Writes a tree in the JSON form. `readJson` reads it back as an equal tree. Source ranges are not written.

import { unreachable } from '../../base/assert.ts';
import { defined } from '../../base/defined.ts';
import {
  type AssembleSource,
  type Condition,
  type Format,
  type FormatChoice,
  type GrainReference,
  type InClause,
  isJunction,
  type LetBinding,
  type Query,
  type Recall,
  type Stage,
  type Statement,
  type Value,
  type WithOption,
  type Word,
} from '../ast.ts';

type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

export function writeJson({ lets, statement }: Query): JsonObject {
  return defined({
    cal_version: 1,
    let: lets.length > 0 ? lets.map(writeLet) : undefined,
    ...writeStatement(statement),
  });
}

function writeLet({ name, recall, extract }: LetBinding): JsonObject {
  return defined({ name, query: writeStatement(recall), extract });
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one case for each kind of statement
function writeStatement(statement: Statement): JsonObject {
  switch (statement.kind) {
    case 'recall':
      return writeRecall(statement);
    case 'set_op':
      return {
        statement: 'set_op',
        op: statement.operator,
        operands: statement.operands.map(writeStatement),
        ...writePipeline(statement.stages),
      };
    case 'assemble': {
      const { name, for: intent, sources, budget, priority, format, stream } = statement;
      return {
        statement: 'assemble',
        ...defined({
          name,
          for: intent,
          from: sources.map(writeSource),
          budget: budget && defined({ value: budget.value, unit: budget.unit }),
          priority: writeWords(priority),
          format: format && writeFormatChoice(format),
          stream: stream && defined({ events: writeWords(stream.events), chunk_size: stream.chunkSize }),
        }),
        ...writeOptions(statement.with),
      };
    }
    case 'exists':
      return { statement: 'exists', hash: writeReference(statement.grain) };
    case 'history':
      return { statement: 'history', hash: writeReference(statement.grain) };
    case 'history_diff':
      return { statement: 'history', hash: writeReference(statement.from), diff: writeReference(statement.to) };
    case 'history_of_pair':
      return defined({
        statement: 'history',
        ...writeIn(statement.in),
        subject: writeValue(statement.subject),
        relation: writeValue(statement.relation),
        as_of: statement.asOf,
      });
    case 'explain':
      return { statement: 'explain', query: writeStatement(statement.statement) };
    case 'describe':
      return defined({ statement: 'describe', target: statement.target, grain_type: statement.grainType?.word });
    case 'batch':
      return {
        statement: 'batch',
        entries: statement.entries.map(({ label, statement: entry }) => ({
          label: label.word,
          query: writeStatement(entry),
        })),
      };
    case 'coalesce':
      return { statement: 'coalesce', branches: statement.branches.map(writeRecall) };
    case 'define_template':
      return {
        ...defined({ statement: 'define_template', name: statement.name, extends: statement.extends }),
        ...statement.body,
      };
    case 'add':
      return {
        statement: 'add',
        grain_type: statement.grainType.word,
        set: writeSet(statement.set),
        reason: statement.reason,
      };
    case 'supersede':
      return {
        statement: 'supersede',
        hash: writeReference(statement.grain),
        set: writeSet(statement.set),
        reason: statement.reason,
      };
    case 'revert':
      return { statement: 'revert', hash: writeReference(statement.grain), reason: statement.reason };
    default:
      return unreachable(statement);
  }
}

function writeRecall(recall: Recall): JsonObject {
  const { my, grainType, about, like, since, between, thread, where, recent, contradictions, format } = recall;
  return defined({
    statement: 'recall',
    my: my || undefined,
    grain_type: grainType?.word,
    ...writeIn(recall.in),
    about,
    like,
    since: since && writeValue(since),
    between: between?.map(writeValue),
    thread: thread && ('session' in thread ? thread.session : { from: writeReference(thread.from) }),
    where: where.length > 0 ? where.map(writeCondition) : undefined,
    ...writeOptions(recall.with),
    ...writePipeline(recall.stages),
    recent,
    contradictions: contradictions || undefined,
    as: format && writeFormatChoice(format),
  });
}

function writeSource({ label, from }: AssembleSource): JsonObject {
  const source: JsonObject = from.kind === 'parameter' ? { let: from.name } : { query: writeStatement(from) };
  return label === undefined ? source : { label: label.word, ...source };
}

/** The words of a list that the JSON form leaves out when it is empty. */
function writeWords(words: readonly Word[]): readonly string[] | undefined {
  return words.length > 0 ? words.map(({ word }) => word) : undefined;
}

function writeIn(clause: InClause | undefined): JsonObject {
  if (clause === undefined) return {};
  return { in: clause.scope === true ? { scope: clause.name } : clause.name };
}

function writeCondition(condition: Condition): JsonObject {
  if (isJunction(condition))
    return condition.op === 'not'
      ? { not: writeCondition(condition.of) }
      : { [condition.op]: condition.of.map(writeCondition) };
  const { op } = condition;
  const field = condition.field.word;
  switch (op) {
    case 'is':
      return { field, op, value: condition.category.toUpperCase() };
    case 'between':
      return { field, op, value: condition.value.map(writeValue) };
    case 'in':
    case 'not_in':
      if ('recall' in condition) return { field, op, query: writeRecall(condition.recall), extract: condition.extract };
      return { field, op, value: condition.values.map(writeValue) };
    case 'include':
    case 'exclude':
      return { field, op, value: condition.values.map(writeValue) };
    default:
      return { field, op, value: writeValue(condition.value) };
  }
}

function writeValue(value: Value): Json {
  switch (value.kind) {
    case 'string':
    case 'number':
    case 'boolean':
      return value.value;
    case 'array':
      return value.items.map(writeValue);
    case 'hash':
      return { $hash: `sha256:${value.hex}` };
    case 'parameter':
      return { $param: value.name };
  }
}

function writeReference(reference: GrainReference): Json {
  return reference.kind === 'hash' ? `sha256:${reference.hex}` : { $param: reference.name };
}

function writeOptions(options: readonly WithOption[]): JsonObject {
  return options.length === 0 ? {} : { with: options.map(writeOption) };
}

function writeOption(option: WithOption): Json {
  switch (option.option) {
    case 'progressive_disclosure':
      return option.level === undefined ? option.option : { progressive_disclosure: option.level };
    case 'diversity':
      if (option.by === 'threshold') return { diversity: { threshold: option.threshold } };
      return { diversity: option.lambda === undefined ? 'mmr' : { mmr: option.lambda } };
    case 'consistency':
      return { consistency: option.level === 'bounded' ? { bounded: option.bound } : option.level };
    case 'dedup':
      return { dedup: option.field.word };
    case 'locale':
      return { locale: option.locale };
    case 'cache':
      return { cache: { ttl: option.ttl } };
    case 'vendor':
      return option.values.length === 0 ? option.name : { [option.name]: option.values.map(writeValue) };
    default:
      return option.option;
  }
}

function writePipeline(stages: readonly Stage[]): JsonObject {
  return stages.length === 0 ? {} : { pipeline: stages.map(writeStage) };
}

function writeStage(stage: Stage): Json {
  switch (stage.stage) {
    case 'select':
      return { select: stage.fields.map(({ word }) => word) };
    case 'order_by': {
      return defined({ ...writeSortKey(stage), next: stage.next && writeSortKey(stage.next) });
    }
    case 'limit':
      return { limit: stage.count };
    case 'offset':
      return { offset: typeof stage.count === 'number' ? stage.count : writeValue(stage.count) };
    case 'group_by':
      return { group_by: stage.field.word };
    case 'project':
      return { project: stage.parts.map(({ into, fields }) => ({ [into]: fields.map(({ word }) => word) })) };
    default:
      return stage.stage;
  }
}

function writeSortKey({ field, descending }: { readonly field: Word; readonly descending?: boolean }): JsonObject {
  const dir = descending === undefined ? undefined : descending ? 'desc' : 'asc';
  return defined({ order_by: field.word, dir });
}

function writeFormatChoice(choice: FormatChoice): Json {
  if (choice.kind === 'one') return writeFormat(choice.format);
  return choice.formats.map(({ format, alias }) => defined({ format: writeFormat(format), alias }));
}

function writeFormat(format: Format): Json {
  switch (format.kind) {
    case 'named':
      return format.name;
    case 'template_reference':
      return { template: { name: format.name } };
    case 'template_text':
      return { template: { text: format.text } };
    case 'template_sections':
      return { template: { sections: format.sections } };
  }
}

function writeSet(set: Extract<Statement, { readonly kind: 'add' }>['set']): JsonObject {
  return Object.fromEntries(set.map(({ field, value }) => [field.word, writeValue(value)]));
}
