// Defaults of the DROID policy, for the socket that serves it.
export { droidPolicy } from '../../pipeline/defaults.js';
