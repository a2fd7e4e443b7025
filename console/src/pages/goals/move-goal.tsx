// Moves a goal to another state.
import { useId, useState } from 'preact/hooks';
import { useQuery } from '../../address.ts';
import { useDo } from '../../ask.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { useSession } from '../../session.ts';
import { useUnsaved } from '../../unsaved.ts';
import { GOAL_STATES } from './state.tsx';

interface Props {
  readonly memory: string;
  readonly hash: string;
  readonly onMoved: () => void;
}

export function MoveGoal({ memory, hash, onMoved }: Props) {
  const { client } = useSession();
  const query = useQuery();
  const id = useId();
  const [state, setState] = useState<(typeof GOAL_STATES)[number]>('satisfied');
  const [reason, setReason] = useState('');
  useUnsaved(reason !== '');
  const doing = useDo(async () => {
    const moved = await client
      .memory(memory)
      .operations.moveGoal({ hash, state, reason: reason === '' ? undefined : reason });
    // Does nothing if another goal is open by now.
    query.set({ grain: moved.hash });
    onMoved();
  });
  return (
    <form
      class="move-goal"
      onSubmit={(event) => {
        event.preventDefault();
        void doing.run();
      }}
    >
      <div class="filter">
        <label for={`${id}-state`}>Move to</label>
        <select
          id={`${id}-state`}
          value={state}
          onChange={(event) => {
            const next = GOAL_STATES.find((one) => one === event.currentTarget.value);
            if (next !== undefined) setState(next);
          }}
        >
          {GOAL_STATES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <div class="filter">
        <label for={`${id}-reason`}>Reason</label>
        <input id={`${id}-reason`} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </div>
      <button type="submit" disabled={doing.isRunning}>
        Move
      </button>
      {doing.error !== undefined && <ErrorBox error={doing.error} />}
    </form>
  );
}
