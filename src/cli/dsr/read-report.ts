// Reads the JSON of a report back into the form that documents are made from.
import { toCamel } from '../../server/operations/names.ts';
import type { ReportData } from '../../server/operations/subject-requests/schema.ts';

export function readReport(text: string): ReportData {
  return inside(JSON.parse(text)) as ReportData; // the server's own report
}

/** Members get their inside names, except those of the proof, which are signed under their outside names. */
function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toCamel(name), name === 'proof' ? member : inside(member)]),
  );
}
