// The server's door: settings out of flags, and a server that runs by them.
export { mergeInputs, printConfig, readConfigFile } from './options/config-file.js';
export { type FlagInput, serveFlags } from './options/flags.js';
export type { FlagEffect, ServeFlag } from './options/serve-flag.js';
export { type ReadSettings, readSettings, type ServeSettings } from './options/settings.js';
export { type RunningServer, type ServeOptions, serve } from './serve.js';
