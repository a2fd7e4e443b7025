// The value of a field: text as it is, times as times, everything else as JSON.
import type { Json } from 'granary-client';
import { useState } from 'preact/hooks';
import { counted, ExactTime } from '../grain.tsx';

/** Longer texts are cut until the reader wants them: a grain may have a megabyte. */
const SHOWN_CHARS = 2_000;

/** Fields that are times, in seconds. Another field may have such a name and any number. */
const TIMES: ReadonlySet<string> = new Set([
  'valid_from',
  'valid_to',
  'system_valid_from',
  'expires_at',
  'expires_at_sec',
  'deadline',
  'delegation_expiry',
]);

export function FieldValue({ name, value }: { readonly name: string; readonly value: Json }) {
  if (typeof value === 'number' && TIMES.has(name)) return <ExactTime at={new Date(value * 1000)} />;
  if (typeof value === 'string') return <LongText text={value} />;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return <>{value.join(', ')}</>;
  if (typeof value === 'object' && value !== null)
    return <LongText text={JSON.stringify(value, undefined, 2)} isCode />;
  return <>{isExact(value) ? String(value) : `about ${String(value)}`}</>;
}

/** False for a value with an integer beyond 2^53, of which a browser does not know all digits. */
export function isExact(value: Json): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) || !Number.isInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isExact);
}

export function LongText({ text, isCode }: { readonly text: string; readonly isCode?: boolean | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : text.slice(0, SHOWN_CHARS);
  const left = text.length - shown.length;
  return (
    <>
      <span class={isCode === true ? 'long-text mono' : 'long-text'} dir="auto">
        {shown}
      </span>
      {left > 0 && (
        <button type="button" class="small" onClick={() => setWhole(true)}>
          Show {counted(left, 'more character')}
        </button>
      )}
    </>
  );
}
