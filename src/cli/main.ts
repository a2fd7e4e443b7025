#!/usr/bin/env node
// The command line: one program, a file a command.
import { Command } from 'commander';
import { registerGrain } from './grain.ts';

const program = new Command('granary').description('A database server for the memory of AI agents');
registerGrain(program);
await program.parseAsync();
