// Preloaded into each of the server's threads: ends the process at a step to the disk.
import { armCut, watchFileSystem } from './cut.ts';

watchFileSystem();
armCut(Number(process.env['CRASH_CUT_STEPS']));
