/** Small requests about plants with long names. */
import { randomBytes } from 'node:crypto'
import { type Attack, type Attacker, createOf, endOf, head } from './attacker.ts'

const NAME = 'x'.repeat(1_000_000)

/** The most changes of a list. */
const LIST_MAX = 1000

const counts: Attack = {
  name: 'counts of plants with long names',
  run: async (attacker) => {
    const { first } = await createLarge(attacker)
    const queries = ['untagged=true&count=true', 'tag=x&count=true', `q=y&untagged=true`]
    const requests = queries.map((query) => head(`GET /plants?${query}&after=${first - 1}`))
    await repeatOn(attacker, 20, (index) => requests[index % requests.length] as string)
  },
}

const lists: Attack = {
  name: 'lists of small changes of large plants',
  run: async (attacker) => {
    const { first, number } = await createLarge(attacker)
    const of = (length: number, change: (id: number) => object) =>
      JSON.stringify(Array.from({ length }, (_, index) => change(first + index)))
    let version = 0
    const update = (id: number) => ({ id, op: 'update', tag: `t${version}` })
    const bodies = [
      () => of(number, update),
      () => of(Math.min(4, number), update),
      () => of(Math.min(32, number), (id) => ({ id, op: 'update', name: 'x', ifMatch: '"x"' })),
      () => of(number, (id) => ({ id, op: 'remove', ifMatch: '"x"' })),
      () => of(number, (id) => ({ id, op: 'create', name: 'x' })),
    ]
    await repeatOn(attacker, 20, (index) => {
      version++
      const body = (bodies[index % bodies.length] as () => string)()
      return requestOf('PATCH /plants', body)
    })
  },
}

const singles: Attack = {
  name: 'small changes of large plants',
  run: async (attacker) => {
    const { first, number } = await createLarge(attacker)
    let version = 0
    await repeatOn(attacker, 200, (index) => {
      version++
      const id = first + (index % number)
      return index % 4 === 0
        ? createOf(`{"id":${id},"name":"x"}`)
        : requestOf(`PATCH /plants/${id}`, `{"tag":"t${version}"}`)
    })
  },
}

/** Creates plants with consecutive ids. */
async function createLarge(attacker: Attacker) {
  const number = Math.min(attacker.scaled(LIST_MAX), LIST_MAX)
  const first = randomBytes(4).readUInt32BE()
  let created = 0
  await attacker.onConnections(4, async (socket) => {
    while (created < number && !socket.destroyed) {
      const id = first + created++
      await attacker.exchange(socket, createOf(`{"id":${id},"name":"${NAME}","tag":"x"}`))
    }
  })
  return { first, number }
}

/** Sends requests on connections, one after the other on each, while the attack lasts. */
async function repeatOn(
  attacker: Attacker,
  connections: number,
  requestOf: (index: number) => string,
): Promise<void> {
  const end = endOf(attacker)
  const clients: Promise<void>[] = []
  await attacker.onConnections(attacker.scaled(connections), (socket, index) => {
    const repeat = async () => {
      while (performance.now() < end && (await attacker.exchange(socket, requestOf(index))));
    }
    clients.push(repeat())
  })
  await Promise.all(clients)
}

function requestOf(line: string, body: string): string {
  const headers = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
  return head(line, headers) + body
}

export const largePlantAttacks = [counts, lists, singles]
