/** Ends a mirror command until the operator does something. The message says what, in one line. */
export class MirrorError extends Error {}

/** The source does not respond, or only with a temporary failure. */
export class SourceUnavailable extends Error {}
