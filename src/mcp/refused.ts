// The failure of a call to the server.

/** A call was refused, or failed. `code` is a code of the contract, or the command line's own. */
export class CallRefused extends Error {
  override name = 'CallRefused';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
