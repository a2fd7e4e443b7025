// The 18 identifiers of 45 CFR 164.514(b)(2): an invented sentence for each, and the categories that detect it.
import type { PiiCategory } from '../../../engine/text/pii/categories.ts';
import type { PiiDetector } from '../../../engine/text/pii/detection.ts';
import { piiDetector } from '../../../engine/text/pii/detector.ts';

interface Identifier {
  readonly name: string;
  readonly text: string;
  readonly categories: readonly PiiCategory[];
}

export const SAFE_HARBOR: readonly Identifier[] = [
  { name: 'names', text: 'My name is Margaret Thornton.', categories: ['person_name'] },
  {
    name: 'geographic subdivisions',
    text: 'She lives at 742 Evergreen Terrace, Springfield, IL 62704.',
    categories: ['address', 'city_state', 'zip_code'],
  },
  { name: 'dates', text: 'Date of birth: 04/12/1961, admitted on 2023-05-17.', categories: ['date_of_birth', 'date'] },
  { name: 'telephone numbers', text: 'Phone: +1 202-555-0143.', categories: ['phone'] },
  { name: 'fax numbers', text: 'Fax: +1 202-555-0199.', categories: ['fax'] },
  { name: 'email addresses', text: 'Write to jane.roe@example.com.', categories: ['email'] },
  { name: 'social security numbers', text: 'The SSN is 536-22-8726.', categories: ['ssn'] },
  {
    name: 'medical record numbers',
    text: 'Medical record number: MRN 00482913.',
    categories: ['medical_record_number'],
  },
  { name: 'health plan numbers', text: 'Health plan member ID: HPN-4829137.', categories: ['health_plan_number'] },
  { name: 'account numbers', text: 'Account number: 4409128837.', categories: ['account_number'] },
  { name: 'licence numbers', text: "Driver's license number: D1234567.", categories: ['license_number'] },
  { name: 'vehicle identifiers', text: 'VIN: 1HGCM82633A004352.', categories: ['vehicle_id'] },
  {
    name: 'device identifiers',
    text: 'Device serial number: SN-99F2-A1B7-0031.',
    categories: ['device_id', 'mac_address'],
  },
  { name: 'URLs', text: 'See https://example.org/patients/jane-roe for more.', categories: ['url', 'url_userinfo'] },
  { name: 'IP addresses', text: 'She signed in from 203.0.113.42.', categories: ['ip_address'] },
  { name: 'biometric identifiers', text: 'Fingerprint ID: FP-8842-1193.', categories: ['biometric_id'] },
  { name: 'photographs', text: 'Photo: full_face_patient_0042.jpg', categories: ['photo_reference'] },
  { name: 'other unique numbers', text: 'The participant id is P-88231.', categories: ['unique_id'] },
];

/** Names of the identifiers that the detector misses. */
export function missedIdentifiers(detector: PiiDetector = piiDetector()): readonly string[] {
  return SAFE_HARBOR.filter(({ text, categories }) => {
    const found = detector.detect(text).map(({ category }) => category);
    return !found.some((category) => categories.includes(category));
  }).map(({ name }) => name);
}
