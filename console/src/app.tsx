// The whole console: sign-in, then the frame with the page of the address.
import { ErrorBoundary, LocationProvider, Route, Router } from 'preact-iso';
import { patternOf } from './address.ts';
import { Frame } from './frame.tsx';
import { shownPages } from './pages.ts';
import { Fault } from './parts/fault.tsx';
import { CONSOLE } from './place.ts';
import { session } from './session.ts';
import { SignIn } from './sign-in.tsx';

export function App() {
  return <LocationProvider scope={CONSOLE}>{session.value === undefined ? <SignIn /> : <Pages />}</LocationProvider>;
}

function Pages() {
  const current = session.value;
  if (current === undefined) return null;
  const pages = shownPages(current.deployment);
  return (
    <Frame pages={pages}>
      <ErrorBoundary>
        <Router>
          {pages.map((page) => (
            <Route key={page.title} path={patternOf(page)} component={page.component} page={page} />
          ))}
          <Route default component={NoPage} />
        </Router>
      </ErrorBoundary>
    </Frame>
  );
}

function NoPage() {
  return (
    <Fault title="There is no such page">
      The address is of no page of this console, or your key may not use the page.
    </Fault>
  );
}
