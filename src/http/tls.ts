import type { Server as HttpServer } from 'node:http'
import type { ServerOptions } from 'node:https'
import type { Socket } from 'node:net'
import type { Server } from 'node:tls'
import type { FastifyBaseLogger, FastifyHttpOptions, FastifyInstance } from 'fastify'
import { type Certificate, type Pem, readCertificate } from './certificate.ts'

type Options = FastifyHttpOptions<HttpServer>

/** RFC 9325 §3.1.1: older versions must not be negotiated. */
const VERSIONS = { minVersion: 'TLSv1.2' } as const

/** How often to check the certificate files for changes. */
const LOOK_MS = 2000

/** Adds TLS to Fastify's options. Node's default for ALPN is HTTP/1.1 alone. */
export function overTls(options: Options, { pem }: Certificate): Options {
  const https: ServerOptions = {
    ...options.http,
    ...pem,
    ...VERSIONS,
    // Node's default is two minutes.
    handshakeTimeout: options.requestTimeout,
    // Lets a client half-close the connection and await responses. node:http sets this, node:https does not.
    allowHalfOpen: true,
  }
  return { ...options, https } as Options
}

/**
 * Closes connections that fail the handshake, and reloads the certificate when the files change.
 *
 * @param lookMs how often to read the files, in milliseconds
 */
export function serveTls(app: FastifyInstance, certificate: Certificate, lookMs = LOOK_MS): void {
  const server = app.server as HttpServer & Server
  // Node's own listener would answer the failure in plain text, as a malformed request.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (error: NodeJS.ErrnoException, connection) => {
    app.log.debug({ code: error.code, client: connection.remoteAddress }, 'TLS handshake failed')
    connection.destroy()
  })
  endHandshakes(app, server)
  if (certificate.exposure !== undefined) app.log.warn(certificate.exposure)
  const reloader = new CertificateReloader(certificate, server, app.log)
  const timer = setInterval(() => reloader.look(), lookMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/**
 * Aborts unfinished handshakes when the application closes. It would wait for them otherwise, because Node's
 * closeIdleConnections() and closeAllConnections() only cover connections past the handshake.
 */
function endHandshakes(app: FastifyInstance, server: Server): void {
  const handshakes = new Map<string, Socket>()
  server.on('connection', (connection: Socket) => {
    const peer = peerOf(connection)
    handshakes.set(peer, connection)
    connection.once('close', () => handshakes.delete(peer))
  })
  server.on('secureConnection', (connection) => handshakes.delete(peerOf(connection)))
  app.addHook('preClose', async () => {
    for (const connection of handshakes.values()) connection.destroy()
  })
}

/** A key that a raw connection shares with its TLS connection, and with no other. */
function peerOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`
}

/**
 * Polls the files instead of watching them: certbot replaces links and Kubernetes a folder, and file system events are
 * lost in both cases, as on network drives.
 */
class CertificateReloader {
  readonly #server: Server
  readonly #log: FastifyBaseLogger
  #current: Certificate
  #looking = false
  /** Why the files were unusable when last read, and whether that was logged. */
  #trouble: { readonly message: string; logged: boolean } | undefined

  constructor(certificate: Certificate, server: Server, log: FastifyBaseLogger) {
    this.#current = certificate
    this.#server = server
    this.#log = log
  }

  async look(): Promise<void> {
    // Reading from a slow disk may take longer than the interval.
    if (this.#looking) return
    this.#looking = true
    try {
      this.#serve(await readCertificate(this.#current.files))
      this.#trouble = undefined
    } catch (error) {
      this.#note((error as Error).message)
    }
    this.#looking = false
  }

  #serve(certificate: Certificate): void {
    const { pem, x509, exposure } = certificate
    if (isSame(pem, this.#current.pem)) return
    this.#server.setSecureContext({ ...pem, ...VERSIONS })
    this.#current = certificate
    this.#log.info({ expires: x509.validToDate }, 'TLS certificate reloaded')
    if (exposure !== undefined) this.#log.warn(exposure)
  }

  /** Logs a problem only if it persists: one file may be replaced shortly before the other. */
  #note(message: string): void {
    if (this.#trouble?.message !== message) this.#trouble = { message, logged: false }
    else if (!this.#trouble.logged) {
      this.#trouble.logged = true
      this.#log.warn(
        { reason: message },
        'TLS certificate not reloaded; the previous one stays in use',
      )
    }
  }
}

function isSame(one: Pem, other: Pem): boolean {
  return one.cert.equals(other.cert) && one.key.equals(other.key)
}
