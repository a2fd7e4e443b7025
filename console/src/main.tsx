// Starts the console in its page.
import { render } from 'preact';
import './style/main.css';
import { App } from './app.tsx';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no element for the console');
render(<App />, root);
