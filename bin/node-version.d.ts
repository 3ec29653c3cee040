export function unsupportedNode(version?: string): string | undefined
export function assertSupportedNode(version?: string): void
