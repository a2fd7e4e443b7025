// Names the document that an event is a piece of, so that the model can say where an answer comes from.
import type { JsonObject, JsonValue } from '../../../shards/protocol.ts';

export interface ShownGrain {
  readonly hash: string;
  readonly fields: JsonObject;
}

const ELEMENT = /^ {2}<[a-z]+/;

/**
 * Adds the attribute `source` to the elements of documents in a text of the format sml. That format gives each grain one
 * line, in the order of `grains`, and no content can begin a line. Any other text is returned as it is.
 */
export function withSources(text: string, grains: readonly ShownGrain[]): string {
  if (!text.startsWith('<context>')) return text;
  const lines = text.split('\n');
  const elements = lines.flatMap((line, at) => (ELEMENT.test(line) ? [at] : []));
  if (elements.length !== grains.length) return text;
  for (const [index, at] of elements.entries()) {
    const source = sourceOf(grains[index]!.fields);
    if (source !== undefined)
      lines[at] = lines[at]!.replace(ELEMENT, (start) => `${start} source="${escaped(source)}"`);
  }
  return lines.join('\n');
}

/** `handbook.pdf, page 3, Refunds > Deadlines`; undefined for a grain that is no piece of a document. */
function sourceOf({ context }: JsonObject): string | undefined {
  const document = membersOf(membersOf(context)?.['document']);
  const name = document?.['file_name'];
  if (document === undefined || typeof name !== 'string') return undefined;
  const places = ['page', 'slide', 'sheet'].flatMap((kind) => {
    const value = document[kind];
    return typeof value === 'number' || typeof value === 'string' ? [`${kind} ${value}`] : [];
  });
  const { headings } = document;
  const path = Array.isArray(headings) ? headings.filter((one) => typeof one === 'string').join(' > ') : '';
  return [name, ...places, ...(path === '' ? [] : [path])].join(', ');
}

function membersOf(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

function escaped(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ');
  return line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
