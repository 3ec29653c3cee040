/** What a record holds may be shown with the reason to refuse it, and must not give orders to the terminal. */
export function printable(reason: string): string {
  return reason.replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1))
}
