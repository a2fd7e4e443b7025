// Corrects a grain: a new version with some fields changed. The old version stays in the history.
import type { Json } from 'granary-client';
import { useId, useState } from 'preact/hooks';
import { useDo } from '../../ask.ts';
import { useSession } from '../../session.ts';
import { Dialog } from '../dialog.tsx';
import { ErrorBox } from '../error-box.tsx';
import type { Grain } from '../grain.tsx';
import { isExact } from './field-value.tsx';

/** Fields that the server writes, or that say where the grain belongs. */
const FIXED: ReadonlySet<string> = new Set([
  'created_at',
  'namespace',
  'user_id',
  'session_id',
  'superseded_by',
  'derived_from',
  'author_did',
  'origin_did',
  'provenance_chain',
  'embedding_refs',
  'content_refs',
]);

interface Props {
  readonly memory: string;
  readonly grain: Grain;
  readonly onClose: () => void;
  readonly onChanged: (hash: string) => void;
}

export function Correct({ memory, grain, onClose, onChanged }: Props) {
  const { client } = useSession();
  const id = useId();
  const free = Object.entries(grain.fields).filter(([name]) => !FIXED.has(name));
  // An integer that the page does not know exactly would be sent back as another one.
  const names = free.filter(([, value]) => isExact(value)).map(([name]) => name);
  const inexact = free.filter(([, value]) => !isExact(value)).map(([name]) => name);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(names.map((name) => [name, textOf(grain.fields[name])])),
  );
  const [reason, setReason] = useState('');
  const changed = names.filter((name) => texts[name] !== textOf(grain.fields[name]));
  const doing = useDo(async () => {
    const fields = Object.fromEntries(
      changed.map((name) => [name, editedValue(name, texts[name] ?? '', grain.fields[name])]),
    );
    const { newHash } = await client
      .memory(memory)
      .supersede(grain.hash, fields, { reason: reason === '' ? undefined : reason });
    onClose();
    onChanged(newHash);
  });
  return (
    <Dialog title="Correct this grain" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void doing.run();
        }}
      >
        <p class="faint">A new version takes its place. The old one stays in the history.</p>
        <div class="edit-fields">
          {names.map((name) => (
            <div key={name}>
              <label for={`${id}-${name}`}>{name}</label>
              <textarea
                id={`${id}-${name}`}
                dir="auto"
                rows={(texts[name] ?? '').length > 70 ? 4 : 1}
                value={texts[name]}
                onInput={(event) => setTexts({ ...texts, [name]: event.currentTarget.value })}
              />
            </div>
          ))}
        </div>
        {inexact.length > 0 && (
          <p class="faint">
            Not here: {inexact.join(', ')}, which {inexact.length === 1 ? 'has' : 'have'} an integer beyond 2^53. A
            browser does not know all its digits.
          </p>
        )}
        <label for={`${id}-reason`}>Reason, for the audit trail</label>
        <input id={`${id}-reason`} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        {doing.error !== undefined && <ErrorBox error={doing.error} />}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={changed.length === 0 || doing.isRunning}>
            {doing.isRunning ? 'Working…' : 'Make the new version'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Text stays text; other values are JSON, as they were shown. An emptied field is dropped. */
function editedValue(name: string, text: string, before: Json | undefined): Json {
  if (text === '') return null;
  if (typeof before === 'string' || before === undefined) return text;
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text) as Json; // what JSON.parse gives
  } catch {
    throw new Error(`${name} is not JSON: write it as it was, such as ${textOf(before).slice(0, 80)}`);
  }
}
