// The SML format: one envelope with one flat element for each line, named by type. Text is escaped (D-31), otherwise a
// grain could close its element and open another.
import { sml, smlAttribute } from '../clean.ts';
import { decimal } from '../humanize.ts';
import { project } from '../projection.ts';
import { type Format, type Setting, tagOf, textsOf, viewOf } from './format.ts';

export function smlFormat(setting: Setting): Format {
  const { intent } = setting;
  const opening = intent === undefined ? '<context>\n\n' : `<context intent="${smlAttribute(intent)}">\n\n`;
  return {
    showsUse: false,
    element(grain, manner) {
      const { text, attributes } = project(grain, viewOf(setting, manner));
      const tag = tagOf(grain.grainType);
      let line = `  <${tag}`;
      for (const { name, value } of attributes)
        line += ` ${name}="${typeof value === 'number' ? decimal(value) : smlAttribute(value)}"`;
      return `${line}>${sml(text)}</${tag}>\n`;
    },
    document(groups) {
      const texts = groups.map((group) => textsOf([group])).filter((text) => text !== '');
      return `${opening}${texts.map((text) => `${text}\n`).join('')}</context>`;
    },
  };
}
