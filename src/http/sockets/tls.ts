import { hkdfSync } from 'node:crypto'
import type { Server as HttpServer } from 'node:http'
import type { ServerOptions } from 'node:https'
import type { Socket } from 'node:net'
import { type SecureContextOptions, Server } from 'node:tls'
import type { FastifyBaseLogger, FastifyHttpOptions, FastifyInstance } from 'fastify'
import { LimitedLog } from '../../observing/limited-log.ts'
import { messageOf } from '../../system/user-errors.ts'
import { type Certificate, fileVersions, readCertificate } from './certificate.ts'

type Options = FastifyHttpOptions<HttpServer>

/** RFC 9325 §3.1.1. All suites are authenticated encryption with forward secrecy (§4.2). */
const VERSIONS = {
  minVersion: 'TLSv1.2',
  ciphers:
    'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20',
} as const

/** As node:tls requires. */
const TICKET_KEYS_LENGTH = 48

/** How often to look whether the certificate files have changed. */
const LOOK_INTERVAL_MS = 5000

/** Adds TLS to Fastify's options. Node's default for ALPN is HTTP/1.1 alone. */
export function withTls(options: Options, certificate: Certificate): Options {
  const https: ServerOptions = {
    ...options.http,
    ...secureContext(certificate),
    // Node's default is two minutes.
    handshakeTimeout: options.requestTimeout,
    // Lets a client half-close the connection and await responses. node:http sets this, node:https does not.
    allowHalfOpen: true,
  }
  return { ...options, https } as Options
}

/** Session tickets are bound to a certificate. Once it is replaced, clients must authenticate the new one. */
function secureContext({ pem, ticketSecret }: Certificate): SecureContextOptions {
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
  logsReload: boolean,
): void {
  const { server } = app
  if (!(server instanceof Server)) throw new Error('the server does not use TLS')
  const log = logsReload ? app.log : app.log.child({}, { level: 'silent' })
  // Node's own listener would send a plain-text HTTP error.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (error: NodeJS.ErrnoException, connection) => {
    app.log.debug({ code: error.code, client: connection.remoteAddress }, 'TLS handshake failed')
    connection.destroy()
  })
  abortHandshakesOnClose(app, server)
  if (certificate.warning !== undefined) log.warn(certificate.warning)
  const reload = (next: Certificate) => {
    server.setSecureContext(secureContext(next))
    log.info({ expires: next.x509.validToDate }, 'TLS certificate reloaded')
    if (next.warning !== undefined) log.warn(next.warning)
  }
  const timer = watchFiles(certificate, reload, log)
  app.addHook('onClose', async () => clearInterval(timer))
}

/**
 * Reads a certificate again whenever its files have changed. Looks at their times rather than watching them: file system
 * events are lost when certbot replaces a symbolic link, when Kubernetes replaces a folder, and on network drives.
 */
function watchFiles(
  { files, versions, ticketSecret }: Certificate,
  onChange: (certificate: Certificate) => void,
  log: FastifyBaseLogger,
): NodeJS.Timeout {
  let current = versions
  let latest = versions
  // The same reason is not logged again until there is another one, or the certificate has been reloaded.
  const problems = new LimitedLog({ periodMs: Number.POSITIVE_INFINITY, keysMax: 1 })
  const look = async () => {
    const before = latest
    latest = await fileVersions(files)
    // One file may be replaced shortly before the other.
    if (latest === current || latest !== before) return
    try {
      const certificate = await readCertificate(files, ticketSecret)
      onChange(certificate)
      current = certificate.versions
      problems.forgetAll()
    } catch (error) {
      const reason = messageOf(error)
      const message = 'TLS certificate not reloaded; the previous one stays in use'
      problems.write(reason, () => log.warn({ reason }, message))
    }
  }
  let isLooking = false
  return setInterval(async () => {
    // A look at a slow disk can take longer than the interval.
    if (isLooking) return
    isLooking = true
    await look()
    isLooking = false
  }, LOOK_INTERVAL_MS).unref()
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
