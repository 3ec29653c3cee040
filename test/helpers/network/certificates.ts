/** Generates certificates for tests: X.509 version 3 (RFC 5280), signed with ECDSA on P-256. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { join } from 'node:path'

export interface Issued {
  /** In PEM. */
  readonly cert: string
  /** In PEM. */
  readonly key: string
  readonly name: string
  readonly privateKey: KeyObject
}

export interface Wanted {
  /** The common name of its subject. */
  readonly name: string
  /** DNS names and IPv4 addresses of a server; omitted for a certificate authority. */
  readonly hosts?: readonly string[]
  /** Without an issuer, the certificate is self-signed. */
  readonly issuer?: Issued
  readonly from?: Date
  readonly to?: Date
}

const DAY_MS = 86_400_000

/** Encoded object identifiers. */
const ECDSA_WITH_SHA256 = '06082a8648ce3d040302'
const COMMON_NAME = '0603550403'
const SUBJECT_ALT_NAME = '0603551d11'
const BASIC_CONSTRAINTS = '0603551d13'

/** Generates a key pair and a certificate for it. */
export function issue(wanted: Wanted): Issued {
  const { name, hosts, from = daysFromNow(-1), to = daysFromNow(1) } = wanted
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { issuer = { name, privateKey } } = wanted
  const algorithm = sequence(hex(ECDSA_WITH_SHA256))
  const content = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer.name),
    sequence(time(from), time(to)),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(hosts === undefined ? authorityConstraint() : subjectAltName(hosts))),
  )
  const signature = sign('sha256', content, issuer.privateKey)
  const certificate = sequence(content, algorithm, der(0x03, Buffer.of(0), signature))
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { cert: pemOf(certificate), key, name, privateKey }
}

/** Writes a certificate and its key to files, and returns the settings that name them. */
export function writeFiles(folder: string, { cert, key }: Pick<Issued, 'cert' | 'key'>) {
  const [tlsCertificate, tlsKey] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  writeFileSync(tlsCertificate, cert)
  writeFileSync(tlsKey, key, { mode: 0o600 })
  return { tlsCertificate, tlsKey }
}

export function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * DAY_MS)
}

function authorityConstraint(): Buffer {
  const yes = der(0x01, Buffer.of(0xff))
  return sequence(hex(BASIC_CONSTRAINTS), yes, der(0x04, sequence(yes)))
}

function subjectAltName(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, host),
  )
  return sequence(hex(SUBJECT_ALT_NAME), der(0x04, sequence(...names)))
}

function distinguishedName(name: string): Buffer {
  return sequence(der(0x31, sequence(hex(COMMON_NAME), der(0x0c, name))))
}

/** A GeneralizedTime in whole seconds. */
function time(date: Date): Buffer {
  return der(0x18, `${date.toISOString().replace(/\D/g, '').slice(0, 14)}Z`)
}

function integer(value: Buffer): Buffer {
  return der(0x02, value)
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts)
}

/** A value with its tag and length (X.690 §8.1). */
function der(tag: number, ...parts: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const { length } = content
  const long = length > 0xff ? [0x82, length >> 8, length & 0xff] : [0x81, length]
  return Buffer.concat([Buffer.of(tag, ...(length < 0x80 ? [length] : long)), content])
}

function hex(digits: string): Buffer {
  return Buffer.from(digits, 'hex')
}

function pemOf(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
