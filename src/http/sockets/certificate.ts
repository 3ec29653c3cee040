import { createPrivateKey, type KeyObject, randomBytes, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { type Config, ConfigError } from '../../config/config.ts'
import { READABLE_BY_ALL } from '../../system/file-modes.ts'
import { fileError, messageOf } from '../../system/user-errors.ts'

const TICKET_SECRET_LENGTH = 32

/** Paths of a certificate and its key. */
export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

/** The contents of the files, as node:tls expects them. */
export interface Pem {
  readonly cert: Buffer
  readonly key: Buffer
}

/** A certificate that is valid now, with its key. */
export interface Certificate {
  readonly files: CertificateFiles
  /** See fileVersions. */
  readonly versions: string
  readonly pem: Pem
  readonly x509: X509Certificate
  /** For the keys of session tickets. Threads with the same one can resume each other's sessions (RFC 5077). */
  readonly ticketSecret: Uint8Array
  /** For the log, if other users can read the key. */
  readonly warning: string | undefined
}

/** A new `ticketSecret`. */
export function newTicketSecret(): Uint8Array {
  return randomBytes(TICKET_SECRET_LENGTH)
}

/**
 * Reads the configured certificate. Resolves to undefined if none is configured.
 *
 * @throws ConfigError if it is invalid, FileError if it cannot be read
 */
export async function loadCertificate(
  { tlsCertificate: certificate, tlsKey: key }: Config,
  ticketSecret = newTicketSecret(),
): Promise<Certificate | undefined> {
  if (certificate === undefined || key === undefined) return undefined
  return readCertificate({ certificate, key }, ticketSecret)
}

/**
 * Reads a certificate and its key, and verifies that a server can use them now.
 *
 * @throws ConfigError that names the file and what was expected, or FileError
 */
export async function readCertificate(
  files: CertificateFiles,
  ticketSecret: Uint8Array,
): Promise<Certificate> {
  const certificateLabel = `${files.certificate} (--tls-certificate)`
  const keyLabel = `${files.key} (--tls-key)`
  const versions = await fileVersions(files)
  const [cert, key] = await Promise.all([
    readWithMode(files.certificate, certificateLabel),
    readWithMode(files.key, keyLabel),
  ])
  const pem = { cert: cert.content, key: key.content }
  const x509 = parseCertificate(pem.cert, certificateLabel)
  if (!x509.checkPrivateKey(parseKey(pem.key, keyLabel))) {
    throw new ConfigError(
      `${keyLabel}: expected the private key of the certificate in ${files.certificate}`,
    )
  }
  const isExposed = (key.mode & READABLE_BY_ALL) !== 0
  const warning = isExposed ? `every user of this machine can read ${keyLabel}` : undefined
  return { files, versions, pem, x509, ticketSecret, warning }
}

/**
 * What differs once the files have changed: which they are, and when they last changed. Not their modification times,
 * which many tools preserve when they copy a file.
 */
export async function fileVersions({ certificate, key }: CertificateFiles): Promise<string> {
  const versions = [certificate, key].map((file) =>
    stat(file).then(
      ({ ino, ctimeMs }) => `${ino} ${ctimeMs}`,
      () => 'unreadable',
    ),
  )
  return (await Promise.all(versions)).join()
}

async function readWithMode(
  file: string,
  label: string,
): Promise<{ content: Buffer; mode: number }> {
  try {
    const [content, { mode }] = await Promise.all([readFile(file), stat(file)])
    return { content, mode }
  } catch (error) {
    throw fileError(`cannot read ${label}`, error)
  }
}

function parseCertificate(cert: Buffer, label: string): X509Certificate {
  const x509 = withReason(`${label}: expected a certificate in PEM`, () => {
    // Also validates the issuers' certificates, which follow the first one.
    createSecureContext({ cert })
    return new X509Certificate(cert)
  })
  const { validFromDate, validToDate } = x509
  const now = Date.now()
  if (validToDate.getTime() < now || validFromDate.getTime() > now) {
    const times = `${validFromDate.toISOString()} to ${validToDate.toISOString()}`
    throw new ConfigError(
      `${label}: expected a currently valid certificate; this one is valid from ${times}`,
    )
  }
  return x509
}

function parseKey(key: Buffer, label: string): KeyObject {
  return withReason(`${label}: expected a private key in PEM, without a passphrase`, () =>
    createPrivateKey(key),
  )
}

/** Appends OpenSSL's reason to the expectation. */
function withReason<Result>(expected: string, parse: () => Result): Result {
  try {
    return parse()
  } catch (error) {
    throw new ConfigError(`${expected} (${messageOf(error)})`, { cause: error })
  }
}

/** Whether a certificate is valid for a host, given as a name or an address. */
export function covers(x509: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? x509.checkHost(host) : x509.checkIP(host)) !== undefined
}
