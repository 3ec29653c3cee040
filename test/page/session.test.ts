/** The page's token: what the service says about it, and where the browser keeps it. */

import t from 'tap'
import {
  canResume,
  forgetSession,
  openSession,
  resumeSession,
  storeToken,
} from '../../page/access/session.ts'
import type { Person } from '../../page/access/sign-in.ts'
import { isRejected, isTransient } from '../../page/errors/error-text.ts'
import { SignInError } from '../../page/errors/sign-in-error.ts'
import { TokenStore } from '../../service/token-store.ts'
import { AccessTokens } from '../../src/auth/access-tokens.ts'
import { thrownBy } from '../client/faulty-proxy.ts'
import { startIssuer } from '../helpers/network/issuer.ts'
import { makeMirror } from '../helpers/service/mirrors.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import { blockStorage, openTab } from './tab.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

t.test('a token is kept for the tab, or in the browser, until it is forgotten', async (t) => {
  for (const lasting of [false, true]) {
    const tab = openTab(t)
    tab.open(`${service.url}/`)
    t.equal(canResume(), false)
    t.equal(await resumeSession(undefined), undefined)
    storeToken(service.token, lasting)
    t.equal(tab.sessionStorage.size, lasting ? 0 : 1)
    t.equal(tab.localStorage.size, lasting ? 1 : 0)
    t.equal(canResume(), true)
    t.match(await resumeSession(undefined), { name: 'test' })
    forgetSession()
    t.equal(canResume(), false)
  }
})

t.test('without storage, a token is not kept', async (t) => {
  openTab(t)
  blockStorage(t)
  storeToken('plant_x', false)
  t.equal(canResume(), false)
  forgetSession()
})

t.test('a session knows what its token permits', async (t) => {
  openTab(t).open(`${service.url}/?from=bookmark`)
  const reader = await service.issueToken('reader', ['read'], 60_000)
  t.match(await openSession(reader), {
    canRead: true,
    canWrite: false,
    name: 'reader',
    expiresAt: /^20/,
    person: undefined,
  })
  const writer = await service.issueToken('writer', ['write'])
  t.match(await openSession(writer), { canRead: false, canWrite: true })
  await t.rejects(openSession('wrong'), { name: 'ServiceError' })
})

t.test('what a tab keeps has the same owner after a token is replaced', async (t) => {
  const issuer = await startIssuer(t)
  const service = await startService(t, { config: issuer.config })
  openTab(t).open(`${service.url}/`)
  const ownerOf = async (access: string | Person) => (await openSession(access)).ownerId
  const ada = await ownerOf(await service.issueToken('ada', ['read']))
  await new AccessTokens(new TokenStore(service.store)).revoke('ada')
  t.equal(await ownerOf(await service.issueToken('ada', ['write'])), ada)
  t.not(await ownerOf(service.token), ada)

  const name = 'ada'
  const subject = await ownerOf(await issuer.sign({ sub: '1', name }))
  t.equal(await ownerOf(await issuer.sign({ sub: '1' })), subject)
  const person = {
    id: subject,
    name,
    accessToken: () => issuer.sign(),
    signOutUrl: () => undefined,
  }
  t.equal(await ownerOf(person), subject)
  const others = [ada, await ownerOf(await issuer.sign({ sub: '2', name }))]
  t.notOk(others.includes(subject), 'names of people are not unique')
})

t.test('while nobody can change plants, a session cannot either, and knows why', async (t) => {
  const service = await startService(t)
  await makeMirror(service.store)
  openTab(t).open(`${service.url}/`)
  t.match(await openSession(service.token), {
    canRead: true,
    canWrite: false,
    readOnlyReason: /^this service is a read-only mirror/,
  })
})

t.test('a session notices that its token is no longer accepted', async (t) => {
  openTab(t).open(`${service.url}/`)
  const token = await service.issueToken('revoked', ['read'])
  const { client, feedClient, rejected } = await openSession(token)
  await client.listPlants()
  t.equal(rejected.aborted, false)
  await new AccessTokens(new TokenStore(service.store)).revoke('revoked')
  t.ok(isRejected(await thrownBy(feedClient.listChanges())))
  t.equal(rejected.aborted, true)
})

t.test('a session notices that the issuer has ended it', async (t) => {
  openTab(t).open(`${service.url}/`)
  const outcomes = [
    async () => service.token,
    () => Promise.reject(new SignInError('unavailable', 'The issuer is unavailable.')),
    () => Promise.reject(new SignInError('ended', 'Your session has ended.')),
  ]
  const person: Person = {
    id: 'ada',
    name: 'Ada',
    accessToken: () => (outcomes.shift() ?? t.fail)() as Promise<string>,
    signOutUrl: () => undefined,
  }
  const { feedClient, rejected } = await openSession(person)
  await t.rejects(feedClient.listPlants(), { message: 'The issuer is unavailable.' })
  t.equal(rejected.aborted, false)
  await t.rejects(feedClient.listPlants(), { message: 'Your session has ended.' })
  t.equal(rejected.aborted, true)
})

t.test('a session continues while the service cannot read a new key of the issuer', async (t) => {
  const issuer = await startIssuer(t)
  const config = issuer.config
  const service = await startService(t, { config, issuer: { cooldownMs: 3000 } })
  openTab(t).open(`${service.url}/`)
  const person = {
    id: 'ada',
    name: 'Ada',
    accessToken: () => issuer.sign(),
    signOutUrl: () => undefined,
  }
  const { client, feedClient, rejected } = await openSession(person)
  await issuer.rotate()
  const error = await thrownBy(feedClient.listPlants())
  t.match(error, { status: 503, condition: 'issuer-unavailable' })
  t.equal(isTransient(error), true)
  t.same((await client.listPlants()).plants, [])
  t.equal(rejected.aborted, false)
})
