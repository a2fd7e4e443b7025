#!/usr/bin/env node
// The command line's entry.
import { runProgram } from './program.ts';

process.exitCode = await runProgram(process.argv.slice(2));
