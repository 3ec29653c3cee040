import t from 'tap'
import { localUrl } from '../src/start.ts'

for (const [address, url] of [
  ['127.0.0.1', 'http://127.0.0.1:3000'],
  ['0.0.0.0', 'http://127.0.0.1:3000'],
  ['10.0.0.0', 'http://10.0.0.0:3000'],
  ['::', 'http://[::1]:3000'],
  ['::1', 'http://[::1]:3000'],
  ['2001:db8::', 'http://[2001:db8::]:3000'],
] as const) {
  t.test(`a service that listens on ${address} is found at ${url}`, async (t) => {
    t.equal(localUrl({ address, port: 3000 }), url)
  })
}
