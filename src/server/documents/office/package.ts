// The parts of an office file: which one is the main part, and which others it refers to.
import { dirname, join } from 'node:path/posix';
import type { DocumentKind } from '../document.ts';
import type { DocumentLimits } from '../limits.ts';
import type { Archive } from './archive.ts';
import { attribute, readXml } from './xml.ts';

const CONTENT_TYPES = '[Content_Types].xml';

/** Content types of main parts; templates and files with macros have others of the same beginning. */
const MAIN_TYPES: readonly (readonly [pattern: RegExp, kind: DocumentKind])[] = [
  [/^application\/vnd\.(?:openxmlformats-officedocument\.wordprocessingml|ms-word)\..*\bmain\+xml$/i, 'docx'],
  [/^application\/vnd\.(?:openxmlformats-officedocument\.presentationml|ms-powerpoint)\..*\bmain\+xml$/i, 'pptx'],
  [/^application\/vnd\.(?:openxmlformats-officedocument\.spreadsheetml|ms-excel)\..*\bmain\+xml$/i, 'xlsx'],
];

export interface MainPart {
  readonly kind: DocumentKind;
  readonly path: string;
}

/** The main part of an office file; undefined for another archive. */
export function mainPartOf(archive: Archive, limits: DocumentLimits): MainPart | undefined {
  let found: MainPart | undefined;
  const open = (name: string, attributes: Readonly<Record<string, string>>): void => {
    if (name !== 'Override' || found !== undefined) return;
    const type = attribute(attributes, 'ContentType') ?? '';
    const path = attribute(attributes, 'PartName');
    const kind = MAIN_TYPES.find(([pattern]) => pattern.test(type))?.[1];
    if (kind !== undefined && path !== undefined) found = { kind, path: path.replace(/^\//, '') };
  };
  readXml(archive.read(new Set([CONTENT_TYPES])).get(CONTENT_TYPES), { open, close: () => undefined }, limits);
  return found;
}

export interface Relation {
  readonly id: string;
  /** The last word of its type: `slide`, `styles`, `worksheet`. */
  readonly type: string;
  /** Path of the other part. */
  readonly target: string;
}

export function relationsPath(part: string): string {
  return join(dirname(part), '_rels', `${part.slice(part.lastIndexOf('/') + 1)}.rels`);
}

/** The parts within the file that a part refers to. Links to outside are left out, and nothing follows them. */
export function relationsOf(part: string, bytes: Uint8Array | undefined, limits: DocumentLimits): Relation[] {
  const relations: Relation[] = [];
  const open = (name: string, attributes: Readonly<Record<string, string>>): void => {
    if (name !== 'Relationship' || attribute(attributes, 'TargetMode') === 'External') return;
    const target = attribute(attributes, 'Target') ?? '';
    relations.push({
      id: attribute(attributes, 'Id') ?? '',
      type: (attribute(attributes, 'Type') ?? '').split('/').at(-1) ?? '',
      target: target.startsWith('/') ? target.slice(1) : join(dirname(part), target),
    });
  };
  readXml(bytes, { open, close: () => undefined }, limits);
  return relations;
}
