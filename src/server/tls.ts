// TLS settings of both transports.

/**
 * TLS 1.2 suites: only ones with forward secrecy, so that a leaked key does not reveal recorded sessions, and no old
 * ciphers. All suites of TLS 1.3 qualify.
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

/** For Node's servers. */
export const TLS_OPTIONS = { minVersion: 'TLSv1.2', ciphers: [...SUITES_13, ...SUITES_12].join(':') } as const;

/** For uWebSockets.js, which enables those of TLS 1.3 itself. */
export const UWS_CIPHERS = SUITES_12.join(':');
