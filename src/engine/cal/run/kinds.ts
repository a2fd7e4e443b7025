// Wire names and tiers of statements.
import { unreachable } from '../../base/assert.ts';
import type { Statement } from '../ast.ts';

export const CAL_VERSION = '1.2';

/** The tier of a statement; 0 for read-only ones. */
export function tierOf({ kind }: Pick<Statement, 'kind'>): 0 | 1 {
  return kind === 'add' || kind === 'supersede' || kind === 'revert' ? 1 : 0;
}

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
