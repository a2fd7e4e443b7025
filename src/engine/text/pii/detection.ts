// Detects personal data: applies all rules to one text. Pure, in process, no network; linear in the text's length.
// detector.ts loads it with the first text, because its rules and lists are large.
import type { CountryCode } from 'libphonenumber-js/min';
import { PII_DECODE_DEPTH_MAX } from '../../base/limits.ts';
import type { PiiCategory } from './categories.ts';
import { encodedRuns } from './encoded.ts';
import { type Unescaped, unescaped } from './escapes.ts';
import type { Candidate, PiiFinding } from './finding.ts';
import { withoutOverlaps } from './overlaps.ts';
import { findAddresses, findNetwork, findPhones } from './rules/contact.ts';
import { findDates } from './rules/dates.ts';
import { findLabelled } from './rules/labelled.ts';
import { findLicences } from './rules/licences.ts';
import { findNames, type NameModel } from './rules/names.ts';
import { findNationalIds } from './rules/national.ts';
import { findPayments } from './rules/payment.ts';
import { findPlaces } from './rules/places.ts';
import { findSecrets } from './rules/secrets.ts';
import { findPhotos, findVehicles } from './rules/vehicles-and-photos.ts';
import { Scan } from './scan.ts';
import { spoken } from './spoken.ts';
import { type View, viewOf } from './view.ts';

export interface DetectorOptions {
  /** Judges capitalised words that no list contains; see `loadNameModel`. Default: lists and wording decide. */
  readonly names?: NameModel | undefined;
  /** False: names of people are not searched, which takes a quarter to a half less time. */
  readonly findNames?: boolean | undefined;
  /** Countries whose national notation is tried for announced telephone numbers. */
  readonly regions?: readonly CountryCode[] | undefined;
}

export interface PiiDetector {
  /**
   * The findings of a text, sorted by `start`. They do not overlap, except that an encoded run has one finding, over
   * the whole run, for each category hidden in it. `label` is the name of the text's field: it is read like words
   * before the text ("phone", "date_of_birth") and is not part of any finding.
   */
  detect(text: string, label?: string): readonly PiiFinding[];
}

const REGIONS: readonly CountryCode[] = ['US', 'GB', 'DE', 'FR', 'IN', 'ES', 'IT', 'JP'];
const NO_FINDINGS: readonly PiiFinding[] = [];

/** A detector that is ready. */
export function detectorOf(options: DetectorOptions): PiiDetector {
  const { names, findNames: wanted = true, regions = REGIONS } = options;
  const run = (text: string, depth: number): Candidate[] => {
    const scan = new Scan(text);
    findAddresses(scan);
    findNetwork(scan);
    findPhones(scan, { regions });
    findPayments(scan);
    findNationalIds(scan);
    findLabelled(scan);
    findLicences(scan);
    findSecrets(scan);
    findDates(scan);
    findPlaces(scan);
    findVehicles(scan);
    findPhotos(scan);
    if (wanted) findNames(scan, names);
    // An encoded run is one candidate. Its content is reported if the run is kept.
    const hidden = new Map<Candidate, readonly Candidate[]>();
    if (depth < PII_DECODE_DEPTH_MAX) {
      for (const { from, to, decoded } of encodedRuns(text, scan.digits)) {
        const inside = surestOf(run(viewOf(decoded).text, depth + 1)).map((found) => ({ ...found, from, to }));
        if (inside[0] !== undefined) hidden.set(inside[0], inside);
      }
      const plain = unescaped(text);
      if (plain !== undefined) scan.found.push(...within(plain, run));
    }
    return withoutOverlaps([...scan.found, ...hidden.keys()], text.length).flatMap(
      (kept) => hidden.get(kept) ?? [kept],
    );

    /** The candidates in the text without escapes, with their positions in `text`. */
    function within(plain: Unescaped, look: typeof run): Candidate[] {
      const view = viewOf(plain.text);
      return look(view.text, depth + 1).map((found) => ({
        ...found,
        from: plain.start(view.start(found.from)),
        to: plain.end(view.end(found.to)),
      }));
    }
  };
  return {
    detect(text, label) {
      if (text === '') return NO_FINDINGS;
      const prefix = label === undefined ? '' : `${spoken(label)}: `;
      const view = viewOf(prefix + text);
      const found = run(view.text, 0);
      return found.length === 0 ? NO_FINDINGS : inBytes(prefix, text, view, found);
    },
  };
}

/** The candidate with the highest confidence of each category. */
function surestOf(candidates: readonly Candidate[]): Candidate[] {
  const surest = new Map<PiiCategory, Candidate>();
  for (const found of candidates)
    if (found.confidence > (surest.get(found.category)?.confidence ?? 0)) surest.set(found.category, found);
  return [...surest.values()];
}

function inBytes(prefix: string, text: string, view: View, candidates: readonly Candidate[]): readonly PiiFinding[] {
  const findings: PiiFinding[] = [];
  let at = 0;
  let bytes = 0;
  for (const { category, from, to, confidence, source } of candidates) {
    const start = view.start(from) - prefix.length;
    const end = view.end(to) - prefix.length;
    if (start < 0) continue;
    // Candidates are in order, so each part of the text is measured once.
    bytes += Buffer.byteLength(text.slice(at, start));
    at = start;
    const matchedText = text.slice(start, end);
    findings.push({
      category,
      matchedText,
      start: bytes,
      end: bytes + Buffer.byteLength(matchedText),
      confidence,
      source,
    });
  }
  return findings;
}
