import type { LookupAddress } from 'node:dns'
import t, { type Test } from 'tap'
import { newSecret, SAMPLE, toMessage } from '../../src/webhooks/message.ts'
import { askNameServers, publicLookup, type Resolve } from '../../src/webhooks/public-addresses.ts'
import { Sender } from '../../src/webhooks/sender.ts'
import { startNameServer, type Zone } from './name-server.ts'

const ZONE: Zone = {
  'ipv4.example': { A: ['1.1.1.1', '8.8.8.8'] },
  'ipv6.example': { AAAA: ['26064700470000000000000000001111'] },
  'both.example': { A: ['1.1.1.1'], AAAA: ['26064700470000000000000000001111'] },
  'empty.example': {},
  'failing.example': 'failing',
  'private.example': { A: ['10.0.0.1'] },
  'mixed.example': { A: ['1.1.1.1', '127.0.0.1'] },
  'mapped.example': { A: ['1.1.1.1'], AAAA: ['00000000000000000000ffff7f000001'] },
}

let resolve: Resolve

t.before(async () => {
  const server = await startNameServer(t, ZONE)
  resolve = (hostname) => askNameServers(hostname, [server])
})

function lookUp(hostname: string, all: boolean): Promise<unknown[]> {
  return new Promise((done) => {
    publicLookup(resolve)(hostname, { all }, (...results) => done(results))
  })
}

const IPV4: LookupAddress = { address: '1.1.1.1', family: 4 }
const IPV6: LookupAddress = { address: '2606:4700:4700::1111', family: 6 }

for (const [hostname, addresses] of [
  ['ipv4.example', [IPV4, { address: '8.8.8.8', family: 4 }]],
  ['ipv6.example', [IPV6]],
  ['both.example', [IPV4, IPV6]],
] as const) {
  t.test(`${hostname} has its public addresses`, async (t) => {
    t.strictSame(await lookUp(hostname, true), [null, addresses])
    const [{ address, family }] = addresses
    t.strictSame(await lookUp(hostname, false), [null, address, family])
  })
}

for (const [hostname, message] of [
  ['private.example', /^private.example: 10.0.0.1 is not a public address/],
  ['mixed.example', /^mixed.example: 127.0.0.1 is not a public address/],
  ['mapped.example', /^mapped.example: ::ffff:127.0.0.1 is not a public address/],
  ['unknown.example', 'the host name unknown.example does not exist or has no address'],
  ['empty.example', 'the host name empty.example does not exist or has no address'],
  [
    'failing.example',
    'cannot resolve failing.example: the name servers of this machine failed (ESERVFAIL)',
  ],
] as const) {
  t.test(`${hostname} is refused`, async (t) => {
    for (const all of [true, false]) {
      const [error] = await lookUp(hostname, all)
      t.match(error, { message })
    }
  })
}

t.test('a name server that cannot be reached is reported with the host name', async (t) => {
  const refused = (hostname: string) => askNameServers(hostname, ['127.0.0.1:1'])
  const error = await new Promise((done) => publicLookup(refused)('receiver.example', {}, done))
  const message =
    'cannot resolve receiver.example: the name servers of this machine failed (ECONNREFUSED)'
  t.match(error, { message })
})

t.test('a name without addresses fails the request, and does not end the process', async (t) => {
  const sender = new Sender({ allowPrivate: false, resolve: async () => [] })
  t.teardown(() => sender.close())
  const message = toMessage('msg_1', SAMPLE, { secret: newSecret() }, Date.now())
  const { signal } = new AbortController()
  t.match(await sender.send('https://empty.example', message, signal), {
    result: 'failed',
    reason: 'the host name empty.example does not exist or has no address',
  })
})

t.test('by default, the name servers of the system are asked', async (t: Test) => {
  // The name is reserved, so that no name server knows it (RFC 6761).
  const error = await new Promise((done) => publicLookup()('name.invalid', {}, done))
  t.match(error, Error)
})
