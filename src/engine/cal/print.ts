// Prints a tree as text that `parseText` reads back as an equal tree. Each construct has one spelling. Each binding and
// the statement have one line each, apart from the line breaks inside templates.
import { unreachable } from '../base/assert.ts';
import {
  type Assemble,
  type Assignments,
  type Condition,
  type Format,
  type FormatChoice,
  type InClause,
  isJunction,
  type LetBinding,
  type Query,
  type Recall,
  SECTIONS,
  type Sections,
  type Stage,
  type Statement,
  type Value,
  type WithOption,
} from './ast.ts';

export function printQuery({ lets, statement }: Query): string {
  return [...lets.map(printLet), printStatement(statement)].join('\n');
}

function printLet({ name, recall, extract }: LetBinding): string {
  return `LET $${name} = ${printRecall(recall)}${extract === undefined ? '' : ` | ${extract.toUpperCase()}`};`;
}

function printStatement(statement: Statement): string {
  switch (statement.kind) {
    case 'recall':
      return printRecall(statement);
    case 'set_op': {
      const operands = statement.operands.map((operand) => `(${printStatement(operand)})`);
      return spaced([operands.join(` ${statement.operator.toUpperCase()} `), ...statement.stages.map(printStage)]);
    }
    case 'assemble':
      return printAssemble(statement);
    case 'exists':
      return `EXISTS ${printValue(statement.grain)}`;
    case 'history':
      return `HISTORY ${printValue(statement.grain)}`;
    case 'history_diff':
      return `HISTORY ${printValue(statement.from)} DIFF ${printValue(statement.to)}`;
    case 'history_of_pair':
      return spaced([
        'HISTORY',
        printIn(statement.in),
        `WHERE subject = ${printValue(statement.subject)} AND relation = ${printValue(statement.relation)}`,
        statement.asOf !== undefined && `AS OF ${quoted(statement.asOf)}`,
      ]);
    case 'explain':
      return `EXPLAIN ${printStatement(statement.statement)}`;
    case 'describe':
      return spaced(['DESCRIBE', statement.target, statement.grainType?.word]);
    case 'batch':
      return `BATCH { ${statement.entries
        .map(({ label, statement: entry }) => `${label.word}: ${printStatement(entry)}`)
        .join(', ')} }`;
    case 'coalesce':
      return `COALESCE (${statement.branches.map(printRecall).join(', ')})`;
    case 'define_template': {
      const { name, extends: parent, body } = statement;
      return spaced([
        `DEFINE TEMPLATE ${name}`,
        parent !== undefined && `EXTENDS ${parent}`,
        'text' in body ? `AS ${quoted(body.text)}` : printSections(body.sections),
      ]);
    }
    case 'add':
      return spaced([`ADD ${statement.grainType.word}`, ...printSet(statement.set), printReason(statement.reason)]);
    case 'supersede':
      return spaced([
        `SUPERSEDE ${printValue(statement.grain)}`,
        ...printSet(statement.set),
        printReason(statement.reason),
      ]);
    case 'revert':
      return `REVERT ${printValue(statement.grain)} ${printReason(statement.reason)}`;
    default:
      return unreachable(statement);
  }
}

/** Joins the non-empty parts with blanks. */
function spaced(parts: readonly (string | false | undefined)[]): string {
  return parts.filter((part) => part !== false && part !== undefined && part !== '').join(' ');
}

function printRecall(recall: Recall): string {
  const { my, grainType, about, like, since, between, thread, where, recent, contradictions, format } = recall;
  return spaced([
    'RECALL',
    my === true && 'MY',
    grainType?.word,
    printIn(recall.in),
    about !== undefined && `ABOUT ${quoted(about)}`,
    like !== undefined && `LIKE ${quoted(like)}`,
    since && `SINCE ${printValue(since)}`,
    between && `BETWEEN ${between.map(printValue).join(' AND ')}`,
    thread && ('session' in thread ? `THREAD ${quoted(thread.session)}` : `THREAD FROM ${printValue(thread.from)}`),
    where.length > 0 && `WHERE ${where.map(where.length === 1 ? printCondition : printMember).join(' AND ')}`,
    printOptions(recall.with),
    ...recall.stages.map(printStage),
    recent !== undefined && `RECENT ${printNumber(recent)}`,
    contradictions === true && 'CONTRADICTIONS',
    format && `AS ${printFormatChoice(format)}`,
  ]);
}

