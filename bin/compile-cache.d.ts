export function useCompileCache(): void
export function compileCacheFolder(): string | undefined
