import { emptyParts } from '../documentation.ts';
import { sum } from '../evidence.ts';
import { recordOfProcessing } from '../processing.ts';
import { fail, type Judge, skip, within } from '../verdict.ts';

export const RECORDS: Readonly<Record<string, Judge>> = {
  gdpr_record_of_processing: (evidence) => {
    const record = recordOfProcessing(evidence);
    const personal = sum(evidence, 'data', (data) => data.personal);
    const { default_ttl_days, by_namespace, by_type } = record.retention;
    // The retention of the trail says nothing about the retention of the data.
    const empty = emptyParts({ ...record, retention: { default_ttl_days, by_namespace, by_type } });
    const detail = `${personal} sampled personal grains; empty: ${empty.join(', ') || 'nothing'}`;
    if (personal === 0 && empty.includes('controller')) return skip(detail);
    if (personal > 0 && (empty.includes('controller') || empty.includes('purposes'))) return fail(detail);
    return within(empty.length, 0, 2, detail);
  },
};
