import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { type Config, ConfigError } from '../config.ts'
import { fileError } from '../file-error.ts'

/** Where a certificate and its key are. */
export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

/** The contents of the files, as `tls` takes them. */
export interface Pem {
  readonly cert: Buffer
  readonly key: Buffer
}

/** A certificate that is valid now, with its key. */
export interface Certificate {
  readonly files: CertificateFiles
  readonly pem: Pem
  readonly x509: X509Certificate
  /** Why the key may not be a secret; undefined if it is one. */
  readonly exposure: string | undefined
}

/** In the mode of a file. */
const READABLE_BY_OTHERS = 0o004

/**
 * The certificate that the settings name, or undefined if they name none.
 *
 * @throws ConfigError if it cannot be used, or only one of the two files is named
 */
export async function certificateOf({
  tlsCertificate,
  tlsKey,
}: Config): Promise<Certificate | undefined> {
  if (tlsCertificate !== undefined && tlsKey !== undefined) {
    return readCertificate({ certificate: tlsCertificate, key: tlsKey })
  }
  if (tlsCertificate === undefined && tlsKey === undefined) return undefined
  throw new ConfigError('--tls-certificate and --tls-key go together: set both, or neither')
}

/**
 * Reads a certificate and its key, and verifies that a server can use them now.
 *
 * @throws ConfigError naming the file, and what was expected of it
 */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const certificateLabel = `${files.certificate} (--tls-certificate)`
  const keyLabel = `${files.key} (--tls-key)`
  const [cert, key] = await Promise.all([
    read(files.certificate, certificateLabel),
    read(files.key, keyLabel),
  ])
  const pem = { cert: cert.content, key: key.content }
  const x509 = parseCertificate(pem.cert, certificateLabel)
  if (!x509.checkPrivateKey(parseKey(pem.key, keyLabel))) {
    throw new ConfigError(
      `${keyLabel}: expected the private key of the certificate in ${files.certificate}`,
    )
  }
  const exposed = (key.mode & READABLE_BY_OTHERS) !== 0
  const exposure = exposed ? `every user of this machine can read ${keyLabel}` : undefined
  return { files, pem, x509, exposure }
}

async function read(file: string, label: string): Promise<{ content: Buffer; mode: number }> {
  try {
    const [content, { mode }] = await Promise.all([readFile(file), stat(file)])
    return { content, mode }
  } catch (error) {
    throw fileError(`cannot read ${label}`, error)
  }
}

function parseCertificate(cert: Buffer, label: string): X509Certificate {
  const x509 = refusing(`${label}: expected a certificate in PEM`, () => {
    // Also reads the certificates of the issuers, which follow the first one.
    createSecureContext({ cert })
    return new X509Certificate(cert)
  })
  const { validFromDate, validToDate } = x509
  const now = Date.now()
  if (validToDate.getTime() < now || validFromDate.getTime() > now) {
    const times = `${validFromDate.toISOString()} to ${validToDate.toISOString()}`
    throw new ConfigError(`${label}: expected a certificate that is valid now, not from ${times}`)
  }
  return x509
}

function parseKey(key: Buffer, label: string): KeyObject {
  return refusing(`${label}: expected a private key in PEM, without a passphrase`, () =>
    createPrivateKey(key),
  )
}

/** Adds OpenSSL's reason to what was expected. */
function refusing<Result>(expected: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new ConfigError(`${expected} (${(error as Error).message})`, { cause: error })
  }
}

/** Whether a client that connects to a host, a name or an address, finds it in the certificate. */
export function covers(x509: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? x509.checkHost(host) : x509.checkIP(host)) !== undefined
}
