// The formats by name.
import type { FormatName } from '../../ast.ts';
import type { FormatMaker } from './format.ts';
import { jsonFormat } from './json.ts';
import { markdownFormat } from './markdown.ts';
import { smlFormat } from './sml.ts';
import { textFormat } from './text.ts';
import { toonFormat } from './toon.ts';
import { triplesFormat } from './triples.ts';
import { yamlFormat } from './yaml.ts';

export const NAMED: Readonly<Record<FormatName, FormatMaker>> = {
  sml: smlFormat,
  markdown: markdownFormat,
  text: textFormat,
  json: jsonFormat,
  yaml: yamlFormat,
  triples: triplesFormat,
  toon: toonFormat,
};
