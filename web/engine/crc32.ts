/** The reversed polynomial of the CRC-32 of zip, gzip and PNG. */
const POLYNOMIAL = 0xedb88320;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1;
  return rest;
});

/** CRC-32 of bytes. (SHA-256 of the browser would do, but only pages from https or the disk have it.) */
export function crc32(bytes: Uint8Array): number {
  let rest = 0xffffffff;
  for (const byte of bytes) rest = table[(rest ^ byte) & 0xff] ^ (rest >>> 8);
  return ~rest >>> 0;
}
