import { hkdfSync } from 'node:crypto'
import type { Server as HttpServer } from 'node:http'
import type { ServerOptions } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContextOptions, Server } from 'node:tls'
import type { FastifyBaseLogger, FastifyHttpOptions, FastifyInstance } from 'fastify'
import { TLS_VERSION_MIN } from '../../tls-version.ts'
import { type Certificate, type Pem, readCertificate } from './certificate.ts'

type Options = FastifyHttpOptions<HttpServer>

/** All suites are authenticated encryption with forward secrecy (RFC 9325 §4.2). */
const VERSIONS = {
  minVersion: TLS_VERSION_MIN,
  ciphers:
    'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20',
} as const

/** As node:tls requires. */
const TICKET_KEYS_LENGTH = 48

/** How often to check the certificate files for changes. */
const RELOAD_INTERVAL_MS = 2000

/**
 * Adds TLS to Fastify's options. Node's default for ALPN is HTTP/1.1 alone.
 *
 * @param ticketSecret see ServerParts
 */
export function withTls(options: Options, { pem }: Certificate, ticketSecret: Uint8Array): Options {
  const https: ServerOptions = {
    ...options.http,
    ...secureContext(pem, ticketSecret),
    // Node's default is two minutes.
    handshakeTimeout: options.requestTimeout,
    // Lets a client half-close the connection and await responses. node:http sets this, node:https does not.
    allowHalfOpen: true,
  }
  return { ...options, https } as Options
}

/** Session tickets are bound to a certificate. Once it is replaced, clients must authenticate the new one. */
function secureContext(pem: Pem, ticketSecret: Uint8Array): SecureContextOptions {
  const keys = hkdfSync('sha256', ticketSecret, pem.cert, 'session tickets', TICKET_KEYS_LENGTH)
  return { ...pem, ...VERSIONS, ticketKeys: Buffer.from(keys) }
}

/**
 * Closes connections that fail the handshake, and reloads the certificate when its files change.
 *
 * @param certificate the one that the server starts with
 * @param logsReload whether to log about the certificate, which all HTTP threads reload
 */
export function serveTls(
  app: FastifyInstance,
  certificate: Certificate,
  ticketSecret: Uint8Array,
  logsReload: boolean,
): void {
  const server = app.server as HttpServer & Server
  const log = logsReload ? app.log : app.log.child({}, { level: 'silent' })
  // Node's own listener would send a plain-text HTTP error.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (error: NodeJS.ErrnoException, connection) => {
    app.log.debug({ code: error.code, client: connection.remoteAddress }, 'TLS handshake failed')
    connection.destroy()
  })
  abortHandshakesOnClose(app, server)
  if (certificate.warning !== undefined) log.warn(certificate.warning)
  const reloader = new CertificateReloader(certificate, ticketSecret, server, log)
  const timer = setInterval(() => reloader.reload(), RELOAD_INTERVAL_MS).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/**
 * Aborts unfinished handshakes when the application closes. Otherwise it would wait for them, because Node's
 * closeIdleConnections() and closeAllConnections() only cover connections past the handshake.
 */
function abortHandshakesOnClose(app: FastifyInstance, server: Server): void {
  const handshakes = new Map<string, Socket>()
  server.on('connection', (connection: Socket) => {
    const key = toKey(connection)
    handshakes.set(key, connection)
    connection.once('close', () => handshakes.delete(key))
  })
  server.on('secureConnection', (connection) => handshakes.delete(toKey(connection)))
  app.addHook('preClose', async () => {
    for (const connection of handshakes.values()) connection.destroy()
  })
}

/** Identifies both a raw connection and the TLS connection on top of it. */
function toKey({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`
}

/**
 * Polls the files rather than watching them: file system events are lost when certbot replaces a symbolic link, when
 * Kubernetes replaces a folder, and on network drives.
 */
class CertificateReloader {
  readonly #ticketSecret: Uint8Array
  readonly #server: Server
  readonly #log: FastifyBaseLogger
  #current: Certificate
  #isReading = false
  /** Why the files were unusable when last read, and whether that was logged. */
  #problem: { readonly message: string; logged: boolean } | undefined

  constructor(
    certificate: Certificate,
    ticketSecret: Uint8Array,
    server: Server,
    log: FastifyBaseLogger,
  ) {
    this.#current = certificate
    this.#ticketSecret = ticketSecret
    this.#server = server
    this.#log = log
  }

  /** Reads the files and serves them if they have changed. Never rejects. */
  async reload(): Promise<void> {
    // Reading from a slow disk can take longer than the interval.
    if (this.#isReading) return
    this.#isReading = true
    try {
      this.#serve(await readCertificate(this.#current.files))
      this.#problem = undefined
    } catch (error) {
      this.#logIfPersistent((error as Error).message)
    }
    this.#isReading = false
  }

  #serve(certificate: Certificate): void {
    const { pem, x509, warning } = certificate
    if (isEqual(pem, this.#current.pem)) return
    this.#server.setSecureContext(secureContext(pem, this.#ticketSecret))
    this.#current = certificate
    this.#log.info({ expires: x509.validToDate }, 'TLS certificate reloaded')
    if (warning !== undefined) this.#log.warn(warning)
  }

  /** Logs a problem only if it persists: one file may be replaced shortly before the other. */
  #logIfPersistent(message: string): void {
    if (this.#problem?.message !== message) this.#problem = { message, logged: false }
    else if (!this.#problem.logged) {
      this.#problem.logged = true
      this.#log.warn(
        { reason: message },
        'TLS certificate not reloaded; the previous one stays in use',
      )
    }
  }
}

function isEqual(one: Pem, other: Pem): boolean {
  return one.cert.equals(other.cert) && one.key.equals(other.key)
}
