// Resolves the formats after AS or FORMAT, and their keys in the answer.
import type { FormatChoice, FormatName, Format as FormatNode } from '../../ast.ts';
import { FORMAT_SYNONYMS, FORMATS } from '../../ast.ts';
import { CalError } from '../../errors.ts';
import { CAL_LIMITS } from '../../vocabulary/limits.ts';
import { compileTemplate, type Template, type TemplateBody, type TemplateDefinition } from '../template.ts';
import type { Format, Setting } from './format.ts';
import { NAMED } from './named.ts';
import { templateFormat } from './template.ts';

/** A format with its template resolved. */
export type ResolvedFormat =
  | { readonly kind: 'named'; readonly name: FormatName }
  | { readonly kind: 'template'; readonly name: string; readonly template: Template };

/** One rendering of a result. */
export interface Rendering {
  /** Its key among `formats`. */
  readonly key: string;
  readonly format: ResolvedFormat;
}

interface Entry {
  readonly key: string;
  readonly node: FormatNode;
}

/** Finds a defined template by name; undefined if there is none. */
export type TemplateLookup = (name: string) => TemplateDefinition | undefined;

/** The name of a template that is written in the query. */
const INLINE = 'template';

/**
 * The formats of a choice with their keys. The key is the alias, or else the name as written. A format that is repeated
 * without an alias counts once. Throws CalError E110 for too many formats, E113 if an alias is the key of another format.
 */
export function formatEntries(choice: FormatChoice): Entry[] {
  if (choice.kind === 'one') return [{ key: nameOf(choice.format), node: choice.format }];
  if (choice.formats.length > CAL_LIMITS.formatsMax)
    throw new CalError('CAL-E110', `${choice.formats.length} formats are asked for`, { at: choice.at });
  const entries: (Entry & { readonly isAliased: boolean })[] = [];
  for (const { format: node, alias } of choice.formats) {
    if (alias === undefined && entries.some((one) => !one.isAliased && isSame(one.node, node))) continue;
    const key = alias ?? unusedKey(nameOf(node), entries);
    if (entries.some((one) => one.key === key))
      throw new CalError('CAL-E113', `two formats have the key ${key}`, { at: node.at ?? choice.at });
    entries.push({ key, node, isAliased: alias !== undefined });
  }
  return entries.map(({ key, node }) => ({ key, node }));
}

/** Throws CalError E085 for an unknown template, and the errors of `compileTemplate`. */
export function resolveFormats(choice: FormatChoice, lookup: TemplateLookup): Rendering[] {
  return formatEntries(choice).map(({ key, node }) => ({ key, format: resolveFormat(node, lookup) }));
}

function resolveFormat(node: FormatNode, lookup: TemplateLookup): ResolvedFormat {
  switch (node.kind) {
    case 'named':
      return { kind: 'named', name: canonicalFormat(node.name)! };
    case 'template_reference':
      return referenced(node.name, node, lookup);
    case 'template_text':
      return inline({ text: node.text }, node);
    case 'template_sections':
      return inline({ sections: node.sections }, node);
  }
}

function inline(body: TemplateBody, { at }: FormatNode): ResolvedFormat {
  return { kind: 'template', name: INLINE, template: compileTemplate(body, { at }) };
}

function referenced(name: string, { at }: FormatNode, lookup: TemplateLookup): ResolvedFormat {
  const preset = canonicalFormat(name.toLowerCase());
  if (preset !== undefined) return { kind: 'named', name: preset };
  const defined = lookup(name);
  if (defined === undefined) throw new CalError('CAL-E085', `there is no template ${name}`, { at });
  return { kind: 'template', name, template: compileTemplate(defined.body, { extends: defined.extends, at }) };
}

/** The format of a name or synonym in lower case; undefined if there is none. */
export function canonicalFormat(name: string): FormatName | undefined {
  if (Object.hasOwn(FORMAT_SYNONYMS, name)) return FORMAT_SYNONYMS[name];
  return FORMATS.find((one) => one === name);
}

function nameOf(node: FormatNode): string {
  return node.kind === 'named' || node.kind === 'template_reference' ? node.name : INLINE;
}

/** Templates in the query share a name, so the second gets the key `template_2`. */
function unusedKey(name: string, entries: readonly { readonly key: string; readonly node: FormatNode }[]): string {
  if (name !== INLINE) return name;
  const before = entries.filter(({ node }) => nameOf(node) === INLINE).length;
  return before === 0 ? name : `${name}_${before + 1}`;
}

function isSame(one: FormatNode, other: FormatNode): boolean {
  if (one.kind === 'named' && other.kind === 'named') return canonicalFormat(one.name) === canonicalFormat(other.name);
  return one.kind === 'template_reference' && other.kind === one.kind && one.name === other.name;
}

/** The format for one document. It calls the setting's `step` while it works. `budgetTokens` bounds a template's text. */
export function formatOf(resolved: ResolvedFormat, setting: Setting, budgetTokens: number): Format {
  const format =
    resolved.kind === 'named'
      ? NAMED[resolved.name](setting)
      : templateFormat(resolved.template, setting, budgetTokens);
  const { step } = setting;
  if (step === undefined) return format;
  return {
    ...format,
    element(grain, manner, group) {
      step();
      return format.element(grain, manner, group);
    },
    document(groups, tally) {
      step();
      return format.document(groups, tally);
    },
  };
}

/** The name in a result. */
export function formatName(resolved: ResolvedFormat): string {
  return resolved.name;
}
