/** A DNS server (RFC 1035) for tests. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Owner } from '../helpers/processes/command.ts'

const HEADER_BYTES = 12
const TYPES = { 1: 'A', 28: 'AAAA' } as const
const RESPONSE = 0x8180
const NAME_ERROR = 3
const SERVER_FAILURE = 2

export interface Records {
  readonly A?: readonly string[]
  /** Each as 32 hexadecimal digits. */
  readonly AAAA?: readonly string[]
}

/** Names without records do not exist. `failing` ones cause a server failure, and `silent` ones no response. */
export type Zone = Readonly<Record<string, Records | 'failing' | 'silent'>>

/** Starts a server, and returns its address with the port. */
export async function startNameServer(t: Owner, zone: Zone): Promise<string> {
  const socket = createSocket('udp4')
  t.teardown(() => {
    socket.close()
  })
  socket.on('message', (query, { port, address }) => {
    const response = answer(query, zone)
    if (response !== undefined) socket.send(response, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return `127.0.0.1:${socket.address().port}`
}

function answer(query: Buffer, zone: Zone): Buffer | undefined {
  const labels: string[] = []
  let end = HEADER_BYTES
  for (let length = query.readUInt8(end); length > 0; length = query.readUInt8(end)) {
    labels.push(query.toString('latin1', end + 1, end + 1 + length))
    end += 1 + length
  }
  const type = query.readUInt16BE(end + 1)
  const question = query.subarray(HEADER_BYTES, end + 5)
  const records = zone[labels.join('.')]
  if (records === 'silent') return undefined
  if (typeof records !== 'object') {
    const code = records === 'failing' ? SERVER_FAILURE : NAME_ERROR
    return Buffer.concat([header(query, RESPONSE | code, 0), question])
  }
  const found = records[TYPES[type as keyof typeof TYPES]] ?? []
  const answers = found.map((address) => resource(type, toBytes(address)))
  return Buffer.concat([header(query, RESPONSE, answers.length), question, ...answers])
}

function header(query: Buffer, flags: number, answers: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  query.copy(bytes, 0, 0, 2)
  bytes.writeUInt16BE(flags, 2)
  bytes.writeUInt16BE(1, 4)
  bytes.writeUInt16BE(answers, 6)
  return bytes
}

function resource(type: number, data: Buffer): Buffer {
  const bytes = Buffer.alloc(12)
  // The name of the question.
  bytes.writeUInt16BE(0xc000 | HEADER_BYTES, 0)
  bytes.writeUInt16BE(type, 2)
  bytes.writeUInt16BE(1, 4)
  bytes.writeUInt16BE(data.length, 10)
  return Buffer.concat([bytes, data])
}

function toBytes(address: string): Buffer {
  return address.includes('.')
    ? Buffer.from(address.split('.').map(Number))
    : Buffer.from(address, 'hex')
}
