// TypeBox's compiler: a file of ours that loads with the first value that a thread checks, so that the build can take the
// compiler in. From the sources it is 235 modules.
export { Compile } from 'typebox/schema';