function printIn(clause: InClause | undefined): string | undefined {
  return clause && `IN ${clause.scope === true ? 'SCOPE ' : ''}${quoted(clause.name)}`;
}

/** A member of a junction. Anything but a plain condition or NOT gets parentheses. */
function printMember(condition: Condition): string {
  const isBare = !isJunction(condition) || condition.op === 'not';
  return isBare ? printCondition(condition) : `(${printCondition(condition)})`;
}

function printCondition(condition: Condition): string {
  if (isJunction(condition)) {
    if (condition.op === 'not') return `NOT ${printMember(condition.of)}`;
    return condition.of.map(printMember).join(` ${condition.op.toUpperCase()} `);
  }
  const field = condition.field.word;
  switch (condition.op) {
    case 'is':
      return `${field} IS ${condition.category.toUpperCase()}`;
    case 'between':
      return `${field} BETWEEN ${condition.value.map(printValue).join(' AND ')}`;
    case 'in':
    case 'not_in': {
      const word = condition.op === 'in' ? 'IN' : 'NOT IN';
      if ('recall' in condition)
        return `${field} ${word} (${printRecall(condition.recall)} | ${condition.extract.toUpperCase()})`;
      return `${field} ${word} (${condition.values.map(printValue).join(', ')})`;
    }
    case 'include':
    case 'exclude':
      return `${field} ${condition.op.toUpperCase()} [${condition.values.map(printValue).join(', ')}]`;
    default:
      return `${field} ${condition.op} ${printValue(condition.value)}`;
  }
}

