import type { TextFormat } from './own-fields.ts'

/** How to check text of a format. */
export interface TextCheck {
  readonly isValid: (text: string) => boolean
  /** What the text must be, such as `must be a date such as 2026-11-25`. */
  readonly message: string
}

/** The formats that a string can have. Every check takes linear time. */
export const TEXT_FORMATS: Readonly<Record<TextFormat, TextCheck>> = {
  date: { isValid: isDate, message: 'must be a date such as 2026-11-25' },
  'date-time': {
    isValid: isDateTime,
    message: 'must be a date and time such as 2026-11-25T23:40:00Z',
  },
  uri: { isValid: isUri, message: 'must be a URI such as https://example.com/Abies%20alba' },
  email: { isValid: isEmail, message: 'must be an email address such as flora@example.com' },
}

const DATE = /^\d{4}-\d\d-\d\d$/

/** A `full-date` of RFC 3339 §5.6. */
function isDate(text: string): boolean {
  // An impossible day, such as February 30, becomes one of the next month, or invalid.
  return DATE.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true
}

/** Its groups are the date, the hour, the minute, the second, and the sign, hour and minute of the offset. */
const DATE_TIME =
  /^(.{10})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i

const MINUTES_PER_DAY = 24 * 60

/** A `date-time` of RFC 3339 §5.6. */
function isDateTime(text: string): boolean {
  const [, date = '', hour, minute, second, sign, offsetHour = 0, offsetMinute = 0] =
    DATE_TIME.exec(text) ?? []
  if (!isDate(date)) return false
  if (second !== '60') return true
  // Leap seconds are inserted at the end of a day in UTC (§5.7). When the next ones will be is unknown.
  const offset = Number(`${sign ?? '+'}1`) * (Number(offsetHour) * 60 + Number(offsetMinute))
  const minutes = Number(hour) * 60 + Number(minute) - offset
  return (minutes + MINUTES_PER_DAY) % MINUTES_PER_DAY === MINUTES_PER_DAY - 1
}

/** A character that RFC 3986 §2 does not allow, or an incomplete percent-encoding. */
const NOT_IN_URI = /[^\w.~!$&'()*+,;=:@/?#[\]%-]|%(?![\da-f]{2})/i

/** A scheme, an optional authority, a path, a query and a fragment. The group is an address in brackets. */
const URI =
  /^[a-z][a-z\d+.-]*:(?:\/\/(?:[^@/?#[\]]*@)?(?:\[([^@/?#[\]]+)\]|[^@:/?#[\]]*)(?::\d*)?(?:\/[^?#[\]]*)?|\/?[^/?#[\]][^?#[\]]*|\/)?(?:\?[^#[\]]*)?(?:#[^#[\]]*)?$/i

/** An `IPvFuture` of RFC 3986 §3.2.2. */
const FUTURE_ADDRESS = /^v[\da-f]+\.[^%]+$/i

/** A `URI` of RFC 3986 §3. */
function isUri(text: string): boolean {
  if (NOT_IN_URI.test(text)) return false
  const match = URI.exec(text)
  if (match === null) return false
  const [, address] = match
  return address === undefined || isIPv6(address) || FUTURE_ADDRESS.test(address)
}

/** An `IPv6address` of RFC 3986 §3.2.2. The grammar of the WHATWG URL Standard is the same. */
function isIPv6(address: string): boolean {
  return URL.canParse(`http://[${address}]`)
}

const LOCAL_PART = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}$/

/** A dot that is not between two atoms. */
const NOT_IN_LOCAL_PART = /^\.|\.$|\.\./

const DOMAIN = /^[a-z\d.-]{1,255}$/i

/** A label that is empty, begins or ends with a hyphen, or is longer than 63 characters. A group would need the stack. */
const NOT_IN_DOMAIN = /^[.-]|[.-]$|\.[.-]|-\.|[^.]{64}/

/**
 * A `Mailbox` of RFC 5321 §4.1.2, with the limits of §4.5.3.1, that is also valid in HTML
 * (https://html.spec.whatwg.org/#valid-e-mail-address), which excludes quoted local parts and address literals.
 */
function isEmail(text: string): boolean {
  const at = text.indexOf('@')
  const [local, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
  const isLocalPart = LOCAL_PART.test(local) && !NOT_IN_LOCAL_PART.test(local)
  return isLocalPart && DOMAIN.test(domain) && !NOT_IN_DOMAIN.test(domain)
}
