import { breakDisk, faultIn, FAULT_VARIABLE } from './faulty-disk.ts';

/** Loaded before a program, with `--import`: breaks the disk for it as its environment says. */
const fault = process.env[FAULT_VARIABLE];
if (fault !== undefined) await breakDisk(faultIn(fault));
