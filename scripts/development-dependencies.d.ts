export function hasDevelopmentDependencies(): boolean
