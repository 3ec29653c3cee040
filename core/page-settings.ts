import type { Member } from './members/members.ts'

/** How the page signs people in with an OpenID Connect issuer. */
export interface SignInSettings {
  readonly issuer: string
  readonly clientId: string
  readonly audience: string
  /** What the issuer calls the scopes of the service. */
  readonly scopes: readonly string[]
}

/** What the page needs to know about the service before its first request. */
export interface PageSettings {
  readonly docs: boolean
  /** Undefined if people cannot sign in. */
  readonly signIn?: SignInSettings | undefined
  /** The members of a plant that the operator has added, or has marked as sortable. */
  readonly fields: readonly Member[]
}

/** The name of the document's `meta` element that contains the settings. */
export const SETTINGS_NAME = 'plant-store'

/** Adds the settings to the page's document. */
export function addSettings(html: string, settings: PageSettings): string {
  const content = toAttribute(JSON.stringify(settings))
  const element = `<meta name="${SETTINGS_NAME}" content="${content}">\n`
  return html.replace('</head>', (end) => element + end)
}

/** Escapes the value of an attribute in double quotes (HTML 13.1.2.3). */
function toAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
}
