// Forgets a grain, or restricts the processing of the person whom it is about.
import { useId, useState } from 'preact/hooks';
import { useAsk, useDo } from '../../ask.ts';
import { useSession } from '../../session.ts';
import { Confirm, type Count } from '../confirm.tsx';
import { Dialog } from '../dialog.tsx';
import { ErrorBox } from '../error-box.tsx';
import type { Grain } from '../grain.tsx';

interface Props {
  readonly memory: string;
  readonly grain: Grain;
  readonly onClose: () => void;
  readonly onChanged: (hash: string | undefined) => void;
}

/** Digits of the hash that confirm. */
const NAME_CHARS = 8;

export function Forget({ memory, grain, onClose, onChanged }: Props) {
  const { client } = useSession();
  const id = useId();
  const [reason, setReason] = useState('');
  const hashes = [grain.hash];
  const counted = useAsk(`${memory} ${grain.hash} dry run`, async (signal) => {
    const told = await client.memory(memory).forget({ hashes }, { dryRun: true, signal });
    return 'byType' in told ? countsOf(told.byType, told.count) : undefined;
  });
  return (
    <Confirm
      title="Forget this grain?"
      action="Forget it"
      name={grain.hash.slice(0, NAME_CHARS)}
      counts={counted.value}
      counting={counted}
      act={async () => {
        await client.memory(memory).forget({ hashes }, { reason: reason === '' ? undefined : reason });
        onChanged(undefined);
      }}
      onClose={onClose}
    >
      <p dir="auto">{grain.text}</p>
      <label for={`${id}-reason`}>Reason, for the audit trail</label>
      <input id={`${id}-reason`} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
    </Confirm>
  );
}

function countsOf(byType: Readonly<Record<string, number>>, count: number): readonly Count[] {
  return [{ label: 'Grains', value: count }, ...Object.entries(byType).map(([label, value]) => ({ label, value }))];
}

/** A restriction can be lifted, so nothing is typed. */
export function Restrict({ memory, grain, onClose, onChanged }: Props) {
  const { client } = useSession();
  const id = useId();
  const { userId = '' } = grain;
  const [reason, setReason] = useState('');
  const doing = useDo(async () => {
    await client.memory(memory).operations.restrictProcessing({ userId, reason });
    onClose();
    onChanged(undefined);
  });
  return (
    <Dialog title={`Restrict the processing of ${userId}?`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void doing.run();
        }}
      >
        <p>
          This concerns every grain of {userId}, not this one alone: they are kept, and nobody reads or changes them
          until the restriction is lifted.
        </p>
        <label for={`${id}-reason`}>Reason</label>
        <input id={`${id}-reason`} required value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        {doing.error !== undefined && <ErrorBox error={doing.error} />}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="danger" disabled={reason === '' || doing.isRunning}>
            {doing.isRunning ? 'Working…' : `Restrict ${userId}`}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
