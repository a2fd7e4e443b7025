// Makes the rows of the tables in docs/cal.md from the tables of the code.
import type { QueryField } from '../../grain/types/query-field.ts';

/** `type` is a grain type, or `all`. */
export function fieldRow(type: string, field: QueryField): string {
  const values = field.values === undefined ? '' : `: ${field.values.join(', ')}`;
  const operators = field.search === true ? '= (search)' : field.operators.join(' ');
  const able = [field.sortable && 'sort', field.groupable && 'group', field.projectable && 'select'].filter(Boolean);
  return `| ${type} | \`${field.name}\` | ${field.type.replace('_', ' ')}${values} | \`${operators}\` | ${able.join(', ')} |`;
}

export function errorRow(code: string, when: string, suggestion: string): string {
  return `| ${code} | ${when} | ${suggestion.replaceAll('|', '\\|')} |`;
}
