// Parses the body of a template section into a tree of literal text, variables, sections and repetitions. Refuses unknown
// variables and any tag that would unescape, include or call something.
import type { Span } from '../ast.ts';
import { CalError } from '../errors.ts';
import { isVariable, VARIABLES, type Variable } from './template-variables.ts';

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'variable'; readonly variable: Variable }
  | {
      readonly kind: 'section';
      readonly variable: Variable;
      /** True if shown when the variable has no value. */
      readonly isInverted: boolean;
      readonly nodes: readonly TemplateNode[];
    }
  | { readonly kind: 'each'; readonly nodes: readonly TemplateNode[] };

/** Maximum nesting of sections. */
export const SECTION_DEPTH_MAX = 5;

interface Open {
  readonly name: string;
  readonly isInverted: boolean;
  readonly nodes: TemplateNode[];
}

const FORBIDDEN: Readonly<Record<string, string>> = {
  '{': 'unescaped output',
  '&': 'unescaped output',
  '>': 'partials',
  '=': 'other delimiters',
};

/** Throws CalError E090, E091, E093 or E094. `at` is the range of the template in the query. */
export function parseTemplate(body: string, at?: Span): TemplateNode[] {
  const root: TemplateNode[] = [];
  const open: Open[] = [];
  const into = (): TemplateNode[] => open.at(-1)?.nodes ?? root;
  let from = 0;
  for (let start = body.indexOf('{{'); start >= 0; start = body.indexOf('{{', from)) {
    if (start > from) into().push({ kind: 'text', text: body.slice(from, start) });
    const end = body.indexOf('}}', start);
    if (end < 0) throw badSyntax('{{ is not closed', at);
    const tag = body.slice(start + 2, end);
    from = end + 2;
    const forbidden = FORBIDDEN[tag[0] ?? ''];
    if (forbidden !== undefined) throw badSyntax(`${forbidden} ({{${tag[0]}) cannot be used in a template`, at);
    if (!tag.startsWith('!')) readTag(tag, { open, into, at });
  }
  const last = open.at(-1);
  if (last !== undefined) throw new CalError('CAL-E091', `section ${last.name} is not closed`, { at });
  if (from < body.length) root.push({ kind: 'text', text: body.slice(from) });
  return root;
}

interface Reading {
  readonly open: Open[];
  readonly into: () => TemplateNode[];
  readonly at: Span | undefined;
}

function readTag(tag: string, { open, into, at }: Reading): void {
  const sign = /^[#^/]/.exec(tag)?.[0];
  const name = tag.slice(sign?.length ?? 0).trim();
  if (!/^[A-Za-z_][A-Za-z0-9_.]*$/.test(name))
    throw badSyntax(`{{${tag.slice(0, 40)}}} is not a variable or a section`, at);
  const isEach = name === 'each';
  if (sign === undefined) into().push({ kind: 'variable', variable: known(name, at) });
  else if (sign === '/') {
    const closed = open.pop();
    if (closed?.name !== name) throw new CalError('CAL-E091', `{{/${name}}} closes no open section`, { at });
    const { isInverted, nodes } = closed;
    into().push(isEach ? { kind: 'each', nodes } : { kind: 'section', variable: known(name, at), isInverted, nodes });
  } else {
    const isInverted = sign === '^';
    if (!isEach) known(name, at);
    else if (isInverted) throw badSyntax('{{^each}} has no meaning', at);
    // An {{#each}} inside another could repeat 200 × 200 times.
    if (open.length >= SECTION_DEPTH_MAX || (isEach && open.some((one) => one.name === 'each')))
      throw new CalError('CAL-E093', `{{#${name}}} is nested too deep`, { at });
    open.push({ name, isInverted, nodes: [] });
  }
}

function known(name: string, at: Span | undefined): Variable {
  if (isVariable(name)) return name;
  throw new CalError('CAL-E090', `${name} is not a template variable`, { at, validValues: VARIABLES });
}

function badSyntax(message: string, at: Span | undefined): CalError {
  return new CalError('CAL-E094', message, { at });
}

/** All distinct variables in the nodes. */
export function variablesOf(nodes: readonly TemplateNode[], found: Set<Variable> = new Set()): Set<Variable> {
  for (const node of nodes) {
    if (node.kind === 'variable' || node.kind === 'section') found.add(node.variable);
    if (node.kind === 'section' || node.kind === 'each') variablesOf(node.nodes, found);
  }
  return found;
}
