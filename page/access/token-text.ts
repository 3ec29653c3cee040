/** The token in what a person has pasted: with the scheme or in quotes, as in commands, or with what no header can contain. */
export function readToken(text: string): string {
  return text
    .replace(/[^\x20-\x7e]/g, '')
    .replace(/^(?:["'`\s]|Authorization:|Bearer(?=\s))+/i, '')
    .replace(/["'`\s]+/g, '')
}

/** Whether a token that was rejected may be where the token is: the service prints the path of its file. */
export function isPath(token: string): boolean {
  return /[/\\]|^access-token/.test(token)
}

/** Identifies a subject of an issuer. An issuer never gives one to somebody else (OpenID Connect Core 1.0 §2). */
export function subjectId({ iss, sub }: { readonly iss: string; readonly sub: string }): string {
  return JSON.stringify([iss, sub])
}

/** The same for a JWT (RFC 7519 §4.1). Undefined for another token. */
export function subjectOf(token: string): string | undefined {
  const [, payload = ''] = token.split('.')
  try {
    return subjectId(JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))))
  } catch {
    return undefined
  }
}
