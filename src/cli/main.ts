#!/usr/bin/env node
// The executable: runs the command line and leaves with its exit code.
import { run } from './run.js';

process.exitCode = await run(process.argv.slice(2));
