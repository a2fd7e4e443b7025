// The reference passes the suites of clients. Refusals before a call is there are grpc-js's own, so the suites of raw HTTP/2
// do not hold for it.
import { frontConforms } from '../testing/front.conformance.ts';
import { servicesConform } from '../testing/services.conformance.ts';
import type { ListenerUnderTest } from '../testing/under-test.ts';
import { listenGrpcJs } from './front.ts';

const OWN_REFUSAL = 'grpc-js refuses by itself, without a code of the contract';

const under: ListenerUnderTest = {
  name: 'grpc-js',
  listen: listenGrpcJs,
  except: {
    'a message up to the limit passes, a longer one is RESOURCE_EXHAUSTED': OWN_REFUSAL,
    'every protocol error has a code and the request id': OWN_REFUSAL,
    'an invalid or oversized question ends the stream': OWN_REFUSAL,
  },
};
frontConforms(under);
servicesConform(under);
