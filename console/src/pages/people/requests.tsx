import { GranaryError, type Input, type Output } from 'granary-client';
import { useId, useState } from 'preact/hooks';
import { useQuery } from '../../address.ts';
import { useAsk, useDo } from '../../ask.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ExactTime } from '../../parts/grain.tsx';
import { allowed, useSession } from '../../session.ts';
import './people.css';

type Request = Output<'listSubjectRequests'>['requests'][number];
type Kind = Request['kind'];

const SHOWN = 100;
const KINDS: readonly Kind[] = ['access', 'portability', 'erasure', 'rectification', 'restriction', 'objection'];
const OUTCOMES = ['fulfilled', 'partly_fulfilled', 'refused', 'withdrawn'] as const;

/** The open requests of persons, those that are due first. Of more than are shown, those that were received first. */
export function Requests({ memory }: { readonly memory: string }) {
  const { client } = useSession();
  const query = useQuery();
  const { value, error, again } = useAsk(`${memory} requests`, (signal) =>
    client.memory(memory).operations.listSubjectRequests({ status: 'open', order: 'asc', limit: SHOWN }, { signal }),
  );
  const [closing, setClosing] = useState<Request>();
  const requests = [...(value?.requests ?? [])].sort((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
  return (
    <section class="section">
      <div class="buttons requests-head">
        <h2>Open requests</h2>
        {allowed.value.has('openSubjectRequest') && (
          <button type="button" onClick={() => query.set({ request: 'new' })}>
            New request
          </button>
        )}
      </div>
      {error !== undefined && <ErrorBox error={error} again={again} />}
      {value !== undefined && requests.length === 0 && <p>There is no open request.</p>}
      {requests.length > 0 && (
        <ul class="requests">
          {requests.map((request) => (
            <li key={request.requestId}>
              <b>{request.kind}</b>{' '}
              {request.userId !== undefined && (
                <a dir="auto" href={query.with({ person: request.userId })}>
                  {request.userId}
                </a>
              )}{' '}
              <span class={request.overdue ? 'bad' : undefined}>
                day {request.daysUsed} of {request.daysAllowed}, due <ExactTime at={request.dueAt} />
              </span>{' '}
              {allowed.value.has('reportSubjectRequest') && <Reports memory={memory} request={request} />}
              {allowed.value.has('closeSubjectRequest') && (
                <button type="button" onClick={() => setClosing(request)}>
                  Close…
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {(value?.total ?? 0) > SHOWN && <p>{`The first ${SHOWN} of ${value?.total} are shown.`}</p>}
      {query.one('request') === 'new' && (
        <OpenRequest memory={memory} onClose={() => query.set({ request: undefined })} onDone={again} />
      )}
      {closing !== undefined && (
        <CloseRequest memory={memory} request={closing} onClose={() => setClosing(undefined)} onDone={again} />
      )}
    </section>
  );
}

const LANGUAGES = { en: 'English', de: 'German' } as const;
const FORMATS = {
  html: { name: 'HTML', type: 'text/html' },
  pdf: { name: 'PDF', type: 'application/pdf' },
} as const;

/** Buttons that save the report as a file: HTML, which prints well, or PDF. */
function Reports({ memory, request: { requestId } }: { readonly memory: string; readonly request: Request }) {
  const { client } = useSession();
  /** Why this server makes no such file. The page itself it has. */
  const [notMade, setNotMade] = useState<GranaryError>();
  const doing = useDo(async (format: keyof typeof FORMATS, language: keyof typeof LANGUAGES) => {
    setNotMade(undefined);
    const asked = { requestId, format, language } as const;
    try {
      const file: unknown = await client.memory(memory).operations.reportSubjectRequest(asked);
      save(new Blob([file as BlobPart], { type: FORMATS[format].type }), `${requestId}-${language}.${format}`); // text or bytes
    } catch (error) {
      if (!(error instanceof GranaryError && error.status === 501)) throw error;
      setNotMade(error);
    }
  });
  return (
    <>
      <span class="reports">
        Report
        {(['html', 'pdf'] as const).flatMap((format) =>
          (['en', 'de'] as const).map((language) => (
            <button
              key={`${format} ${language}`}
              type="button"
              disabled={doing.isRunning}
              onClick={() => void doing.run(format, language)}
            >
              {`${FORMATS[format].name}, ${LANGUAGES[language]}`}
            </button>
          )),
        )}
      </span>
      {doing.error !== undefined && <ErrorBox error={doing.error} />}
      {notMade !== undefined && <ErrorBox error={notMade} />}
    </>
  );
}

const SAVED_MS = 60_000;

/** Lets the browser save the bytes as a file. */
function save(bytes: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(bytes);
  link.download = name;
  link.click();
  // Some browsers read it later.
  setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MS);
}

interface FormProps {
  readonly memory: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function OpenRequest({ memory, onClose, onDone }: FormProps) {
  const { client } = useSession();
  const id = useId();
  const [userId, setUserId] = useState('');
  const [kind, setKind] = useState<Kind>('access');
  const [requester, setRequester] = useState('');
  const doing = useDo(async () => {
    const asked: Input<'openSubjectRequest'> = { userId, kind, requester: requester === '' ? undefined : requester };
    await client.memory(memory).operations.openSubjectRequest(asked);
    onDone();
    onClose();
  });
  return (
    <Dialog title="New request" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void doing.run();
        }}
      >
        <label for={`${id}-user`}>User</label>
        <input id={`${id}-user`} required value={userId} onInput={(event) => setUserId(event.currentTarget.value)} />
        <label for={`${id}-kind`}>Kind of request</label>
        <select id={`${id}-kind`} value={kind} onChange={(event) => setKind(event.currentTarget.value as Kind)}>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
        <label for={`${id}-by`}>Requester, if another person</label>
        <input id={`${id}-by`} value={requester} onInput={(event) => setRequester(event.currentTarget.value)} />
        {doing.error !== undefined && <ErrorBox error={doing.error} />}
        <Buttons onClose={onClose} label="Open it" isReady={userId !== '' && !doing.isRunning} />
      </form>
    </Dialog>
  );
}

function CloseRequest({ memory, request, onClose, onDone }: FormProps & { readonly request: Request }) {
  const { client } = useSession();
  const id = useId();
  const [outcome, setOutcome] = useState<(typeof OUTCOMES)[number]>('fulfilled');
  const [note, setNote] = useState('');
  const doing = useDo(async () => {
    const { requestId } = request;
    await client
      .memory(memory)
      .operations.closeSubjectRequest({ requestId, outcome, note: note === '' ? undefined : note });
    onDone();
    onClose();
  });
  return (
    <Dialog title="Close the request" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void doing.run();
        }}
      >
        <p>Save the report first, to give it to the person.</p>
        <label for={`${id}-outcome`}>Outcome</label>
        <select
          id={`${id}-outcome`}
          value={outcome}
          onChange={(event) => setOutcome(event.currentTarget.value as typeof outcome)}
        >
          {OUTCOMES.map((one) => (
            <option key={one} value={one}>
              {one.replaceAll('_', ' ')}
            </option>
          ))}
        </select>
        <label for={`${id}-note`}>Note</label>
        <input id={`${id}-note`} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
        {doing.error !== undefined && <ErrorBox error={doing.error} />}
        <Buttons onClose={onClose} label="Close it" isReady={!doing.isRunning} />
      </form>
    </Dialog>
  );
}

interface ButtonsProps {
  readonly onClose: () => void;
  readonly label: string;
  readonly isReady: boolean;
}

function Buttons({ onClose, label, isReady }: ButtonsProps) {
  return (
    <div class="buttons">
      <button type="button" onClick={onClose}>
        Cancel
      </button>
      <button type="submit" class="primary" disabled={!isReady}>
        {label}
      </button>
    </div>
  );
}
