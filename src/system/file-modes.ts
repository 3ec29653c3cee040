/** Mode of every new file that contains plants or tokens, regardless of the umask: owner only. */
export const PRIVATE_MODE = 0o600

/** Mode of a folder that only its owner can use. */
export const PRIVATE_FOLDER_MODE = 0o700

/** The permission bits of a mode. */
export const PERMISSIONS = 0o777

/** Permission bits of everyone but the owner: the group and all other users. */
export const NON_OWNER = { read: 0o044, write: 0o022 } as const

/** Permission bit of a file that every user can read. */
export const READABLE_BY_ALL = 0o004
