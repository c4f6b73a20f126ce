import { findSourceFolder } from './source-folder.ts';

/** What compiles with each contract so that the unit gate can call it. */
export function findShimFolder(): string {
  return findSourceFolder('shim', 'shim.h');
}
