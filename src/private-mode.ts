/** The mode of every new file with plants or tokens in it, whatever the umask: only its owner can use it. */
export const PRIVATE_MODE = 0o600
