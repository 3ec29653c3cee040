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
