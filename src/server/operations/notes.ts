// Warnings that a gRPC message has no place for, as the text of the trailing metadata that they travel in.

/** Clients take 8 KiB of metadata in all, and lose the whole answer where there is more. */
const NOTES_BYTES_MAX = 4_096;
const WARNING_CHARS_MAX = 512;
/** What tells how many are left out, and what stands around the list. */
const REST_BYTES = 64;

/** A JSON array of them; '' for none. Where they are too many for the metadata, the last one says how many are left out. */
export function notesOf(warnings: readonly string[]): string {
  if (warnings.length === 0) return '';
  const told: string[] = [];
  let bytes = REST_BYTES;
  for (const warning of warnings) {
    const text = warning.length > WARNING_CHARS_MAX ? `${warning.slice(0, WARNING_CHARS_MAX)}…` : warning;
    // As it is sent: what is not printable ASCII is percent-encoded, each byte as three.
    bytes += encodeURI(JSON.stringify(text.toWellFormed())).length + 3;
    if (bytes > NOTES_BYTES_MAX) break;
    told.push(text);
  }
  const left = warnings.length - told.length;
  return JSON.stringify(left === 0 ? told : [...told, `and ${left} more warnings`]);
}
