// Runs the handler on a request of any listener.
import type { HttpHandler, HttpRequest } from './listener.ts';

/** A request that learns how its handler ended. */
export interface HandledRequest extends HttpRequest {
  handled(): void;
  failed(error: unknown): void;
}

/** A handler that answers at once costs no promise. */
export function handle(handler: HttpHandler, request: HandledRequest): void {
  try {
    const running = handler(request);
    if (running === undefined) request.handled();
    else
      running.then(
        () => request.handled(),
        (error: unknown) => request.failed(error),
      );
  } catch (error) {
    request.failed(error);
  }
}
