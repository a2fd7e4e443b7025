// A page whose code did not arrive: the server is gone, or was upgraded since the console was opened.
import type { FunctionComponent } from 'preact';
import { useState } from 'preact/hooks';
import { asGranaryError, useDo } from '../ask.ts';
import { ErrorBox } from './error-box.tsx';
import { Fault } from './fault.tsx';

type Load<P> = () => Promise<FunctionComponent<P>>;

/** Loads a page like `load`, but never rejects: without the code it is a page that says so and tries again. */
export function neverMissing<P extends object>(load: Load<P>): Load<P> {
  return async () => {
    try {
      return await load();
    } catch (error) {
      return missing(load, error);
    }
  };
}

function missing<P extends object>(load: Load<P>, first: unknown): FunctionComponent<P> {
  let arrived: FunctionComponent<P> | undefined;
  return function Missing(props) {
    const [, redraw] = useState(0);
    const loading = useDo(async () => {
      arrived = await load();
      redraw((times) => times + 1);
    });
    if (arrived !== undefined) {
      const Page = arrived;
      return <Page {...props} />;
    }
    return (
      <>
        <Fault title="This page did not arrive">
          The server does not answer, or it was upgraded since you opened the console. Try again; if that does not help,
          reload the console, which forgets the key.
        </Fault>
        <ErrorBox error={loading.error ?? asGranaryError(first)} again={() => void loading.run()} />
      </>
    );
  };
}
