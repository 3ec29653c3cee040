import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Owner } from '../../tools/postgres/postgres-server.ts'

/** Forwards connections to another port until it is closed. It can be opened again. */
export class Relay {
  readonly #target: { readonly host: string; readonly port: number }
  readonly #listen: { readonly host: string; port: number }
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined

  /** @param host the address to listen at */
  constructor(owner: Owner, host: string, target: { host: string; port: number }) {
    this.#listen = { host, port: 0 }
    this.#target = target
    owner.teardown(() => this.close())
  }

  /** `host:port`, once it has been opened. */
  get address(): string {
    return `${this.#listen.host}:${this.#listen.port}`
  }

  async open(): Promise<void> {
    const server = createServer((socket) => this.#forward(socket))
    server.listen(this.#listen)
    await once(server, 'listening')
    this.#listen.port = (server.address() as { port: number }).port
    this.#server = server
  }

  /** Ends all connections, and refuses others. */
  close(): void {
    this.#server?.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #forward(socket: Socket): void {
    const other = connect(this.#target)
    for (const [one, next] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.#sockets.add(one)
      one.setNoDelay(true)
      one.pipe(next)
      one.on('error', () => next.destroy())
      one.on('close', () => {
        this.#sockets.delete(one)
        next.destroy()
      })
    }
  }
}
