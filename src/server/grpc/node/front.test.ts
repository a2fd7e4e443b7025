import { boundsConform } from '../testing/bounds.conformance.ts';
import { connectionsConform } from '../testing/connection.conformance.ts';
import { frontConforms } from '../testing/front.conformance.ts';
import { protocolConforms } from '../testing/protocol.conformance.ts';
import { servicesConform } from '../testing/services.conformance.ts';
import type { ListenerUnderTest } from '../testing/under-test.ts';
import { listenGrpc } from './front.ts';

const under: ListenerUnderTest = { name: 'node:http2', listen: listenGrpc };
frontConforms(under);
protocolConforms(under);
boundsConform(under);
connectionsConform(under);
servicesConform(under);
