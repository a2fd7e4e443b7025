// What both transports agree to in a TLS handshake.

/**
 * Suites of TLS 1.2: each session has a key of its own, so that who gets the server's key later cannot read what was
 * recorded; and none of the older ciphers. Those of TLS 1.3 are all of that kind.
 */
const SUITES_12 = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
];
const SUITES_13 = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'];

/** For servers of Node. */
export const TLS_OPTIONS = { minVersion: 'TLSv1.2', ciphers: [...SUITES_13, ...SUITES_12].join(':') } as const;

/** For uWebSockets.js, which has those of TLS 1.3 by itself. */
export const UWS_CIPHERS = SUITES_12.join(':');
