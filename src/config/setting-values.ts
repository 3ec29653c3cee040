/**
 * What settings may be. Each reader takes a value as text, or as what the text means where a program gives
 * it, and throws InvalidArgumentError saying what it expected.
 */
import { isIP } from 'node:net'
import { InvalidArgumentError } from 'commander'
import ms, { type StringValue } from 'ms'

/** Which requests are logged: none, those that may modify data, or all. */
export const requestLogs = ['off', 'changes', 'all'] as const
export type RequestLogs = (typeof requestLogs)[number]

/** A number of requests allowed per window. */
export interface Rate {
  readonly requests: number
  /** In milliseconds. */
  readonly window: number
}

export type Limit = Rate | 'off'

/** Reads a value of a setting. */
export type Read = (value: unknown) => unknown

/** Some text, whatever it says. */
export function text(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : expected('some text')
}

/** Plants to begin with: the name of a file or, from a program, they themselves. */
export function seed(value: unknown): string | readonly unknown[] {
  return Array.isArray(value) ? value : text(value)
}

/** A whole number from `least` to `most`. */
export function number(least: number, most: number) {
  return (value: unknown): number => {
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
    const valid = Number.isInteger(number) && Number(number) >= least && Number(number) <= most
    return valid ? Number(number) : expected(`a whole number from ${least} to ${most}`)
  }
}

/** A time such as `90d`, or in milliseconds; as whole milliseconds, more than none and at most `most`. */
export function time(most: string) {
  return (value: unknown): number => {
    const milliseconds = Math.round(typeof value === 'number' ? value : millisecondsOf(value))
    if (milliseconds > 0 && milliseconds <= ms(most as StringValue)) return milliseconds
    return expected(`a time such as 500ms, 10s, 2m, 12h or 1d, and not more than ${most}`)
  }
}

function millisecondsOf(value: unknown): number {
  const valid = typeof value === 'string' && /^\d{1,15}(\.\d{1,15})?(ms|s|m|h|d)$/.test(value)
  return valid ? ms(value as StringValue) : 0
}

/** One of the values. */
export function oneOf(values: readonly string[]) {
  return (value: unknown): string =>
    values.find((each) => each === value) ?? expected(`one of ${values.join(', ')}`)
}

/** Whether something is wanted: `on` or `off`. */
export function onOff(value: unknown): boolean {
  return typeof value === 'boolean' ? value : oneOf(['on', 'off'])(value) === 'on'
}

/** Which requests to log; `on` means all of them. */
export function logRequests(value: unknown): string {
  return value === 'on' ? 'all' : oneOf(requestLogs)(value)
}

/** A rate such as `100/s`, or `off` for no limit. */
export function rate(value: unknown): Limit {
  if (value === 'off' || isRate(value)) return value
  const [, requests, unit] = /^(\d{1,9})\/([smh])$/.exec(String(value)) ?? []
  const rate = { requests: Number(requests), window: ms(`1${unit}` as StringValue) }
  return isRate(rate) ? rate : expected('a rate such as 100/s, 1000/m or 5000/h, or off')
}

function isRate(value: unknown): value is Rate {
  const { requests, window } = Object(value) as Rate
  return [requests, window].every((number) => Number.isSafeInteger(number) && number > 0)
}

/** Addresses and networks, separated by commas. */
export function networks(value: unknown): string {
  const list = String(value)
  return list.split(',').every(isNetwork)
    ? list
    : expected('addresses or networks such as 10.0.0.0/8,::1, separated by commas')
}

function isNetwork(text: string): boolean {
  const [address, prefix, ...rest] = text.split('/') as [string, string?]
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] as number
  if (prefix === undefined) return bits > 0
  return rest.length === 0 && /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits
}

function expected(what: string): never {
  throw new InvalidArgumentError(`Expected ${what}.`)
}
