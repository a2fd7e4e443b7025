// Templates: output formats that callers define. A template is checked once, when it is defined or the query is read, and
// rendered in a single pass, so that grain text is never parsed as a template.
import { FORMAT_SYNONYMS, FORMATS, SECTIONS, type SectionName, type Sections, type Span } from '../ast.ts';
import { CalError } from '../errors.ts';
import { trimSection } from '../lexer.ts';
import { PRESETS, type Preset, type PresetName } from './template-presets.ts';
import { parseTemplate, type TemplateNode, variablesOf } from './template-syntax.ts';
import { LATE, type Variable } from './template-variables.ts';

export const TEMPLATE_BYTES_MAX = 4_096;
const PARENT_DEFAULT = 'readable';

/** One body for each grain, or bodies by section. */
export type TemplateBody = { readonly text: string } | { readonly sections: Sections };

/** A defined template, as a session or a memory stores it. */
export interface TemplateDefinition {
  readonly body: TemplateBody;
  readonly extends?: string | undefined;
}

/** A parsed template. */
export interface Template {
  readonly sections: Readonly<Partial<Record<SectionName, readonly TemplateNode[]>>>;
  readonly clean: (text: string) => string;
  /** True if elements use variables that are known only when all grains are chosen. */
  readonly hasLateElements: boolean;
  readonly showsUse: boolean;
}

export interface TemplateOptions {
  /** The name after EXTENDS. Defaults to `readable`. */
  readonly extends?: string | undefined;
  /** The range of the template in the query. */
  readonly at?: Span | undefined;
}

/** Names that no template may have: formats and their synonyms, in lower case. */
export const TEMPLATE_NAMES_RESERVED: ReadonlySet<string> = new Set([...FORMATS, ...Object.keys(FORMAT_SYNONYMS)]);

/** Throws the errors of `compileTemplate` for an invalid template. */
export function checkTemplate(body: TemplateBody, options: TemplateOptions = {}): void {
  compileTemplate(body, options);
}

/** The template with inherited sections. Throws CalError E086, E087, E090 to E094 or E096. */
export function compileTemplate(body: TemplateBody, { extends: parent, at }: TemplateOptions = {}): Template {
  const own: Sections = 'text' in body ? { element: trimSection(body.text) } : body.sections;
  const bytes = SECTIONS.reduce((sum, name) => sum + Buffer.byteLength(own[name] ?? ''), 0);
  if (bytes > TEMPLATE_BYTES_MAX)
    throw new CalError('CAL-E092', `the template has ${bytes} bytes, at most ${TEMPLATE_BYTES_MAX} are allowed`, {
      at,
    });
  for (const name of ['element_summary', 'element_omit'] as const)
    if (own[name] !== undefined && own.element === undefined)
      throw new CalError('CAL-E096', `${name.toUpperCase()} needs an ELEMENT`, { at });
  const preset = presetOf(parent ?? PARENT_DEFAULT, at);
  const sections: Partial<Record<SectionName, readonly TemplateNode[]>> = {};
  for (const name of SECTIONS) {
    const text = own[name] ?? preset.sections[name];
    if (text !== undefined) sections[name] = parseTemplate(text, at);
  }
  const used = (names: readonly SectionName[]): Set<Variable> =>
    new Set(names.flatMap((name) => [...variablesOf(sections[name] ?? [])]));
  const late = used(['element', 'element_summary', 'element_omit']);
  return {
    sections,
    clean: preset.clean,
    hasLateElements: [...late].some((name) => LATE.has(name)),
    showsUse: [...used(SECTIONS)].some((name) => LATE.has(name) && name.startsWith('budget.')),
  };
}

function presetOf(name: string, at: Span | undefined): Preset {
  const canonical = Object.hasOwn(FORMAT_SYNONYMS, name) ? FORMAT_SYNONYMS[name]! : name;
  const preset = Object.hasOwn(BY_FORMAT, canonical) ? BY_FORMAT[canonical] : undefined;
  if (preset !== undefined) return PRESETS[preset];
  if (TEMPLATE_NAMES_RESERVED.has(name))
    throw new CalError('CAL-E086', `${name} has no sections to extend`, { at, validValues: Object.keys(PRESETS) });
  throw new CalError('CAL-E087', `${name} is not a preset`, { at, validValues: Object.keys(PRESETS) });
}

const BY_FORMAT: Readonly<Record<string, PresetName>> = { markdown: 'readable', sml: 'structured', text: 'compact' };
