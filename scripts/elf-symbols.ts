// Removes the symbol table of a program: a seventh of Node's bytes, for debuggers and native profilers alone. The symbols
// that addons link to are in a segment that is loaded, and stay.

const PROGRAM_HEADER_BYTES = 56;

/**
 * A copy of a 64-bit little-endian ELF program without what follows its segments: symbol table, its strings, and the
 * section headers, which the loader does not read. Throws for another kind of file.
 */
export function withoutSymbols(bytes: Uint8Array): Buffer {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < 64 || view.readUInt32BE(0) !== 0x7f454c46 || view[4] !== 2 || view[5] !== 1)
    throw new Error('not a 64-bit little-endian ELF file');
  const start = Number(view.readBigUInt64LE(32));
  const count = view.readUInt16LE(56);
  if (view.readUInt16LE(54) !== PROGRAM_HEADER_BYTES)
    throw new Error('the ELF file has program headers of another size');
  const ends = Array.from({ length: count }, (_, number) => {
    const at = start + number * PROGRAM_HEADER_BYTES;
    return Number(view.readBigUInt64LE(at + 8) + view.readBigUInt64LE(at + 32));
  });
  const end = Math.max(start + count * PROGRAM_HEADER_BYTES, ...ends);
  if (end > view.length) throw new Error('the ELF file is cut off');
  const program = Buffer.from(view.subarray(0, end));
  // Offset, number and names of the section headers.
  program.writeBigUInt64LE(0n, 40);
  program.writeUInt16LE(0, 60);
  program.writeUInt16LE(0, 62);
  return program;
}
