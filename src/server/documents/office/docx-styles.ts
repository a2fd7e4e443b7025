// The heading levels of a DOCX file's styles.
import type { DocumentLimits } from '../limits.ts';
import { attribute, readXml, type XmlAttributes } from './xml.ts';

interface Style {
  level: number | undefined;
  basedOn: string | undefined;
}

/** Built-in names are English in every language of Office. */
const HEADING_NAME = /^heading ([1-9])$/i;
/** A title is above all headings. */
const TITLE_LEVEL = 0;

/** Style ids with the heading levels that they make. */
export function headingStyles(bytes: Uint8Array | undefined, limits: DocumentLimits): Map<string, number> {
  const styles = new Map<string, Style>();
  let style: Style | undefined;
  const open = (name: string, attributes: XmlAttributes): void => {
    if (name === 'style') {
      style = { level: undefined, basedOn: undefined };
      styles.set(attribute(attributes, 'styleId') ?? '', style);
    } else if (style === undefined) return;
    else if (name === 'name') style.level ??= levelOfName(attribute(attributes, 'val') ?? '');
    else if (name === 'outlineLvl') style.level ??= outlineLevel(attributes);
    else if (name === 'basedOn') style.basedOn = attribute(attributes, 'val');
  };
  const close = (name: string): void => {
    if (name === 'style') style = undefined;
  };
  readXml(bytes, { open, close }, limits);
  const levels = new Map<string, number>();
  for (const id of styles.keys()) {
    const level = levelOf(styles, id);
    if (level !== undefined) levels.set(id, level);
  }
  // Files without styles use the ids that Word gives them.
  for (let level = 1; level <= 9; level++) if (!styles.has(`Heading${level}`)) levels.set(`Heading${level}`, level);
  return levels;
}

function levelOfName(name: string): number | undefined {
  const match = HEADING_NAME.exec(name);
  if (match !== null) return Number(match[1]);
  return /^title$/i.test(name) ? TITLE_LEVEL : undefined;
}

const CHAIN_MAX = 16;

/** A style's own level, or that of the nearest one that it is based on. */
function levelOf(styles: ReadonlyMap<string, Style>, id: string): number | undefined {
  let style = styles.get(id);
  for (let steps = 0; style !== undefined && steps < CHAIN_MAX; steps++) {
    if (style.level !== undefined) return style.level;
    style = style.basedOn === undefined ? undefined : styles.get(style.basedOn);
  }
  return undefined;
}

/** 0 to 8 are heading levels, 9 is body text. */
export function outlineLevel(attributes: XmlAttributes): number | undefined {
  const level = Number(attribute(attributes, 'val'));
  return level >= 0 && level < 9 ? level + 1 : undefined;
}
