import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from '../../../contract/operation-types.ts'
import type { Grant } from '../../../contract/scopes.ts'

/** The client of a request in flight. */
export class WaitingClient implements Client {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.#request = request
    this.#reply = reply
  }

  get grant(): Grant {
    return this.#request.grant as Grant
  }

  /** A new one on each access, because few requests need it. */
  get signal(): AbortSignal {
    const controller = new AbortController()
    const abort = () => controller.abort()
    const { socket } = this.#request.raw
    const { raw: response } = this.#reply
    if (!socket.readable) abort()
    response.once('close', abort)
    socket.once('end', abort)
    response.once('close', () => socket.off('end', abort))
    return controller.signal
  }
}
