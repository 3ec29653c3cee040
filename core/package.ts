import { findPackageJSON } from 'node:module'
import { pathToFileURL } from 'node:url'

/** The URL of our package.json. Files are found relative to it, both in a checkout and in an installed package. */
export const PACKAGE = pathToFileURL(findPackageJSON(import.meta.url) as string)
