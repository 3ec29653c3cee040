declare module 'pgpass' {
  /** Passes the password for a connection in the user's password file, or undefined if there is none. */
  export default function pgpass(
    connection: import('pg').ClientConfig,
    pass: (password: string | undefined) => void,
  ): void
}
