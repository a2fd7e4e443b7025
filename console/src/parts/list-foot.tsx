// Below a list: how many of its rows are here.
import type { RowList } from '../list.ts';
import { count } from './grain.tsx';

interface Props {
  readonly list: Pick<RowList<unknown>, 'rows' | 'total' | 'isLoading' | 'isComplete'>;
  /** The words for one row and for several, such as "grain" and "grains". */
  readonly one: string;
  readonly what: string;
}

export function ListFoot({ list, one, what }: Props) {
  const { rows, total, isLoading, isComplete } = list;
  const all = total ?? (isComplete ? rows.length : undefined);
  const here = all === undefined || all === rows.length ? count(rows.length) : `${count(rows.length)} of ${count(all)}`;
  return (
    <p class="table-foot" role="status">
      {isLoading && rows.length === 0
        ? `Loading ${what}…`
        : `${here} ${here === '1' ? one : what}${isLoading ? ', loading more…' : ''}`}
    </p>
  );
}
