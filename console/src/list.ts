// A list of the server, page by page, as rows that hold only what the page shows: a list may have a hundred thousand of them.
import type { GranaryError } from 'granary-client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { asGranaryError } from './ask.ts';
import { noteError } from './session.ts';

export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** Undefined on the last page. */
  readonly cursor: string | undefined;
  /** Undefined where the server does not count. */
  readonly total: number | undefined;
  /** True if only the reader asks for the next page. */
  readonly isPaused?: boolean | undefined;
}

export interface RowList<Row> {
  readonly rows: readonly Row[];
  readonly total: number | undefined;
  readonly isLoading: boolean;
  readonly isComplete: boolean;
  /** True while a page is there that only the reader asks for. */
  readonly isPaused: boolean;
  readonly error: GranaryError | undefined;
  /** Asks for the next page, unless one is under way or there is none. */
  readonly more: () => void;
  /** Begins again. */
  readonly again: () => void;
}

interface State<Row> {
  readonly rows: readonly Row[];
  readonly cursor: string | undefined;
  readonly total: number | undefined;
  readonly status: 'loading' | 'waiting' | 'paused' | 'complete' | 'failed';
  readonly error: GranaryError | undefined;
}

/** The list that is being read. */
interface Listing {
  readonly abort: AbortController;
  /** True while a page is awaited, and once there is none. */
  isBusy: boolean;
  cursor: string | undefined;
}

/** Lists what `key`, the question as text, asks for; `ask` gets one page after a cursor. */
export function useList<Row>(
  key: string,
  ask: (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Row>>,
): RowList<Row> {
  const [state, setState] = useState<State<Row>>(empty());
  const current = useRef<Listing | undefined>(undefined);
  const [times, setTimes] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;

  const load = useCallback(async (): Promise<void> => {
    const mine = current.current;
    if (mine === undefined || mine.isBusy) return;
    mine.isBusy = true;
    setState((before) => ({ ...before, status: 'loading', error: undefined }));
    try {
      let page = await latest.current(mine.cursor, mine.abort.signal);
      // One whose grains cannot be read is empty, and others follow: no row of it would ask for them.
      while (page.rows.length === 0 && page.cursor !== undefined && page.isPaused !== true)
        page = await latest.current(page.cursor, mine.abort.signal);
      const { rows: added, cursor, total, isPaused } = page;
      if (mine.abort.signal.aborted) return;
      mine.cursor = cursor;
      // A last page leaves the list busy, so that nothing asks for more.
      mine.isBusy = cursor === undefined;
      setState(({ rows }) => ({
        rows: rows.length === 0 ? added : [...rows, ...added],
        cursor,
        total,
        status: cursor === undefined ? 'complete' : isPaused === true ? 'paused' : 'waiting',
        error: undefined,
      }));
    } catch (thrown) {
      if (mine.abort.signal.aborted) return;
      const error = asGranaryError(thrown);
      noteError(error);
      // After an error only the reader asks again.
      setState((before) => ({ ...before, status: 'failed', error }));
    }
  }, []);

  useEffect(() => {
    const abort = new AbortController();
    current.current = { abort, isBusy: false, cursor: undefined };
    setState(empty());
    void load();
    return () => abort.abort();
  }, [key, times, load]);

  const more = useCallback(() => void load(), [load]);
  const again = useCallback(() => setTimes((before) => before + 1), []);
  const { rows, total, status, error } = state;
  return {
    rows,
    total,
    isLoading: status === 'loading',
    isComplete: status === 'complete',
    isPaused: status === 'paused',
    error,
    more,
    again,
  };
}

function empty<Row>(): State<Row> {
  return { rows: [], cursor: undefined, total: undefined, status: 'loading', error: undefined };
}
