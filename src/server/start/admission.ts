// Admits callers: the check of their credentials, and the limit of their requests.
import type { Clock } from '../../engine/base/clock.ts';
import { Authenticator } from '../auth/authenticate.ts';
import { RateLimiter } from '../auth/rate-limit.ts';
import { tokenVerifier } from '../auth/tokens.ts';
import type { Config } from '../config.ts';
import type { Keys } from '../control/keys.ts';
import { isLoopback } from '../loopback.ts';
import type { Starting } from './starting.ts';

export function authenticatorOf({ config, clock, log }: Starting, keys: Keys): Authenticator {
  const { auth, host } = config;
  const tokens = tokenVerifier(config, { log, clock });
  return new Authenticator({ mode: auth, open: !isLoopback(host), keys, tokens, clock });
}

/** Of each caller on this node; undefined: none. */
export function limiterOf(config: Config, clock: Clock): RateLimiter | undefined {
  if (config.rateLimit === 0) return undefined;
  return new RateLimiter({ perMinute: config.rateLimit, burst: Math.max(1, config.rateLimit / 6), clock });
}
