/** Mode of every new file that contains plants or tokens, regardless of the umask: owner only. */
export const PRIVATE_MODE = 0o600