function printValue(value: Value): string {
  switch (value.kind) {
    case 'string':
      return quoted(value.value);
    case 'number':
      return printNumber(value.value);
    case 'boolean':
      return String(value.value);
    case 'array':
      return `[${value.items.map(printValue).join(', ')}]`;
    case 'hash':
      return `sha256:${value.hex}`;
    case 'parameter':
      return `$${value.name}`;
  }
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** The shortest decimal that reads back as the same double. CAL has no exponents. */
function printNumber(value: number): string {
  const shortest = String(value);
  const parts = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(shortest);
  if (parts === null) return shortest;
  const [, sign = '', whole = '', fraction = '', exponent = ''] = parts;
  const digits = whole + fraction;
  const point = Number(exponent) + 1;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return `${sign}${digits.padEnd(point, '0')}`;
}

function printOptions(options: readonly WithOption[]): string | undefined {
  return options.length === 0 ? undefined : `WITH ${options.map(printOption).join(', ')}`;
}

function printOption(option: WithOption): string {
  switch (option.option) {
    case 'progressive_disclosure':
      return option.level === undefined ? option.option : `${option.option}(${option.level})`;
    case 'diversity':
      if (option.by === 'threshold') return `diversity(threshold, ${printNumber(option.threshold)})`;
      return option.lambda === undefined ? 'diversity(mmr)' : `diversity(mmr, lambda = ${printNumber(option.lambda)})`;
    case 'consistency':
      return `consistency(${option.level === 'bounded' ? `bounded(${printNumber(option.bound)})` : option.level})`;
    case 'dedup':
      return `dedup(${option.field.word})`;
    case 'locale':
      return `locale(${quoted(option.locale)})`;
    case 'cache':
      return `cache(ttl = ${printNumber(option.ttl)})`;
    case 'vendor':
      return option.values.length === 0 ? option.name : `${option.name}(${option.values.map(printValue).join(', ')})`;
    default:
      return option.option;
  }
}

function printStage(stage: Stage): string {
  return `| ${stageText(stage)}`;
}

function stageText(stage: Stage): string {
  switch (stage.stage) {
    case 'select':
      return `SELECT ${stage.fields.map(({ word }) => word).join(', ')}`;
    case 'order_by':
      return `ORDER BY ${[stage, ...(stage.next === undefined ? [] : [stage.next])].map(printSortKey).join(', ')}`;
    case 'limit':
      return `LIMIT ${printNumber(stage.count)}`;
    case 'offset':
      return `OFFSET ${typeof stage.count === 'number' ? printNumber(stage.count) : printValue(stage.count)}`;
    case 'group_by':
      return `GROUP BY ${stage.field.word}`;
    case 'project':
      return `PROJECT ${stage.parts
        .map(({ into, fields }) => `${into}(${fields.map(({ word }) => word).join(', ')})`)
        .join(', ')}`;
    default:
      return stage.stage.toUpperCase();
  }
}

function printSortKey({
  field,
  descending,
}: {
  readonly field: { readonly word: string };
  readonly descending?: boolean;
}) {
  return `${field.word}${descending === undefined ? '' : descending ? ' DESC' : ' ASC'}`;
}

function printAssemble(assemble: Assemble): string {
  const { name, for: intent, sources, budget, priority, format, stream } = assemble;
  const from = sources.map(
    ({ label, from }) =>
      `${label ? `${label.word}: ` : ''}${from.kind === 'parameter' ? printValue(from) : `(${printStatement(from)})`}`,
  );
  return spaced([
    'ASSEMBLE',
    name,
    intent !== undefined && `FOR ${quoted(intent)}`,
    `FROM ${from.join(', ')}`,
    budget && `BUDGET ${printNumber(budget.value)}${budget.unit === undefined ? '' : ` ${budget.unit}`}`,
    priority.length > 0 && `PRIORITY ${priority.map(({ word }) => word).join(' > ')}`,
    format && `FORMAT ${printFormatChoice(format)}`,
    stream && printStream(stream),
    printOptions(assemble.with),
  ]);
}

function printStream({ events, chunkSize }: NonNullable<Assemble['stream']>): string {
  const options = events.map(({ word }) => word);
  if (chunkSize !== undefined) options.push(`chunk_size = ${printNumber(chunkSize)}`);
  return options.length === 0 ? 'STREAM' : `STREAM { ${options.join(', ')} }`;
}

function printFormatChoice(choice: FormatChoice): string {
  if (choice.kind === 'one') return printFormat(choice.format);
  return `[${choice.formats
    .map(({ format, alias }) => `${printFormat(format)}${alias === undefined ? '' : ` AS ${alias}`}`)
    .join(', ')}]`;
}

function printFormat(format: Format): string {
  switch (format.kind) {
    case 'named':
      return format.name;
    case 'template_reference':
      return `TEMPLATE ${format.name}`;
    case 'template_text':
      return `TEMPLATE ${quoted(format.text)}`;
    case 'template_sections':
      return `TEMPLATE { ${printSections(format.sections)} }`;
  }
}

function printSections(sections: Sections): string {
  return spaced(
    SECTIONS.map((name) => {
      const text = sections[name];
      return text !== undefined && `${name.toUpperCase()} {${braced(text)}}`;
    }),
  );
}

/** Reading a section strips one line break at each end. So add one where the text has one of its own. */
function braced(text: string): string {
  const before = /^[ \t]*[\r\n]/.test(text) ? '\n' : '';
  const after = /[\r\n][ \t]*$/.test(text) ? (text.endsWith('\r') ? '\r' : '\n') : '';
  return `${before}${text}${after}`;
}

function printSet(set: Assignments): readonly string[] {
  return set.map(({ field, value }) => `SET ${field.word} = ${printValue(value)}`);
}

function printReason(reason: string): string {
  return `REASON ${quoted(reason)}`;
}
