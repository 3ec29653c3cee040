/** The oldest TLS version to negotiate, as a server and as a client (RFC 9325 §3.1.1). */
export const TLS_VERSION_MIN = 'TLSv1.2'
