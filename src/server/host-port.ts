// An address as an operator writes it: host:port, or [address]:port for IPv6.

export interface HostPort {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
}

const FORM = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/;

/** Throws an Error that states the expected form. */
export function parseHostPort(text: string): HostPort {
  const [, bracketed, plain, digits] = FORM.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535) throw new Error('must be HOST:PORT, or [ADDRESS]:PORT for IPv6');
  return { host, port };
}

export function hostPortText({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
