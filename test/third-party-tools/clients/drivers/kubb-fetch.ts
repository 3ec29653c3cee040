/** The function that kubb's functions call: see `importPath`. */
import { parseJson, toJson } from 'plant-store-client'
import { send } from './scenario.ts'

export interface RequestConfig<Body = unknown> {
  readonly method: string
  readonly url: string
  readonly params?: unknown
  readonly data?: Body
  readonly headers?: object
}

export type ResponseErrorConfig<Failure> = Failure

export type Client = typeof request

export default async function request<Data, _Failure, Body>(config: RequestConfig<Body>) {
  const codec = { parse: parseJson, stringify: toJson }
  return { data: (await send(codec, config.method, config.url, config.data)) as Data }
}
