export interface BoundedInit extends RequestInit {
  /** The maximum size of the body. */
  readonly bytesMax: number
  /** The error for a larger body. `fault` is such as `more than 1000 bytes`. */
  readonly refuse: (fault: string) => Error
  /** Receives the response before its body is read. What it throws ends the fetch. */
  readonly onHead: (response: Response) => void
  /** Receives each chunk of the body. What it throws ends the fetch. */
  readonly onChunk?: (chunk: Uint8Array) => void
}

/**
 * Fetches a response and its body, which is empty if there is none.
 *
 * @throws what `fetch` throws, including the abort reason of the signal; the error of `refuse`; what the callbacks throw
 */
export async function fetchBounded(
  request: Request | string,
  { bytesMax, refuse, onHead, onChunk, ...init }: BoundedInit,
): Promise<{ readonly response: Response; readonly body: Buffer }> {
  const response = await fetch(request, init)
  try {
    onHead(response)
  } catch (error) {
    // Otherwise, the connection would stay open.
    await response.body?.cancel()
    throw error
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) throw refuse(`more than ${bytesMax} bytes`)
    onChunk?.(chunk)
    chunks.push(chunk)
  }
  return { response, body: Buffer.concat(chunks) }
}
