// The names of statements on the wire.
import { unreachable } from '../../assert.ts';
import type { Statement } from '../ast.ts';

export function statementType({ kind }: Pick<Statement, 'kind'>): string {
  switch (kind) {
    case 'recall':
    case 'set_op':
    case 'assemble':
    case 'exists':
    case 'history':
    case 'explain':
    case 'describe':
    case 'batch':
    case 'coalesce':
    case 'define_template':
    case 'add':
    case 'supersede':
    case 'revert':
      return kind;
    case 'history_diff':
    case 'history_of_pair':
      return 'history';
    default:
      return unreachable(kind);
  }
}
