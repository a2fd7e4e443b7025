// The table of grain types: a type is a row of its own file, and a line here. The rest is named by the compiler: what a
// layer does with a type stands in a table or switch over all of them. Two things the compiler cannot see, and the table's
// tests find: texts that list the types (the grammar, the primer, the guide), and the examples that tests are made of.
import { ACTION } from './action.ts';
import { BELIEF } from './belief.ts';
import { CONSENSUS } from './consensus.ts';
import { CONSENT } from './consent.ts';
import { EVENT } from './event.ts';
import { GOAL } from './goal.ts';
import { OBSERVATION } from './observation.ts';
import { REASONING } from './reasoning.ts';
import type { TypeRow } from './row.ts';
import { STATE } from './state.ts';
import { WORKFLOW } from './workflow.ts';

/** By name, in the order of their bytes. */
export const GRAIN_TYPES = {
  belief: BELIEF,
  event: EVENT,
  state: STATE,
  workflow: WORKFLOW,
  action: ACTION,
  observation: OBSERVATION,
  goal: GOAL,
  reasoning: REASONING,
  consensus: CONSENSUS,
  consent: CONSENT,
} as const satisfies Readonly<Record<string, TypeRow>>;
