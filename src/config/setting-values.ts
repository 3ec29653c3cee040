/**
 * Readers for the values of settings. Each accepts a string as written on the command line, or the value it stands for,
 * which an embedding program can pass instead. Each throws InvalidValue for anything else.
 */
import { isIP } from 'node:net'
import ms, { type StringValue } from 'ms'
import { propertiesOf } from '../../core/known.ts'
import type { NewPlant } from '../../service/store/plant-store.ts'
import { isLoopback } from '../system/loopback.ts'

/** Which requests are logged; `changes` are those that can modify data. */
const requestLogs = ['off', 'changes', 'all'] as const
export type RequestLogs = (typeof requestLogs)[number]

/** A number of requests allowed per window. */
export interface Rate {
  readonly requests: number
  /** In milliseconds. */
  readonly window: number
}

export type Limit = Rate | 'off'

/** Thrown for an invalid value of a setting. */
export class InvalidValue extends Error {
  /** Such as `an integer from 0 to 65535`. */
  readonly expected: string

  constructor(expected: string) {
    super(`expected ${expected}`)
    this.expected = expected
  }
}

/** Replaces an InvalidValue that a reader throws; passes on every other error. */
export function replaceInvalid<Value>(
  read: () => Value,
  replace: (error: InvalidValue) => Error,
): Value {
  try {
    return read()
  } catch (error) {
    throw error instanceof InvalidValue ? replace(error) : error
  }
}

export function nonEmptyString(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw new InvalidValue('a non-empty string')
}

/** The name of a file, or plants, which `prepareSeed` validates. */
export function seed(value: unknown): string | readonly NewPlant[] {
  return Array.isArray(value) ? value : nonEmptyString(value)
}

/** The name of a file, or faults, which `loadFaults` validates. */
export function faults(value: unknown): string | readonly object[] {
  return Array.isArray(value) ? value : nonEmptyString(value)
}

/** An integer from `min` to `max`, in decimal notation. */
export function integer(min: number, max: number, expected = `an integer from ${min} to ${max}`) {
  return (value: unknown): number => {
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
    if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) {
      return number
    }
    throw new InvalidValue(expected)
  }
}

/** More would only take memory: each serves several thousand requests per second. */
const THREADS_MAX = 256

const readThreadCount = integer(1, THREADS_MAX, `auto or an integer from 1 to ${THREADS_MAX}`)

/** A number of threads, or `auto`. */
export function threads(value: unknown): number | 'auto' {
  return value === 'auto' ? value : readThreadCount(value)
}

/** A duration such as `90s`, or a number of milliseconds. Returns whole milliseconds, from `min` to `max`. */
export function duration(max: string, min = '1ms') {
  return (value: unknown): number => {
    const milliseconds = Math.round(typeof value === 'number' ? value : parseDuration(value))
    const isInRange = milliseconds >= parseDuration(min) && milliseconds <= parseDuration(max)
    if (isInRange) return milliseconds
    throw new InvalidValue(`a duration from ${min} to ${max}, in ms, s, m, h or d`)
  }
}

function parseDuration(value: unknown): number {
  return isDuration(value) ? ms(value) : Number.NaN
}

function isDuration(value: unknown): value is StringValue {
  return typeof value === 'string' && /^\d{1,15}(\.\d{1,15})?(ms|s|m|h|d)$/.test(value)
}

export function oneOf<Value extends string>(values: readonly Value[]) {
  return (value: unknown): Value => {
    const found = values.find((each) => each === value)
    if (found !== undefined) return found
    throw new InvalidValue(`one of ${values.join(', ')}`)
  }
}

const readOnOff = oneOf(['on', 'off'])

/** Accepts `on`, `off` and booleans. */
export function onOff(value: unknown): boolean {
  return typeof value === 'boolean' ? value : readOnOff(value) === 'on'
}

const readRequestLogs = oneOf(requestLogs)

/** Accepts `requestLogs`, and `on` for `all`. */
export function logRequests(value: unknown): RequestLogs {
  return value === 'on' ? 'all' : readRequestLogs(value)
}

