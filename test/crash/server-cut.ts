// Loaded before the server's own code, into each of its threads: ends the process at a step on its way to the disk.
import { armCut, watchFileSystem } from './cut.ts';

watchFileSystem();
armCut(Number(process.env['CRASH_CUT_STEPS']));
