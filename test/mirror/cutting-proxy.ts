/** A TCP proxy in front of a service or a receiver that cuts connections, or silently stops forwarding. */
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Owner } from '../helpers/processes/command.ts'

export class CuttingProxy {
  url = ''
  readonly #urls: () => readonly string[]
  readonly #sockets = new Set<Socket>()
  readonly #events = new EventEmitter<{ chunk: []; cut: []; refusal: [] }>()
  #connections = 0
  #isCutting = false
  #isSilent = false
  #refusals = 0

  private constructor(urls: () => readonly string[]) {
    this.#urls = urls
  }

  /** @param urls of the service, which can change and does not need to be running. Connections go to them by turns */
  static async start(t: Owner, urls: () => readonly string[]): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(urls)
    const server = createServer((client) => proxy.#connect(client)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    t.teardown(() => {
      server.close()
      proxy.#destroyAll()
    })
    return proxy
  }

  /** Resolves once the service has sent more data this many times. */
  async chunks(count: number): Promise<void> {
    for (let left = count; left > 0; left--) await once(this.#events, 'chunk')
  }

  /** Cuts all connections in the middle of an answer. Resolves once that many others were refused. */
  async cut(refusals: number): Promise<void> {
    this.#isCutting = true
    await once(this.#events, 'cut')
    this.#refusals = refusals
    while (this.#refusals > 0) await once(this.#events, 'refusal')
  }

  /** Stops forwarding, without closing anything. */
  silence(which: 'existing' | 'all'): void {
    for (const socket of this.#sockets) socket.unpipe().removeAllListeners('data').pause()
    this.#isSilent = which === 'all'
  }

  #connect(client: Socket): void {
    if (this.#isSilent) {
      this.#sockets.add(client)
      client.on('error', () => {})
      return
    }
    if (this.#refusals > 0) {
      this.#refusals -= 1
      client.destroy()
      this.#events.emit('refusal')
      return
    }
    const urls = this.#urls()
    const { hostname, port } = new URL(urls[this.#connections++ % urls.length] as string)
    const service = connect(Number(port), hostname)
    client.pipe(service)
    service.on('data', (chunk: Buffer) => {
      if (this.#isCutting) {
        this.#isCutting = false
        client.write(chunk.subarray(0, chunk.length / 2), () => this.#destroyAll())
        this.#events.emit('cut')
      } else {
        client.write(chunk)
        this.#events.emit('chunk')
      }
    })
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroySoon()
      })
    }
  }

  #destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}
