// The thread that writes reports as PDF. It alone loads pdfkit in a server.
import type { ReportData } from '../../operations/subject-requests/schema.ts';
import { reportPdf } from './pdf.ts';
import type { PdfTask } from './pdf-reports.ts';

export default function writePdf({ data, language }: PdfTask): Promise<Uint8Array> {
  return reportPdf(data as ReportData, language); // the operation's own
}
