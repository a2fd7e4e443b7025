// The categories of personal data (service contract section 22). The names are the contract's and become tags
// (`pii:<category>`) and parts of policies, so they are never renamed.

/** Every category. The first 22 are the Safe Harbor identifiers of HIPAA. */
export const PII_CATEGORIES = [
  'person_name',
  'address',
  'city_state',
  'zip_code',
  'date_of_birth',
  'date',
  'age_over_89',
  'phone',
  'fax',
  'email',
  'ssn',
  'medical_record_number',
  'health_plan_number',
  'account_number',
  'license_number',
  'vehicle_id',
  'device_id',
  'url',
  'ip_address',
  'biometric_id',
  'photo_reference',
  'unique_id',
  'credit_card',
  'iban',
  'mac_address',
  'url_userinfo',
  'passport',
  'national_id',
  'secret',
  'password',
  'pin',
  'otp',
] as const;
export type PiiCategory = (typeof PII_CATEGORIES)[number];

/** Protected health information: the identifiers of 45 CFR 164.514(b)(2). */
export const PHI_CATEGORIES: readonly PiiCategory[] = PII_CATEGORIES.slice(0, 22);

/** Categories for which some laws require a consent of its own (purpose `sensitive`). */
export const SENSITIVE_CATEGORIES: readonly PiiCategory[] = [
  'medical_record_number',
  'health_plan_number',
  'biometric_id',
  'ssn',
  'passport',
  'national_id',
  'credit_card',
  'iban',
  'account_number',
];

const NAMES: ReadonlySet<string> = new Set(PII_CATEGORIES);

export function isPiiCategory(name: string): name is PiiCategory {
  return NAMES.has(name);
}
