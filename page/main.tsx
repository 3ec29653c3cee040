// First, so that the style sheets of components can refine it.
import './main.css'
import { render } from 'preact'
import { App } from './app.tsx'

render(<App />, document.body)
