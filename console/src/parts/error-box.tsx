// An error, with the code and the request id by which the server's log has it.
import { ConnectionError, type GranaryError } from 'granary-client';
import { Copy } from './copy.tsx';

interface Props {
  readonly error: GranaryError;
  /** Tries again what failed. */
  readonly again?: (() => void) | undefined;
}

export function ErrorBox({ error, again }: Props) {
  const { code, requestId, details, status } = error;
  const message = errorText(error);
  // A single fault is the message already.
  const more = details.filter((detail) => detailText(detail).replace(': ', ' ') !== message);
  return (
    <div class="error-box" role="alert">
      <p class="error-message">{message}</p>
      {more.length > 0 && (
        <ul>
          {more.map((detail) => (
            <li key={JSON.stringify(detail)}>{detailText(detail)}</li>
          ))}
        </ul>
      )}
      <p class="error-facts">
        <code>{code}</code>
        {status > 0 && <span>status {status}</span>}
        {requestId !== undefined && (
          <span>
            request <code>{requestId}</code> <Copy text={requestId} what="the request id" />
          </span>
        )}
        {again !== undefined && (
          <button type="button" onClick={again}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}

function errorText(error: GranaryError): string {
  if (error instanceof ConnectionError) return 'The server does not answer. It may be stopped, or the network is down.';
  // The message begins with the code, which stands below.
  const { code, message } = error;
  return (message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message).replaceAll('`', '');
}

function detailText(detail: unknown): string {
  const { field, issue } = detail as { readonly field?: unknown; readonly issue?: unknown }; // of the contract
  return typeof field === 'string' && typeof issue === 'string' ? `${field}: ${issue}` : JSON.stringify(detail);
}
