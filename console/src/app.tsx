// The whole console: sign-in, then the frame with the page of the address.
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { patternOf } from './address.ts';
import { Frame } from './frame.tsx';
import { shownPages } from './pages.ts';
import { LeaveQuestion, ShownOnce } from './parts/dialog.tsx';
import { Fault } from './parts/fault.tsx';
import { Guard } from './parts/guard.tsx';
import { CONSOLE } from './place.ts';
import { session } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { useWatchedWays } from './unsaved.ts';

export function App() {
  return (
    <LocationProvider scope={CONSOLE}>
      {session.value === undefined ? <SignIn /> : <Pages />}
      <Unsaved />
    </LocationProvider>
  );
}

/** Dialogs over any page: the question before something unsaved is lost, and a secret that is shown once. */
function Unsaved() {
  useWatchedWays(useLocation().url);
  return (
    <>
      <ShownOnce />
      <LeaveQuestion />
    </>
  );
}

function Pages() {
  const current = session.value;
  const { url } = useLocation();
  if (current === undefined) return null;
  const pages = shownPages(current.deployment);
  return (
    <Frame pages={pages}>
      <Guard address={url}>
        <Router>
          {pages.map((page) => (
            <Route key={page.title} path={patternOf(page)} component={page.component} page={page} />
          ))}
          <Route default component={NoPage} />
        </Router>
      </Guard>
    </Frame>
  );
}

function NoPage() {
  return <Fault title="There is no such page">This console has no such page, or your key may not open it.</Fault>;
}