/** An address and a port to listen on. */
export interface ListenAddress {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
}

const ENDPOINT = 'an integer from 0 to 65535, or an address such as 0.0.0.0:3001 or [::]:3001'

const readPort = integer(0, 65_535, ENDPOINT)

/** A port of 127.0.0.1, or an address with a port such as `0.0.0.0:3001` or `[::]:3001`. */
export function endpoint(value: unknown): ListenAddress {
  const [, ipv6, ipv4, port = value] =
    /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(asText(value)) ?? []
  const host = ipv6 ?? ipv4 ?? '127.0.0.1'
  if (isIP(host) !== (ipv6 === undefined ? 4 : 6)) throw new InvalidValue(ENDPOINT)
  return { host, port: readPort(port) }
}

/** A rate such as `100/s`, or `off` for no limit. */
export function rate(value: unknown): Limit {
  if (value === 'off' || isRate(value)) return value
  const [, requests, unit] = /^(\d{1,9})\/([smh])$/.exec(asText(value)) ?? []
  const rate = { requests: Number(requests), window: parseDuration(`1${unit}`) }
  if (isRate(rate)) return rate
  throw new InvalidValue('a rate such as 100/s, 1000/m or 5000/h, or off')
}

function isRate(value: unknown): value is Rate {
  const { requests, window } = propertiesOf(value)
  return [requests, window].every((number) => Number.isSafeInteger(number) && Number(number) > 0)
}

/** Returns an empty string for anything but a string. `String` throws for some objects. */
function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Addresses and networks, separated by commas. */
export function networks(value: unknown): string {
  const list = asText(value)
  if (list.split(',').every(isNetwork)) return list
  throw new InvalidValue('addresses or networks such as 10.0.0.0/8,::1, separated by commas')
}

/** The origins that CORS allows; `*` for all. */
export type Origins = '*' | readonly string[]

/** Origins, separated by commas or in an array, or `*`. */
export function origins(value: unknown): Origins {
  if (value === '*') return value
  const list = Array.isArray(value) ? value : asText(value).split(',')
  return list.map(readOrigin)
}

/** Browsers send an origin in one spelling only, so any other one would never match. */
function readOrigin(value: unknown): string {
  const { protocol = '', host = '' } = URL.parse(asText(value)) ?? {}
  if (host === '' || host.includes('*')) {
    throw new InvalidValue(
      'origins such as https://app.example or http://localhost:5173, separated by commas, or * for all',
    )
  }
  const origin = `${protocol}//${host}`
  if (value !== origin) throw new InvalidValue(`the origin ${origin} instead of ${value}`)
  return origin
}

/** The URL of an OpenID Connect issuer, which its tokens must repeat in the same spelling. */
export function issuer(value: unknown): string {
  const { protocol, hostname } = baseUrl(value) ?? {}
  if (protocol === 'https:') return String(value)
  if (protocol === 'http:' && isLoopback(String(hostname).replace(/^\[|\]$/g, ''))) {
    return String(value)
  }
  throw new InvalidValue(
    'a URL such as https://id.example/realms/plants, without query or fragment; http only for this machine',
  )
}

/** An HTTP URL, which is returned without a slash at its end. */
export function publicUrl(value: unknown): string {
  const url = baseUrl(value)
  if (url !== undefined) return url.href.replace(/\/$/, '')
  throw new InvalidValue(
    'a URL such as https://plants.example or https://example.com/plants, without query or fragment',
  )
}

/** An HTTP URL without credentials, query or fragment. */
function baseUrl(value: unknown): URL | undefined {
  const url = /^https?:\/\/\S+$/.test(asText(value)) ? URL.parse(asText(value)) : null
  return url !== null && url.href === url.origin + url.pathname ? url : undefined
}

/** An OAuth 2.0 scope (RFC 6749 §3.3). */
export function scope(value: unknown): string {
  if (/^[!#-[\]-~]+$/.test(asText(value))) return String(value)
  throw new InvalidValue('a scope such as plants:read')
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0) return false
  if (prefix === undefined) return true
  const bits = version === 4 ? 32 : 128
  return rest.length === 0 && /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits
}
