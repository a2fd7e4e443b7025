// The goals of a session as a tree.
import type { Json, JsonObject } from 'granary-client';
import { useQuery } from '../../address.ts';
import { GoalState } from './state.tsx';

interface Props {
  readonly nodes: readonly Json[];
  /** Goals in other states are faint; empty: none is. */
  readonly state: string;
}

export function GoalTree({ nodes, state }: Props) {
  const query = useQuery();
  return (
    <ul>
      {nodes.filter(isObject).map((node) => {
        const { hash, goal, children } = node;
        const { description, goal_state: own, progress } = isObject(goal ?? null) ? (goal as JsonObject) : {};
        return (
          <li key={String(hash)}>
            <p class={state !== '' && own !== state ? 'goal faint' : 'goal'}>
              <GoalState state={String(own ?? '')} />{' '}
              <a
                href={query.with({ grain: String(hash) })}
                aria-current={query.one('grain') === hash ? 'true' : undefined}
                dir="auto"
              >
                {String(description ?? '')}
              </a>
              {typeof progress === 'number' && <span class="faint"> {Math.round(progress * 100)} %</span>}
            </p>
            {Array.isArray(children) && children.length > 0 && <GoalTree nodes={children} state={state} />}
          </li>
        );
      })}
    </ul>
  );
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
