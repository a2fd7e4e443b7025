// Asks the server for what a page shows.
import { GranaryError } from 'granary-client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { noteError, session } from './session.ts';

export interface Asked<T> {
  /** The last answer. It stays while the next one is awaited, unless the question is another one. */
  readonly value: T | undefined;
  readonly error: GranaryError | undefined;
  readonly isLoading: boolean;
  /** Asks again. */
  readonly again: () => void;
}

interface State<T> {
  readonly key: string | undefined;
  readonly value: T | undefined;
  readonly error: GranaryError | undefined;
  readonly isLoading: boolean;
}

/**
 * Asks when the page is shown and whenever `key`, the question as text, changes; undefined asks nothing. A question that is
 * no longer of interest is aborted.
 */
export function useAsk<T>(key: string | undefined, ask: (signal: AbortSignal) => Promise<T>): Asked<T> {
  const [state, setState] = useState<State<T>>({
    key,
    value: undefined,
    error: undefined,
    isLoading: key !== undefined,
  });
  const [times, setTimes] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (key === undefined) return;
    const abort = new AbortController();
    setState((before) => ({
      key,
      value: before.key === key ? before.value : undefined,
      error: undefined,
      isLoading: true,
    }));
    latest.current(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setState({ key, value, error: undefined, isLoading: false });
      },
      (thrown: unknown) => {
        if (abort.signal.aborted) return;
        const error = asGranaryError(thrown);
        noteError(error);
        setState((before) => ({ ...before, error, isLoading: false }));
      },
    );
    return () => abort.abort();
  }, [key, times]);
  const again = useCallback(() => setTimes((before) => before + 1), []);
  // Between a new question and its effect, the state is still of the question before.
  if (state.key !== key) return { value: undefined, error: undefined, isLoading: key !== undefined, again };
  return { ...state, again };
}

export interface Doing<A extends readonly unknown[]> {
  readonly run: (...args: A) => Promise<void>;
  readonly error: GranaryError | undefined;
  readonly isRunning: boolean;
  readonly clear: () => void;
}

/** A change that a person asks for: what is under way, and what went wrong. */
export function useDo<A extends readonly unknown[]>(act: (...args: A) => Promise<unknown>): Doing<A> {
  const [error, setError] = useState<GranaryError>();
  const [isRunning, setRunning] = useState(false);
  const run = async (...args: A): Promise<void> => {
    setError(undefined);
    setRunning(true);
    const signedIn = session.value;
    try {
      await act(...args);
    } catch (thrown) {
      const found = asGranaryError(thrown);
      // An act goes on when its page is left. The refusal of an earlier key does not end this session.
      if (session.value === signedIn) noteError(found);
      setError(found);
    } finally {
      setRunning(false);
    }
  };
  return { run, error, isRunning, clear: () => setError(undefined) };
}

/** A fault of the page itself is shown like one of the server. */
export function asGranaryError(thrown: unknown): GranaryError {
  if (thrown instanceof GranaryError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new GranaryError(message, { code: 'CONSOLE', status: 0, cause: thrown });
}
