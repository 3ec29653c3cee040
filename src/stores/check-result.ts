/** What a check has found out about one thing. */
export interface CheckResult extends Verdict {
  /** The thing, in a word. */
  readonly what: string
}

export interface Verdict {
  readonly sound: boolean
  /** Not a fault, but something the operator may want to change. */
  readonly warning?: true
  /** One line for whoever runs the service. */
  readonly says: string
}
