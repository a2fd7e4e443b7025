// The fields of an action in each phase of a tool's life: its definition, a call, the result, or all of it at once.

import { ACTION_PHASES } from '../types/action.ts';
import type { ValueMap } from '../value.ts';
import { CHECKS, note } from './findings.ts';

interface PhaseRules {
  readonly required: readonly string[];
  /** Refused. */
  readonly forbidden: readonly string[];
  /** Warned about. */
  readonly leftOut: readonly string[];
}

const OUTCOME = ['content', 'is_error', 'stdout', 'stderr', 'exit_code', 'duration_ms'];
const DEFINITION_ONLY = ['tool_description', 'input_schema', 'output_schema', 'strict'];

const RULES: Readonly<Record<'definition' | 'call' | 'result' | 'complete', PhaseRules>> = {
  definition: {
    required: ['tool_name', 'tool_description', 'input_schema'],
    forbidden: ['input', ...OUTCOME],
    leftOut: ['tool_call_id', 'call_batch_id', 'derived_from'],
  },
  call: {
    required: ['tool_name', 'input'],
    forbidden: OUTCOME,
    leftOut: [...DEFINITION_ONLY, 'derived_from'],
  },
  result: {
    required: ['tool_call_id', 'content', 'is_error', 'derived_from'],
    forbidden: [],
    leftOut: ['tool_name', ...DEFINITION_ONLY, 'tool_type', 'tool_version', 'input'],
  },
  complete: {
    required: ['tool_name', 'input', 'content', 'is_error'],
    forbidden: [],
    leftOut: [...DEFINITION_ONLY, 'derived_from'],
  },
};
const CODE_REQUIRED: readonly string[] = ['is_error'];

/** The phase of an action, whatever its type string calls the field; undefined when it is complete. */
export function actionPhase(fields: ValueMap): string | undefined {
  const phase = fields['action_phase'] ?? fields['tool_phase'];
  return typeof phase === 'string' ? phase : undefined;
}

function rulesOf(phase: string | undefined): PhaseRules | undefined {
  switch (phase) {
    case undefined:
      return RULES.complete;
    case 'definition':
    case 'call':
    case 'result':
      return RULES[phase];
    default:
      return undefined;
  }
}

/** Notes the fields that an action lacks, or must not have, in its phase. */
export function checkAction(fields: ValueMap, present: (name: string) => boolean): void {
  const phase = actionPhase(fields);
  const rules = rulesOf(phase);
  if (rules === undefined) {
    note(CHECKS.range, 'action_phase', `is not one of ${[...ACTION_PHASES].join(', ')}`);
    return;
  }
  const codeOnly = phase === undefined && fields['execution_mode'] === 'code_exec';
  for (const name of codeOnly ? CODE_REQUIRED : rules.required)
    if (!present(name)) note(CHECKS.schema, name, 'is missing in this phase');
  for (const name of rules.forbidden) if (present(name)) note(CHECKS.schema, name, 'is forbidden in this phase');
  const origin = fields['derived_from'];
  if (phase === 'result' && Array.isArray(origin) && origin.length === 0)
    note(CHECKS.empty, 'derived_from', 'is empty');
}

/** Fields of an action that its phase should leave out. */
export function superfluousInPhase(fields: ValueMap): string[] {
  const leftOut = rulesOf(actionPhase(fields))?.leftOut ?? [];
  return leftOut.filter((name) => fields[name] !== null && fields[name] !== undefined);
}
