import { Webhook as Verifier } from 'standardwebhooks'
import t from 'tap'
import { currentSecrets, newSecret, sign } from '../../src/webhooks/message.ts'

const body = '{"id":9223372036854775807,"name":"Weißtanne \u{1f332}"}'

function headersOf(signature: string, content: { id: string; timestamp: number }) {
  return {
    'webhook-id': content.id,
    'webhook-timestamp': String(content.timestamp),
    'webhook-signature': signature,
  }
}

t.test('the reference implementation accepts a signature by any of the secrets', async (t) => {
  const content = { id: 'msg_1', timestamp: Math.floor(Date.now() / 1000), body }
  const secrets = [newSecret(), newSecret()]
  for (const signing of [secrets.slice(0, 1), secrets]) {
    const headers = headersOf(sign(content, signing), content)
    for (const secret of signing) t.ok(new Verifier(secret).verify(body, headers))
    t.throws(() => new Verifier(newSecret()).verify(body, headers))
    t.throws(() => new Verifier(secrets[0] ?? '').verify(`${body} `, headers))
    t.throws(() =>
      new Verifier(secrets[0] ?? '').verify(body, { ...headers, 'webhook-id': 'msg_2' }),
    )
  }
})

t.test('a signature is that of the specification', async (t) => {
  // The example of its reference implementations.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
  t.equal(
    sign({ id, timestamp: 1614265330, body: '{"test": 2432232314}' }, [secret]),
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})

t.test('secrets are random and have 256 bits', async (t) => {
  const secrets = [newSecret(), newSecret()]
  t.not(...(secrets as [string, string]))
  for (const secret of secrets) t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
})

t.test('the old secret signs for some time after a rotation', async (t) => {
  const webhook = { secret: 'new' }
  t.same(currentSecrets(webhook, 0), ['new'])
  const rotated = { ...webhook, previousSecret: 'old', previousUntil: new Date(1000) }
  t.same(currentSecrets(rotated, 999), ['new', 'old'])
  t.same(currentSecrets(rotated, 1000), ['new'])
})
