/** Requests from web apps on other origins, and the responses to them. */
import type { Answer } from '../service/contract-check.ts'

/** An allowed origin, in tests that start a service for it. */
export const APP = 'https://app.example'

export const STRANGER = 'https://stranger.example'

/** The headers of a browser's preflight for a create. */
export const PREFLIGHT = {
  origin: APP,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type',
}

/** The headers of a response that CORS defines. */
export function corsHeaders({ headers }: Answer) {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith('access-control-')),
  )
}

/** The members of a header that is a list, in lower case. */
export function members(value = ''): string[] {
  return value.toLowerCase().split(', ')
}

export function formatHeaders(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}
