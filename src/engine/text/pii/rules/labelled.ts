// Numbers and codes that are personal only because of a preceding cue: account and record numbers, devices, plates.

import type { PiiCategory } from '../categories.ts';
import {
  australianMedicare,
  deaNumber,
  germanKvnr,
  luhn,
  nhsNumber,
  npiNumber,
  routingNumber,
  vehicleNumber,
} from '../checksums.ts';
import type { CueKind } from '../cue-table.ts';
import { BY_CUE, type Scan } from '../scan.ts';

interface Label {
  readonly cue: CueKind;
  readonly category: PiiCategory;
  /** Sticky; matches where the value begins. */
  readonly value: RegExp;
  /** Any valid check digit makes the number certain. */
  readonly checks?: readonly ((text: string) => boolean)[] | undefined;
  /** Without a valid check digit it is not a finding. */
  readonly strict?: true | undefined;
}

/** Text between a label and its value. Each repetition takes at least one character, and there are few repetitions. */
const LINK =
  /(?:[\s:=#.,;"'()[\]/-]{1,4}|(?:no|nr|num|number|nummer|numero|número|n[º°]|id|code|is|was|are|ist|lautet|est|es|é|è|är|er|the|on file|of record|ending in|identifier|template|sample|hash|scan)(?![\p{L}\p{N}]))/uy;
const LINK_TURNS_MAX = 8;

/** A code with at least one digit; blanks only before groups of digits. */
const CODE = /(?=[A-Za-z_./-]{0,12}\d)[A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*(?: \d{2,}(?![\w.,:/]*[A-Za-z]))*/y;
const SHORTEST_CODE = 4;
const NUMBER = /\d(?:[ -]?\d){3,33}/y;
const PLATE = /(?=[A-Z0-9 -]{0,8}\d)[A-ZÄÖÜ0-9]{1,4}(?:[- ]?[A-Z0-9]{1,4}){1,3}(?![\w-])/y;
const SERIAL = /(?=[A-Za-z:_-]{0,16}\d)[A-Za-z0-9]+(?:[-:_.][A-Za-z0-9]+)*/y;
const PASSPORT = /(?=[A-Z]{0,3}\d)[A-Z0-9]{6,12}(?![A-Za-z0-9])/y;

const LABELS: readonly Label[] = [
  {
    cue: 'medical_record_number',
    category: 'medical_record_number',
    value: CODE,
    checks: [nhsNumber],
  },
  {
    cue: 'health_plan_number',
    category: 'health_plan_number',
    value: CODE,
    checks: [australianMedicare, germanKvnr],
  },
  { cue: 'account_number', category: 'account_number', value: NUMBER, checks: [routingNumber] },
  { cue: 'driver_license', category: 'license_number', value: CODE },
  { cue: 'license_number', category: 'license_number', value: CODE },
  { cue: 'dea', category: 'license_number', value: /[A-Z][A-Z9]\d{7}(?!\w)/y, checks: [deaNumber], strict: true },
  { cue: 'npi', category: 'license_number', value: /[12]\d{9}(?!\w)/y, checks: [npiNumber], strict: true },
  { cue: 'vin', category: 'vehicle_id', value: /[A-HJ-NPR-Z0-9]{17}(?!\w)/y, checks: [vehicleNumber] },
  { cue: 'plate', category: 'vehicle_id', value: PLATE },
  { cue: 'imei', category: 'device_id', value: /\d(?:[ -]?\d){13,19}(?!\w)/y, checks: [luhn] },
  { cue: 'device_id', category: 'device_id', value: SERIAL },
  { cue: 'biometric_id', category: 'biometric_id', value: CODE },
  { cue: 'unique_id', category: 'unique_id', value: CODE },
  { cue: 'passport', category: 'passport', value: PASSPORT },
];

/** "EMP00123 is my employee id" */
const VALUE_BEFORE =
  /(?<![\w-])(?=[A-Za-z_-]{0,12}\d)[A-Za-z0-9][A-Za-z0-9._-]{3,30}(?= (?:is|was) (?:my|his|her|their|the|our|your) $)/;
const BEFORE_CHARS = 48;

export function findLabelled(scan: Scan): void {
  for (const label of LABELS)
    for (const cue of scan.cues(label.cue)) {
      takeValue(scan, label, cue.to);
      if (label.strict !== true) takeValueBefore(scan, label.category, cue.from);
    }
}

function takeValueBefore(scan: Scan, category: PiiCategory, at: number): void {
  const start = Math.max(0, at - BEFORE_CHARS);
  const match = VALUE_BEFORE.exec(scan.text.slice(start, at));
  if (match !== null) scan.add(category, start + match.index, start + match.index + match[0].length, BY_CUE);
}

function takeValue(scan: Scan, { category, value, checks = [], strict }: Label, behind: number): void {
  const from = skipLink(scan.text, behind);
  if (from === undefined) return;
  value.lastIndex = from;
  const match = value.exec(scan.text);
  if (match === null) return;
  const [text] = match;
  if (text.length < SHORTEST_CODE || isWordlike(text)) return;
  const valid = checks.some((check) => check(text));
  if (strict === true && !valid) return;
  scan.add(category, from, from + text.length, valid ? 1 : BY_CUE, valid ? 'checksum' : 'regex');
}

/** Start of the value after a label that ends at `at`; undefined when nothing links them. */
export function skipLink(text: string, at: number): number | undefined {
  let from = at;
  for (let turn = 0; turn < LINK_TURNS_MAX; turn++) {
    LINK.lastIndex = from;
    const match = LINK.exec(text);
    if (match === null) break;
    from += match[0].length;
  }
  return from > at || !/[A-Za-z0-9]/.test(text[at] ?? '') ? from : undefined;
}

/** "20th", "3rd", "24-hour", "2FA": words that contain a number. */
function isWordlike(text: string): boolean {
  return /^(?:\d{1,3}(?:st|nd|rd|th)|\d{1,4}-[a-z]+|[a-z]+-\d{1,3})$/.test(text);
}
