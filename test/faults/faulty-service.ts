import type { Test } from 'tap'
import { loadContract } from '../../core/contract/contract.ts'
import type { OperationId } from '../../core/contract/operation-types.ts'
import type { Fault, RecordedRequest } from '../../src/faults/fault.ts'
import { FaultInjection } from '../../src/faults/fault-injection.ts'
import type { RecorderLimits } from '../../src/faults/request-recorder.ts'
import {
  type Call,
  type Service,
  type StartOptions,
  startService,
} from '../helpers/service/service.ts'

export const name = 'Abies alba Mill.'
export const create: Call = { body: { id: 4n, name } }
export const list: Call = { method: 'GET' }
export const get: Call = { method: 'GET', path: '/plants/4' }
export const follow: Call = { method: 'GET', path: '/changes' }

/** A valid request for each operation. */
export const CALLS: Readonly<Record<OperationId, Call>> = {
  createPlant: create,
  createPlants: { path: '/plants/batch', body: [{ id: 4n, name }] },
  changePlants: { method: 'PATCH', body: [{ op: 'remove', id: 4n }] },
  listPlants: list,
  getPlant: get,
  replacePlant: { method: 'PUT', path: '/plants/4', body: { name } },
  updatePlant: { method: 'PATCH', path: '/plants/4', body: { name } },
  deletePlant: { method: 'DELETE', path: '/plants/4' },
  listTags: { method: 'GET', path: '/tags' },
  getToken: { method: 'GET', path: '/token' },
  listChanges: follow,
}

export interface FaultyService {
  readonly service: Service
  readonly injection: FaultInjection
}

/** Starts a service with faults that stops when the test ends. */
export async function startFaulty(
  t: Test,
  faults: readonly Fault[] = [],
  { limits, ...options }: StartOptions & { readonly limits?: RecorderLimits } = {},
): Promise<FaultyService> {
  const injection = new FaultInjection(loadContract(), limits)
  injection.setFaults(faults)
  return { injection, service: await startService(t, { ...options, faults: injection }) }
}

/** The request as sent, on a connection that is kept alive. */
export function toRequest(
  { method = 'POST', path = '/plants', body, headers = {} }: Call,
  token: string,
): string {
  const json = body === undefined ? '' : stringify(body)
  return [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    ...Object.entries(headers).map(([header, value]) => `${header}: ${value}`),
    ...(json === '' ? [] : ['Content-Type: application/json', `Content-Length: ${json.length}`]),
    '',
    json,
  ].join('\r\n')
}

function stringify(body: unknown): string {
  return JSON.stringify(body, (_name, value) => (typeof value === 'bigint' ? Number(value) : value))
}

/** The part of a record that does not depend on the time. */
export function withoutTime({ at: _, ...record }: RecordedRequest) {
  return record
}
