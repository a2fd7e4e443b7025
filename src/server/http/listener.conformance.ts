// Requirements for every HTTP listener, run against each implementation.
import type { Listen } from './listener.ts';
import { bodiesConform } from './testing/listener-bodies.conformance.ts';
import { listeningConform } from './testing/listener-listening.conformance.ts';
import { peersConform } from './testing/listener-peers.conformance.ts';
import { requestsConform } from './testing/listener-requests.conformance.ts';
import { responsesConform } from './testing/listener-responses.conformance.ts';

export function conformance(name: string, listen: Listen): void {
  requestsConform(name, listen);
  bodiesConform(name, listen);
  responsesConform(name, listen);
  peersConform(name, listen);
  listeningConform(name, listen);
}
