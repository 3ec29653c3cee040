// First, so that the style sheets of components can refine it.
import './main.css'
import { render } from 'preact'
import { type PageSettings, SETTINGS_NAME } from '../src/http/page/page-settings.ts'
import { SignIn } from './access/sign-in.ts'
import { App } from './app.tsx'

const element = document.querySelector<HTMLMetaElement>(`meta[name="${SETTINGS_NAME}"]`)
const { docs, signIn }: PageSettings = JSON.parse(String(element?.content))

render(<App docs={docs} signIn={signIn && new SignIn(signIn)} />, document.body)
