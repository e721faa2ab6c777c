/**
 * Unit vectors as SQLite keeps them: all components as little-endian f32, or, when that takes fewer bytes, those that are not 0,
 * a bit for each dimension (padded to 4 bytes) that says which they are, and the number of dimensions in 2 bytes. Vectors
 * of the hashing embedder have few components that are not 0: 17 of 384 for a name, 190 for a passage. The number of bytes
 * tells the two apart: all components take a multiple of 4.
 */

const BYTES_OF_DIMENSIONS = 2;

const bitsLength = (dimensions: number) => 4 * Math.ceil(dimensions / 32);

/** Returns a blob of a vector of at most 65,535 dimensions; it may share the vector's memory. */
export function toBlob(vector: Float32Array): Uint8Array {
  const dimensions = vector.length;
  let kept = 0;
  for (let at = 0; at < dimensions; at++) if (vector[at] !== 0) kept++;
  const bits = 4 * kept;
  const size = bits + bitsLength(dimensions) + BYTES_OF_DIMENSIONS;
  if (size >= vector.byteLength) return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  const blob = new Uint8Array(size);
  const components = new Float32Array(blob.buffer, 0, kept);
  let next = 0;
  for (let at = 0; at < dimensions; at++) {
    const component = vector[at] as number;
    if (component === 0) continue;
    components[next++] = component;
    blob[bits + (at >> 3)] = (blob[bits + (at >> 3)] as number) | (1 << (at & 7));
  }
  blob[size - 2] = dimensions & 0xff;
  blob[size - 1] = dimensions >> 8;
  return blob;
}

/** Returns the vector of a blob that starts at a multiple of 4 bytes; it may share the blob's memory. */
export function fromBlob(blob: Uint8Array): Float32Array {
  const size = blob.byteLength;
  if (size % 4 === 0) return new Float32Array(blob.buffer, blob.byteOffset, size / 4);
  const dimensions = (blob[size - 2] as number) | ((blob[size - 1] as number) << 8);
  const bits = size - BYTES_OF_DIMENSIONS - bitsLength(dimensions);
  const components = new Float32Array(blob.buffer, blob.byteOffset, bits / 4);
  const vector = new Float32Array(dimensions);
  let next = 0;
  for (let at = 0; at < dimensions; at += 8) {
    const byte = blob[bits + (at >> 3)] as number;
    for (let bit = 0; byte >> bit !== 0; bit++) {
      if (((byte >> bit) & 1) === 1) vector[at + bit] = components[next++] as number;
    }
  }
  return vector;
}
