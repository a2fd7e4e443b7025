// Reads XML as a stream of elements, by their names without prefixes. There are no document types here, so nothing
// declares or expands entities.
import { Parser } from 'htmlparser2';
import { type DocumentLimits, tooLarge, unreadable } from '../limits.ts';
import type { EntrySink } from './archive.ts';

export type XmlAttributes = Readonly<Record<string, string>>;

export interface XmlHandler {
  open(name: string, attributes: XmlAttributes): void;
  text?(data: string): void;
  close(name: string): void;
}

/** A sink that parses an entry while it is inflated. */
export function xmlSink(handler: XmlHandler, limits: DocumentLimits): EntrySink {
  const decoder = new TextDecoder();
  const parser = xmlParser(handler, limits);
  return (piece, isLast) => {
    parser.write(decoder.decode(piece, { stream: !isLast }));
    if (isLast) parser.end();
  };
}

export function readXml(bytes: Uint8Array | undefined, handler: XmlHandler, limits: DocumentLimits): void {
  if (bytes === undefined) return;
  xmlSink(handler, limits)(bytes, true);
}

function xmlParser(handler: XmlHandler, limits: DocumentLimits): Parser {
  let depth = 0;
  return new Parser(
    {
      onopentag: (name, attributes) => {
        depth += 1;
        if (depth > limits.depth) throw tooLarge(`nests elements deeper than ${limits.depth}`);
        handler.open(localName(name), attributes);
      },
      ontext: (data) => handler.text?.(data),
      onclosetag: (name) => {
        depth -= 1;
        handler.close(localName(name));
      },
      onprocessinginstruction: (name) => {
        if (name.toLowerCase() === '!doctype')
          throw unreadable('the document declares a document type, which no office file has');
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon === -1 ? name : name.slice(colon + 1);
}

/** An attribute by its name without prefix. */
export function attribute(attributes: XmlAttributes, name: string): string | undefined {
  const plain = attributes[name];
  if (plain !== undefined) return plain;
  for (const key in attributes) if (localName(key) === name) return attributes[key];
  return undefined;
}
