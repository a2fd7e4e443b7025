import { sum } from '../evidence.ts';
import { recordOfProcessing } from '../processing.ts';
import { fail, type Judge, skip, within } from '../verdict.ts';

export const RECORDS: Readonly<Record<string, Judge>> = {
  gdpr_record_of_processing: (evidence) => {
    const record = recordOfProcessing(evidence);
    const personal = sum(evidence, 'data', (data) => data.personal);
    const empty = Object.entries(record).flatMap(([name, value]) => (isEmpty(value) ? [name] : []));
    const detail = `${personal} sampled personal grains; empty: ${empty.join(', ') || 'nothing'}`;
    if (personal === 0 && empty.includes('controller')) return skip(detail);
    if (personal > 0 && (empty.includes('controller') || empty.includes('purposes'))) return fail(detail);
    return within(empty.length, 0, 2, detail);
  },
};

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
