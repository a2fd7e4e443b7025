// Where the console is: its files are at CONSOLE/assets, and the API is beside the console.
const here = import.meta.url;

/** Path of the console with a slash at its end, such as `/console/`. */
export const CONSOLE = new URL('../', here).pathname;

/** Address of the server, as the client wants it. */
export const SERVER = new URL('../../', here).href;
