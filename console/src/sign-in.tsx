// Signs in with a key. A server without keys needs none.
import type { GranaryError } from 'granary-client';
import { useEffect, useId, useState } from 'preact/hooks';
import { useAsk, useDo } from './ask.ts';
import { goToIssuer, tokenFromIssuer } from './issuer.ts';
import { ErrorBox } from './parts/error-box.tsx';
import { CONSOLE } from './place.ts';
import { type Deployment, deploymentOf, ended, signIn } from './session.ts';

export function SignIn() {
  const { value: deployment, error, again } = useAsk('config', deploymentOf);
  const open = useDo(async (known: Deployment) => {
    const token = known.authMode === 'none' ? undefined : await tokenFromIssuer();
    if (known.authMode === 'none' || token !== undefined) await signIn(token, known);
  });
  useEffect(() => {
    document.title = 'Sign in · Granary';
    if (deployment !== undefined) void open.run(deployment);
  }, [deployment]);
  return (
    <main class="sign-in">
      <img src={`${CONSOLE}icon.svg`} alt="" width="44" height="44" />
      <h1>Granary</h1>
      {error !== undefined && <ErrorBox error={error} again={again} />}
      {open.error !== undefined && <ErrorBox error={open.error} />}
      {deployment?.oidc?.signsIn === true && <IssuerButton issuer={deployment.oidc.issuer} />}
      {deployment !== undefined && deployment.authMode !== 'none' && <KeyForm deployment={deployment} />}
      {deployment !== undefined && (
        <p class="faint">
          {deployment.deployment} · version {deployment.version}
        </p>
      )}
    </main>
  );
}

function IssuerButton({ issuer }: { readonly issuer: string }) {
  const doing = useDo(goToIssuer);
  return (
    <>
      <button type="button" class="primary issuer" disabled={doing.isRunning} onClick={() => void doing.run()}>
        Sign in at {new URL(issuer).host}
      </button>
      {doing.error !== undefined && <ErrorBox error={doing.error} />}
    </>
  );
}

function KeyForm({ deployment }: { readonly deployment: Deployment }) {
  const [key, setKey] = useState('');
  const id = useId();
  const doing = useDo(signIn);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void doing.run(key.trim(), deployment);
      }}
    >
      {ended.value !== undefined && doing.error === undefined && <Ended error={ended.value} />}
      <label for={id}>{deployment.authMode === 'oidc' ? 'Token' : 'API key'}</label>
      <input
        id={id}
        type="password"
        required
        autocomplete="off"
        spellcheck={false}
        placeholder="gr_…"
        value={key}
        onInput={(event) => setKey(event.currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={key.trim() === '' || doing.isRunning}>
        {doing.isRunning ? 'Signing in…' : 'Sign in'}
      </button>
      {doing.error !== undefined && <ErrorBox error={doing.error} />}
      <p class="faint">
        The key stays in the memory of this tab; reloading the page forgets it. The first key of a server is in{' '}
        <code>keys/bootstrap.key</code> of its data directory.
      </p>
    </form>
  );
}

function Ended({ error }: { readonly error: GranaryError }) {
  return (
    <div class="banner" role="status">
      <p>Your key is no longer accepted. Sign in again to continue.</p>
      <ErrorBox error={error} />
    </div>
  );
}
