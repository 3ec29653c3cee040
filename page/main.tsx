// First, so that the style sheets of components can refine it.
import './main.css'
import { render } from 'preact'
import { type PageSettings, SETTINGS_NAME } from '../src/http/page/page-settings.ts'
import { SignIn } from './access/sign-in.ts'
import { App } from './app.tsx'
import { setOwnMembers } from './model/members.ts'

const element = document.querySelector<HTMLMetaElement>(`meta[name="${SETTINGS_NAME}"]`)
const { docs, signIn, fields }: PageSettings = JSON.parse(String(element?.content))

setOwnMembers(fields)
render(<App docs={docs} signIn={signIn && new SignIn(signIn)} />, document.body)
