// Generated from openapi.yaml by `npm run generate`; edit that instead.

/** The error codes by name, with the status and `error` of the response. */
export const errorCodes = {
  'invalid-json': { status: 400, error: 40001 },
  'invalid-body': { status: 400, error: 40002 },
  'malformed-request': { status: 400, error: 40003 },
  'invalid-parameter': { status: 400, error: 40004 },
  'id-mismatch': { status: 400, error: 40005 },
  'repeated-id': { status: 400, error: 40006 },
  'cursor-malformed': { status: 400, error: 40007 },
  'token-missing': { status: 401, error: 40101 },
  'token-invalid': { status: 401, error: 40102 },
  'insufficient-scope': { status: 403, error: 40301 },
  'read-only-mirror': { status: 403, error: 40302 },
  'unknown-path': { status: 404, error: 40401 },
  'plant-not-found': { status: 404, error: 40402 },
  'method-not-allowed': { status: 405, error: 40501 },
  'request-timeout': { status: 408, error: 40801 },
  'plant-exists': { status: 409, error: 40901 },
  'cursor-expired': { status: 410, error: 41001 },
  'plant-changed': { status: 412, error: 41201 },
  'body-too-large': { status: 413, error: 41301 },
  'changes-too-large': { status: 413, error: 41302 },
  'unsupported-media-type': { status: 415, error: 41501 },
  'unsupported-charset': { status: 415, error: 41502 },
  'unsupported-content-coding': { status: 415, error: 41503 },
  'misdirected-request': { status: 421, error: 42101 },
  'too-many-failures': { status: 429, error: 42901 },
  'too-many-requests': { status: 429, error: 42902 },
  'headers-too-large': { status: 431, error: 43101 },
  'internal-error': { status: 500, error: 50001 },
  'unsupported-transfer-coding': { status: 501, error: 50101 },
  'store-busy': { status: 503, error: 50301 },
  'store-unavailable': { status: 503, error: 50302 },
  'service-busy': { status: 503, error: 50303 },
  'issuer-unavailable': { status: 503, error: 50304 },
  'index-incomplete': { status: 503, error: 50305 },
  'unsupported-http-version': { status: 505, error: 50501 },
} as const

/** The name of an error code, such as `plant-exists`. */
export type ErrorCode = keyof typeof errorCodes
