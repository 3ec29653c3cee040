/** Keeps ids exact in `JSON.parse`. */
export function reviver(name: string, value: unknown, context?: { source?: string }): unknown {
  return name === 'id' && context?.source ? BigInt(context.source) : value
}
