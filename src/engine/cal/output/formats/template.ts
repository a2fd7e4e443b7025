// A template as a format. Each piece has a line of its own. Grain text is cleaned as in the preset that the template
// extends.
import type { CalGrain } from '../grain.ts';
import { decimal } from '../humanize.ts';
import type { Template } from '../template.ts';
import type { TemplateNode } from '../template-syntax.ts';
import { type Scope, variableValue } from '../template-variables.ts';
import {
  type Element,
  type Format,
  type Group,
  type GroupHead,
  type Manner,
  type Setting,
  type Tally,
  unbroken,
  viewOf,
} from './format.ts';

/** Maximum repetitions of {{#each}}. */
const EACH_MAX = 200;
/** Twice the budget, at four characters for each token (D-36). */
export const CHARACTERS_PER_TOKEN_MAX = 8;

/** The format of a template. Its document has at most `budgetTokens * CHARACTERS_PER_TOKEN_MAX` characters. */
export function templateFormat(template: Template, setting: Setting, budgetTokens: number): Format {
  const charactersMax = budgetTokens * CHARACTERS_PER_TOKEN_MAX;
  const { sections, clean } = template;
  const write = (nodes: readonly TemplateNode[], scope: Scope, elements: readonly Element[]): string => {
    const out = new Output(charactersMax);
    writeNodes(nodes, scope, { out, clean, elements, step: setting.step });
    return out.text;
  };
  const piece = (grain: CalGrain, manner: Manner, scope: Scope, isOmitted = false): string => {
    const squeezed = manner.level === 'summary' ? sections.element_summary : undefined;
    const nodes = isOmitted ? sections.element_omit : (squeezed ?? sections.element);
    if (nodes === undefined) return '';
    const text = write(nodes, { ...scope, grain, view: viewOf(setting, manner) }, [{ grain, manner, text: undefined }]);
    return text === '' ? '' : `${text}\n`;
  };
  // Before all grains are chosen, assume the largest values of late variables, so that costs are never underestimated.
  const headScope = (group: GroupHead): Scope => ({
    setting,
    sourceCount: 0,
    grainCount: group.candidates,
    tally: setting.shape === 'assemble' ? { unit: 'tokens', total: budgetTokens, used: budgetTokens } : undefined,
    group: { ...group, grainCount: group.candidates, tokensUsed: budgetTokens, truncated: false },
  });
  const elementOmit = sections.element_omit;
  return {
    charactersMax,
    showsUse: template.showsUse,
    hasSummary: sections.element_summary !== undefined,
    element: (grain, manner, group) => piece(grain, manner, headScope(group)),
    omission: elementOmit && ((grain, group) => piece(grain, { level: 'summary' }, headScope(group), true)),
    document(groups, tally) {
      const whole = wholeScope(groups, setting, tally);
      const all = groups.flatMap(({ elements }) => elements);
      const line = (name: 'header' | 'footer'): string => {
        const text = sections[name] === undefined ? '' : write(sections[name], whole, all);
        return text === '' ? '' : `${text}\n`;
      };
      const shown = groups.filter(({ elements, omissions }) => elements.length > 0 || omissions.length > 0);
      const bodies = shown.map((group, i) => {
        const scope: Scope = { ...whole, group: { ...group, grainCount: group.elements.length } };
        const gap =
          i === 0 || sections.source_break === undefined
            ? ''
            : `${write(sections.source_break, scope, group.elements)}\n`;
        const texts = template.hasLateElements
          ? group.elements.map(({ grain, manner }) => piece(grain, manner, scope))
          : group.elements.map(({ text }) => text ?? '');
        return gap + texts.join('') + group.omissions.join('');
      });
      return unbroken(line('header') + bodies.join('') + line('footer'));
    },
  };
}

function wholeScope(groups: readonly Group[], setting: Setting, tally: Tally | undefined): Scope {
  const grainCount = groups.reduce((sum, { elements }) => sum + elements.length, 0);
  return { setting, sourceCount: setting.shape === 'assemble' ? groups.length : 0, grainCount, tally };
}

/** Collects text up to one character more than allowed. That shows an excess without building all of the text. */
class Output {
  text = '';
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.text.length > this.#max;
  }

  add(text: string): void {
    const room = this.#max + 1 - this.text.length;
    this.text += text.length <= room ? text : text.slice(0, room);
  }
}

interface Writing {
  readonly out: Output;
  readonly clean: (text: string) => string;
  /** The elements that {{#each}} repeats over. */
  readonly elements: readonly Element[];
  readonly step: Setting['step'];
}

function writeNodes(nodes: readonly TemplateNode[], scope: Scope, writing: Writing): void {
  const { out, clean, elements, step } = writing;
  for (const node of nodes) {
    // Check the deadline at every node: sections that show nothing never fill the output.
    step?.();
    if (out.isFull) return;
    if (node.kind === 'text') out.add(node.text);
    else if (node.kind === 'variable') out.add(shown(variableValue(node.variable, scope), clean));
    else if (node.kind === 'section') {
      if (Boolean(variableValue(node.variable, scope)) !== node.isInverted) writeNodes(node.nodes, scope, writing);
    } else {
      for (const { grain, manner } of elements.slice(0, EACH_MAX))
        writeNodes(node.nodes, { ...scope, grain, view: viewOf(scope.setting, manner) }, writing);
    }
  }
}

function shown(value: ReturnType<typeof variableValue>, clean: (text: string) => string): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return decimal(value);
  return typeof value === 'boolean' ? String(value) : clean(value);
}
