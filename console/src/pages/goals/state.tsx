// The state of a goal, as a coloured word.
export const GOAL_STATES = ['active', 'satisfied', 'failed', 'suspended'] as const;

export function GoalState({ state }: { readonly state: string }) {
  return (
    <span class="goal-state" data-state={state}>
      {state}
    </span>
  );
}
