// Action: a tool in one phase of its life: its definition, a call, the result, or all of a call at once.
import { ANY, BOOL, COUNT, INT, MAP, STRING } from '../codec/kind.ts';
import { LISTED, queryField } from './query-field.ts';
import type { FieldRow, TypeRow } from './row.ts';

export const ACTION_PHASES: ReadonlySet<string> = new Set(['definition', 'call', 'result']);

/** `content` under another key, in actions and nowhere else. */
export const ACTION_CONTENT: FieldRow = ['content', 'cnt', ANY];
/** The field `action_phase` under the name that it has where the type string is `tool`. */
export const TOOL_PHASE: FieldRow = ['tool_phase', 'aphase', STRING];

export const ACTION: TypeRow = {
  format: {
    byte: 0x05,
    alias: 'tool',
    fields: [
      ['action_phase', 'aphase', STRING],
      ['tool_name', 'tn', STRING],
      ['input', 'inp', ANY],
      ['is_error', 'iserr', BOOL],
      ['tool_call_id', 'tcid', STRING],
      ['call_batch_id', 'cbid', STRING],
      ['tool_type', 'ttype', STRING],
      ['tool_version', 'tver', STRING],
      ['execution_mode', 'emode', STRING],
      ['code', 'code', STRING],
      ['stdout', 'out', STRING],
      ['stderr', 'err2', STRING],
      ['exit_code', 'xc', INT],
      ['interpreter_id', 'iid', STRING],
      ['error', 'err', STRING],
      ['error_type', 'etype', STRING],
      ['duration_ms', 'dur', COUNT],
      ['parent_task_id', 'ptid', STRING], // an address, or the name that a caller gives its task
      ['tool_description', 'tdesc', STRING],
      ['input_schema', 'isch', MAP],
      ['output_schema', 'osch', MAP],
      ['strict', 'strict', BOOL],
    ],
    required: [],
    filled: ['tool_name'],
    dated: false,
  },
  api: {
    names:
      'tool_name input content output is_error error duration_ms parent_task_id tool_call_id call_batch_id ' +
      'output_schema kind action_phase tool_description input_schema strict executor_uri executor_kind locked_params ' +
      'annotations examples spec_hash async_mode status correlation_id expires_at_sec failure_cause failure_detail ' +
      'actor_execution_environment',
    aliases: { output: 'content', tool_phase: 'action_phase' },
    // Blobs of the type string `tool` call it so.
    answers: { tool_phase: 'action_phase' },
    temporalType: 'state',
  },
  cal: {
    plural: 'actions',
    foreign: ['tool', 'tool_call'],
    fields: [
      queryField('tool_name', 'string', '= != IN', 'spg', LISTED),
      queryField('action_phase', 'enum', '=', 'spg', { values: [...ACTION_PHASES, 'complete'], badValue: 'CAL-E062' }),
      queryField('is_error', 'boolean', '=', 'pg'),
      queryField('tool_call_id', 'string', '=', 'pg'),
    ],
    // A failed action is completed with an empty content.
    object: ['content', 'error', 'object'],
    relationIndexed: false,
    objectIndexed: false,
    addable: false,
    output: {
      attributes: 'tool=tool_name phase=action_phase?',
      data: 'tool_name object action_phase?',
      columns: 'tool phase content',
      line: { lead: 'tool', note: 'phase' },
    },
  },
};
