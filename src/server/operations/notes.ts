// Encodes warnings as trailing metadata, for gRPC messages that have no field for warnings.

/** Clients accept 8 KiB of metadata in total; beyond that they lose the whole answer. */
const NOTES_BYTES_MAX = 4_096;
const WARNING_CHARS_MAX = 512;
/** Room for the brackets of the list and for the count of omitted warnings. */
const REST_BYTES = 64;

/** The warnings as a JSON array; '' for none. If they exceed the limit, the last entry counts the omitted ones. */
export function notesOf(warnings: readonly string[]): string {
  if (warnings.length === 0) return '';
  const sent: string[] = [];
  let bytes = REST_BYTES;
  for (const warning of warnings) {
    const text = warning.length > WARNING_CHARS_MAX ? `${warning.slice(0, WARNING_CHARS_MAX)}…` : warning;
    // Count the encoded size: each byte that is not printable ASCII is percent-encoded as three.
    bytes += encodeURI(JSON.stringify(text.toWellFormed())).length + 3;
    if (bytes > NOTES_BYTES_MAX) break;
    sent.push(text);
  }
  const left = warnings.length - sent.length;
  return JSON.stringify(left === 0 ? sent : [...sent, `and ${left} more warnings`]);
}
