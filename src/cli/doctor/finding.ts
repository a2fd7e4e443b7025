// One finding of `granary doctor`.

export interface Finding {
  readonly check: string;
  /** `fail`: the server does not work, or data are at risk. `warn`: it works, and something should change. */
  readonly state: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** The remedy; empty if all is well. */
  readonly action: string;
}

export function ok(check: string, message: string): Finding {
  return { check, state: 'ok', message, action: '' };
}

export function warn(check: string, message: string, action: string): Finding {
  return { check, state: 'warn', message, action };
}

export function fail(check: string, message: string, action: string): Finding {
  return { check, state: 'fail', message, action };
}
